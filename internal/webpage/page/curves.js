// Values by step: a line for each trial, and the values of one trial.
import { html, useMemo, useSlow, useState } from './ui.js';
import { Plot, axis, inPlane, marks, paintMarks, valueAxis, wholeIncrs } from './plot.js';
import { count, integer, number, plain } from './format.js';
import { Detail } from './trials.js';

// More lines or points than these cover each other; then the newest lines, and every so manieth point.
const mostLines = 1500;
const mostPoints = 150_000;

const ranges = [['all', 'every value'], ['most', 'without the worst tenth'], ['log', 'logarithmic']];

// stepsOf has the values by step that can be drawn.
export const stepsOf = (trial) => (trial?.steps ?? []).filter((s) => Number.isSafeInteger(s?.step) && Number.isFinite(s.value));

// stopText says which rule stopped a trial, and why.
export const stopText = (stop) => (stop ? `${plain(stop.rule, 40)} at step ${integer(stop.step)}${stop.reason ? ': ' + plain(stop.reason, 300) : ''}` : '');

// reading says where a trial stands: its outcome, or its last value by step.
const reading = (item) => {
  const { trial, last } = item;
  const value = `${number(last.value, 5)} at step ${integer(last.step)}`;
  if (trial.state === 'done') return html`<b>${number(trial.outcome?.value, 6)}</b>, ${value}`;
  return html`<b>${plain(trial.state, 20)}</b>, ${value}`;
};

export function Curves({ store, go, chosen }) {
  const [range, setRange] = useState('all');
  const version = useSlow(store.version, 1000);
  const items = useMemo(() => itemsOf(store), [version, store.id]);
  const positive = useMemo(() => items.every(({ steps }) => steps.every((s) => s.value > 0)), [items]);
  const of = (state) => items.filter((item) => item.trial.state === state).length;
  return html`
    <section aria-labelledby="curves">
      <div class="heading"><h2 id="curves">Values by step</h2>
        <div class="controls"><label>Show <select value=${range} onChange=${(e) => setRange(e.target.value)}>
          ${ranges.filter(([id]) => id !== 'log' || positive).map(([id, text]) => html`<option value=${id}>${text}</option>`)}</select></label></div></div>
      ${items.length === 0 ? html`<p class="muted">${store.loaded ? 'No trial has reported values by step.' : 'Reading …'}</p>` : html`
      <${Lines} store=${store} items=${items} range=${range === 'log' && !positive ? 'all' : range} go=${go} chosen=${chosen} />
      <ul class="legend" aria-label="Lines">
        <li><${LineKey} colour="own" width="1.2" pale /> done</li>
        <li><${LineKey} colour="muted" width="1.2" mark="square" /> stopped early</li>
        <li><${LineKey} colour="bad" width="1.2" mark="cross" /> failed</li>
        <li><${LineKey} colour="own" width="2.5" mark="circle" /> running</li>
        <li><${LineKey} colour="text" width="3" /> best trial</li>
        ${chosen > 0 && html`<li><${LineKey} colour="peer" width="3" /> trial ${chosen}</li>`}
      </ul>
      <p class="muted">${count(of('stopped'), 'evaluation was', 'evaluations were')} stopped early, ${count(of('running'), 'is', 'are')} running. The <a href=${go('trials')}>table of trials</a> has the last value of each.${items.length > mostLines ? ` The plot has the newest ${integer(mostLines)} of ${count(items.length, 'trial')}, with the best and the running ones.` : ''}</p>`}
    </section>
    ${chosen > 0 && html`<${Detail} key=${chosen} store=${store} id=${chosen} trial=${store.trials[chosen - 1]} close=${go('curves')} go=${go} />`}`;
}

function itemsOf(store) {
  const items = [];
  for (const trial of store.trials) {
    if (!trial?.steps?.length) continue;
    const steps = stepsOf(trial);
    if (steps.length > 0) items.push({ trial, steps, last: steps.at(-1) });
  }
  return items;
}

function LineKey({ colour, width, mark, pale }) {
  const style = { color: `var(--${colour})` };
  return html`<svg class="key wide" viewBox="0 0 32 16" aria-hidden="true" style=${style}>
    <path d="M1 4q8 8 ${mark ? 20 : 30} 8" fill="none" stroke="currentColor" stroke-width=${width} opacity=${pale ? 0.6 : 1} />
    ${mark === 'square' && html`<rect x="18" y="8" width="8" height="8" fill="currentColor" />`}
    ${mark === 'cross' && html`<path d="M18 8l8 8M18 16l8-8" stroke="currentColor" stroke-width="1.8" />`}
    ${mark === 'circle' && html`<circle cx="23" cy="12" r="3.2" fill="var(--surface)" stroke="currentColor" stroke-width="1.8" />`}
  </svg>`;
}

function Lines({ store, items, range, go, chosen }) {
  const [at, setAt] = useState(null);
  const { best } = store.summary();
  // The painter lives as long as the plot, and looks at what is newest.
  const state = useMemo(() => ({}), []);
  Object.assign(state, { items, range, minimize: store.minimize, best: best?.id, chosen, at: at?.trial.id });
  const { data, first, last } = useMemo(() => boundsOf(items), [items]);
  const drawn = useMemo(() => [data[0], data[1]], [data, at, chosen, best?.id]);
  Object.assign(state, { first, last });
  const options = (theme) => ({
    scales: {
      x: { time: false, range: () => { const room = 0.02 * (state.last - state.first || 1); return [state.first - room, state.last + room]; } },
      y: { distr: range === 'log' ? 3 : 1, range: (_, low, high) => limits(state, low, high) },
    },
    axes: [axis(theme, { label: 'step', size: theme.size * 1.7, incrs: wholeIncrs, grid: { show: false } }), valueAxis(theme, range === 'log' ? { values: (_, all) => all.map((v) => (v === null ? '' : number(v, 3))) } : {})],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => paint(plot, state, theme)] },
  });
  const find = (id) => state.items.find((item) => item.trial.id === id) ?? null;
  const hover = {
    find: (plot) => nearest(plot, state), show: (item) => setAt(item), open: (item) => { location.hash = go('curves', item.trial.id); },
    all: () => state.items,
    position: (plot, item) => ({ left: plot.valToPos(item.last.step, 'x'), top: plot.valToPos(item.last.value, 'y') }),
  };
  const shown = at && (find(at.trial.id) ?? at);
  const top = best && find(best.id);
  const label = `Values by step of ${count(items.length, 'trial')}, from step ${integer(first)} to ${integer(last)}.${top ? ` The best is trial ${best.id}, with ${number(top.last.value)} at step ${integer(top.last.step)}.` : ''} The table of trials has the last value of each.`;
  return html`<div class="chart">
    <${Plot} label=${label} height=${21} options=${options} data=${drawn} depends=${[store.id, range, store.minimize]} hover=${hover} />
    <p class="hint" aria-live="polite">${shown ? html`<a href=${go('curves', shown.trial.id)}>trial ${shown.trial.id}</a>: ${reading(shown)}${shown.trial.stop ? ' · ' + stopText(shown.trial.stop) : ''}` : '\u00a0'}</p>
  </div>`;
}

function boundsOf(items) {
  let first = Infinity, last = -Infinity, low = Infinity, high = -Infinity;
  for (const { steps } of items) {
    first = Math.min(first, steps[0].step);
    last = Math.max(last, steps.at(-1).step);
    for (const { value } of steps) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return { data: [[first, last], [low, high]], first, last };
}

// limits of the values shown; what is beyond them is cut off.
function limits(state, low, high) {
  if (low === null || low === undefined) return [0, 1];
  if (state.range === 'log') return [low / 1.2, high * 1.1];
  if (state.range === 'most') {
    const all = Float64Array.from(state.items.flatMap(({ steps }) => steps.map((s) => s.value))).sort();
    const cut = Math.floor(all.length / 10);
    if (state.minimize) high = all[all.length - 1 - cut];
    else low = all[cut];
  }
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - room, high + room];
}

const special = (state) => ({ trial }) => trial.state === 'running' || trial.id === state.best || trial.id === state.chosen || trial.id === state.at;

// drawnOf has the lines that are drawn: the newest, and those that stand out.
function drawnOf(state) {
  const { items } = state;
  if (items.length <= mostLines) return items;
  const kept = items.slice(-mostLines);
  return [...items.slice(0, -mostLines).filter(special(state)), ...kept];
}

function paint(plot, state, theme) {
  const ratio = devicePixelRatio || 1;
  const items = drawnOf(state);
  const most = Math.max(8, Math.floor(mostPoints / items.length));
  const x = (s) => plot.valToPos(s.step, 'x', true);
  const y = (s) => plot.valToPos(s.value, 'y', true);
  const r = 0.22 * theme.size * ratio;
  const crowded = items.length > 100;
  inPlane(plot, (c) => {
    const lines = (of, colour, width, alpha) => {
      c.globalAlpha = alpha;
      c.strokeStyle = colour;
      c.lineWidth = width * ratio;
      c.beginPath();
      for (const { steps } of of) {
        const stride = Math.ceil(steps.length / most);
        c.moveTo(x(steps[0]), y(steps[0]));
        if (steps.length === 1) c.lineTo(x(steps[0]) + ratio, y(steps[0])); // a point
        for (let i = stride; i < steps.length + stride - 1; i += stride) {
          const s = steps[Math.min(i, steps.length - 1)];
          c.lineTo(x(s), y(s));
        }
      }
      c.stroke();
    };
    const ends = (of) => of.flatMap(({ last }) => [x(last), y(last)]);
    const rest = items.filter((item) => !special(state)(item));
    const by = (all, name) => all.filter(({ trial }) => trial.state === name);
    const alpha = crowded ? 0.35 : 0.6;
    lines(by(rest, 'stopped'), theme.muted, 1, alpha);
    lines(by(rest, 'failed'), theme.bad, 1, alpha);
    lines(by(rest, 'done'), theme.own, 1, alpha);
    lines(rest.filter(({ trial }) => !['stopped', 'failed', 'done'].includes(trial.state)), theme.own, 1, alpha);
    const running = by(items, 'running');
    lines(running, theme.own, 2, 1);
    lines(items.filter(({ trial }) => trial.id === state.best), theme.text, 2.5, 1);
    lines(items.filter(({ trial }) => trial.id === state.chosen || trial.id === state.at), theme.peer, 2.5, 1);
    c.globalAlpha = crowded ? 0.7 : 1;
    paintMarks(c, marks.square, ends(by(items, 'stopped')), crowded ? 0.6 * r : 0.8 * r, { fill: theme.muted });
    paintMarks(c, marks.cross, ends(by(items, 'failed')), r, { stroke: theme.bad, width: 1.5 * ratio });
    c.globalAlpha = 1;
    paintMarks(c, marks.circle, ends(running), r, { fill: theme.surface, stroke: theme.own, width: 1.8 * ratio });
  });
}

// nearest returns the trial whose line is nearest to the cursor, at the step before or after it.
function nearest(plot, state) {
  const { left, top } = plot.cursor;
  if (left === undefined || left < 0) return null;
  const step = plot.posToVal(left, 'x');
  let found = null;
  let least = 30 ** 2;
  for (const item of drawnOf(state)) {
    const { steps } = item;
    let low = 0, high = steps.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle].step < step) low = middle + 1;
      else high = middle;
    }
    for (const s of [steps[Math.max(0, low - 1)], steps[low]]) {
      const d = (plot.valToPos(s.step, 'x') - left) ** 2 + (plot.valToPos(s.value, 'y') - top) ** 2;
      if (d < least) {
        least = d;
        found = item;
      }
    }
  }
  return found;
}

// One shows the values by step of one trial, as a plot and as a table.
export function One({ trial }) {
  const steps = useMemo(() => stepsOf(trial), [trial]);
  const data = useMemo(() => [steps.map((s) => s.step), steps.map((s) => s.value)], [steps]);
  if (steps.length === 0) return null;
  const last = steps.at(-1);
  const options = (theme) => ({
    scales: {
      x: { time: false, range: (_, low, high) => { const room = 0.03 * (high - low || 1); return [low - room, high + room]; } },
      y: { range: (_, low, high) => { const room = (high - low || Math.abs(high) || 1) * 0.08; return [low - room, high + room]; } },
    },
    axes: [axis(theme, { label: 'step', size: theme.size * 1.7, incrs: wholeIncrs, grid: { show: false } }), valueAxis(theme)],
    series: [{}, { stroke: theme.own, width: 2, points: { show: steps.length < 40, size: 5, fill: theme.own } }],
  });
  return html`<h4>Values by step</h4>
    <${Plot} label=${`Trial ${trial.id}: ${count(steps.length, 'value')} from step ${integer(steps[0].step)} to ${integer(last.step)}, the last ${number(last.value)}. The table below has the same.`} height=${13} options=${options} data=${data} depends=${[trial.id]} />
    <details><summary>Values in numbers</summary><div class="scroll output" tabindex="0" role="region" aria-label=${`Values by step of trial ${trial.id}`}>
      <table class="list"><thead><tr><th scope="col" class="n">step</th><th scope="col" class="n">value</th></tr></thead>
      <tbody>${steps.map((s) => html`<tr key=${s.step}><td class="n">${integer(s.step)}</td><td class="n">${number(s.value, 8)}</td></tr>`)}</tbody></table></div></details>`;
}
