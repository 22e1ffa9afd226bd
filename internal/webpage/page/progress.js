// How the task goes: every trial, the best so far, and what the node got from others.
import { get, taskPath } from './api.js';
import { html, useAnswer, useEffect, useMemo, useState } from './ui.js';
import { Plot, axis, inPlane, marks, paintMarks, stepped, wholeIncrs, valueAxis } from './plot.js';
import { ago, because, count, duration, fromPeers, integer, number, plain, value } from './format.js';
import { Designs, Front, Volume } from './front.js';
import { feasible } from './store.js';

const ranges = [['all', 'every outcome'], ['most', 'without the worst tenth'], ['log', 'logarithmic']];
const ways = [['trials', 'trials'], ['time', 'time']];
const units = [['seconds', 1000, 120], ['minutes', 60_000, 120], ['hours', 3_600_000, 48], ['days', 86_400_000, Infinity]];

// along says what stands to the right: a trial's number, or when it ended, since the first began.
function along(store, way) {
  const { done, failed, bests } = store.summary();
  if (way === 'trials') return { done, failed, bests, at: (t) => t.id, last: Math.max(5, store.trials.length) * 1.02 + 1, label: 'trial', says: '' };
  const ended = (t) => store.ends[t.id - 1];
  const last = store.ends.reduce((a, b) => Math.max(a, b ?? 0), store.begun) - store.begun || 0;
  const [unit, length] = units.find(([, length, most]) => last < most * length);
  return {
    ...store.byTime(), failed: failed.filter(ended), at: (t) => (ended(t) - store.begun) / length,
    last: (last / length || 1) * 1.03, label: `${unit} since the first trial began`, says: ` in ${number(last / length, 3)} ${unit}`,
  };
}

export function Progress({ store, contributions, go, now }) {
  const { counts, done, best, newest, peers } = store.summary();
  const several = store.objectives.length > 0;
  const [range, setRange] = useState('all');
  const [way, setWay] = useState('trials');
  const positive = useMemo(() => done.every((t) => t.outcome.value > 0), [store.version]);
  const name = store.minimize ? 'smallest' : 'largest';
  // Where outcomes are noisy the node recommends another design, which takes it as long as a suggestion.
  const { data: answer } = useAnswer((signal) => get(taskPath(store.id, several ? '/front' : '/best'), signal), [store.id, done.length, several], 5000);
  const recommended = best && answer?.recommended;
  const { data: status } = useAnswer((signal) => get(taskPath(store.id, '/status'), signal), [store.id, store.version, Math.floor(now / 20_000)], 5000);
  const of = status?.progress;

  if (store.loaded && store.trials.length === 0) {
    return html`<section class="empty"><h2>No trial yet</h2>
      <p>Each trial will be a mark here as soon as it has ended: its outcome upwards, its number to the right. A line will follow the best so far.</p>
      <p>The first trial begins when the node has waited for peers, or when a client requests one.</p></section>`;
  }
  return html`
    ${several && html`<${Front} store=${store} go=${go} /><div class="columns two"><${Designs} store=${store} go=${go} /><${Volume} store=${store} answer=${answer} go=${go} /></div>`}
    <section aria-labelledby="outcomes">
      <div class="heading">
        <h2 id="outcomes">Outcomes${several ? `: ${plain(store.objectives[0].name, 64)}` : ''}</h2>
        <div class="controls">
          <label>Over <select value=${way} onChange=${(e) => setWay(e.target.value)}>${ways.map(([id, text]) => html`<option value=${id}>${text}</option>`)}</select></label>
          <label>Show <select value=${range} onChange=${(e) => setRange(e.target.value)}>
            ${ranges.filter(([id]) => id !== 'log' || positive).map(([id, text]) => html`<option value=${id}>${text}</option>`)}
          </select></label>
        </div>
      </div>
      <${Curve} ...${{ store, best, go, way, range: range === 'log' && !positive ? 'all' : range }} />
      <ul class="legend" aria-label="Marks">
        <li><${Key} shape="circle" colour="own" /> own design</li>
        <li><${Key} shape="diamond" colour="peer" /> used peers’ shares</li>
        ${store.constraints.length > 0 && html`<li><${Key} shape="hollow" colour="own" /> <${Key} shape="hollow-diamond" colour="peer" /> violates a constraint</li>`}
        <li><${Key} shape="cross" colour="bad" /> failed</li>
        <li><${Key} shape="line" colour="text" /> best so far</li>
      </ul>
    </section>
    <div class="columns">
      ${recommended && html`<section aria-labelledby="recommended">
        <h2 id="recommended">Recommended</h2>
        <p class="figure">${typeof recommended.predicted === 'number' ? 'predicted ' + number(recommended.predicted, 5) : ''}</p>
        <p class="muted">${sentence(recommended.reason)}</p>
        <${Parameters} store=${store} of=${recommended.parameters} />
      </section>`}
      ${!several && html`<section aria-labelledby="best">
        <h2 id="best">Best so far</h2>
        ${best ? html`<p class="figure">${number(best.outcome.value, 5)}</p>
          <p class="muted">the ${name} of ${count(done.length, 'outcome')}, <a href=${go('trials', best.id)}>trial ${best.id}</a>, ${because(best.why)}</p>
          <${Parameters} store=${store} of=${best.parameters} />`
          : html`<p>${done.length > 0 ? 'No outcome keeps all constraints yet. The first that does will be here.' : 'The first outcome will be here.'}</p>`}
      </section>`}
      <section aria-labelledby="counts">
        <h2 id="counts">Trials</h2>
        <dl class="facts">
          <div><dt>done</dt><dd>${integer(counts.done)}</dd></div>
          <div><dt>running</dt><dd>${integer(counts.running)}</dd></div>
          <div><dt>waiting</dt><dd>${integer(counts.waiting)}</dd></div>
          ${counts.stopped > 0 && html`<div><dt>stopped early</dt><dd><a href=${go('trials') + '?state=stopped'}>${integer(counts.stopped)}</a></dd></div>`}
          <div><dt>failed</dt><dd>${counts.failed > 0 ? html`<a href=${go('trials') + '?state=failed'}>${integer(counts.failed)}</a>` : 0}</dd></div>
          <div><dt>with peers’ shares</dt><dd>${peers > 0 ? html`<a href=${go('trials') + '?peers=yes'}>${integer(peers)}</a>` : 0}</dd></div>
          ${of?.max_evaluations > 0 && html`<div><dt>evaluations of this run</dt><dd>${integer(of.evaluations)} of ${integer(of.max_evaluations)}</dd></div>`}
          ${of?.cost && html`<div><dt>cost</dt><dd>${number(of.cost.spent)}${of.max_cost > 0 ? ` of ${number(of.max_cost)}` : ''}</dd></div>`}
          ${of?.seconds_left > 0 && html`<div><dt>time left</dt><dd>about ${duration(of.seconds_left)}</dd></div>`}
          <div><dt>last ended</dt><dd>${newest ? ago(newest, now) : 'none yet'}</dd></div>
        </dl>
      </section>
      <section aria-labelledby="alone">
        <h2 id="alone">With and without peers</h2>
        <p>${contributions.data ? plain(contributions.data.comparison, 1000) || 'A comparison appears here after the first outcome.' : contributions.error ? 'The node did not answer.' : 'Asking the node …'}</p>
        ${contributions.data && html`<p class="muted">${sentence(contributions.data.summary)} <a href=${go('contributions')}>Peer contributions</a></p>`}
      </section>
    </div>`;
}

export const sentence = (text) => {
  const shown = plain(text, 1000);
  return shown && shown[0].toUpperCase() + shown.slice(1) + (/[.!?]$/.test(shown) ? '' : '.');
};

export function Parameters({ store, of }) {
  return html`<table class="pairs"><tbody>${store.parameters.map((p) => html`<tr key=${p.name}><th scope="row">${plain(p.name)}</th><td>${p.when && of && of[p.name] === undefined ? html`<span class="muted">inactive</span>` : value(of?.[p.name], 5)}</td></tr>`)}</tbody></table>`;
}

function Key({ shape, colour }) {
  const style = { color: `var(--${colour})` };
  return html`<svg class="key" viewBox="0 0 16 16" aria-hidden="true" style=${style}>
    ${shape === 'circle' && html`<circle cx="8" cy="8" r="4.5" fill="currentColor" />`}
    ${shape === 'hollow' && html`<circle cx="8" cy="8" r="4" fill="none" stroke="currentColor" stroke-width="1.5" />`}
    ${shape === 'diamond' && html`<path d="M8 2l6 6-6 6-6-6z" fill="currentColor" />`}
    ${shape === 'hollow-diamond' && html`<path d="M8 3l5 5-5 5-5-5z" fill="none" stroke="currentColor" stroke-width="1.5" />`}
    ${shape === 'cross' && html`<path d="M4 4l8 8M4 12l8-8" stroke="currentColor" stroke-width="1.8" />`}
    ${shape === 'line' && html`<path d="M0 11h8V5h8" fill="none" stroke="currentColor" stroke-width="2" />`}
  </svg>`;
}

function Curve({ store, best, go, way, range }) {
  const shown = useMemo(() => along(store, way), [store.version, way]);
  const { done, failed } = shown;
  const data = useMemo(() => [done.map(shown.at), done.map((t) => t.outcome.value), shown.bests], [shown]);
  const [at, setAt] = useState(null);
  // The painter lives as long as the plot, and looks at what is newest.
  const state = useMemo(() => ({}), []);
  Object.assign(state, shown, { range, minimize: store.minimize, many: store.trials.length });
  useEffect(() => setAt(null), [store.id]);
  const hover = {
    find: (plot) => nearest(plot, state), show: setAt, open: (t) => { location.hash = go('trials', t.id); },
    all: () => [...state.done, ...state.failed].sort((a, b) => state.at(a) - state.at(b)),
    position: (plot, t) => ({ left: plot.valToPos(state.at(t), 'x'), top: heightOf(plot, t) }),
  };

  const options = (theme, width) => ({
    scales: {
      x: { time: false, range: () => [0, state.last] },
      y: { distr: range === 'log' ? 3 : 1, range: (_, low, high) => limits(state, low, high) },
    },
    axes: [axis(theme, { label: shown.label, size: theme.size * 1.7, grid: { show: false }, ...(way === 'trials' ? { incrs: wholeIncrs } : {}) }), valueAxis(theme, range === 'log' ? { values: (_, all) => all.map((v) => (v === null ? '' : number(v, 3))) } : {})],
    series: [{}, { paths: () => null, points: { show: false } }, { stroke: theme.text, width: 1.5, paths: stepped, points: { show: false } }],
    hooks: {
      draw: [(plot) => paint(plot, state, theme)],
    },
  });
  const label = `${count(done.length, 'outcome')} of ${count(store.trials.length, 'trial')}${shown.says}, ${failed.length} failed.${best ? ` The best is ${number(best.outcome.value)}, of trial ${best.id}.` : ''} The table of trials has them all.`;
  return html`<div class="chart">
    <${Plot} label=${label} height=${21} options=${options} data=${data} depends=${[store.id, range, shown.label, store.minimize]}
      hover=${hover} />
    <p class="hint" aria-live="polite">${at ? html`<a href=${go('trials', at.id)}>trial ${at.id}</a>: <b>${at.state === 'failed' ? 'failed' : number(at.outcome.value, 6)}</b> · ${because(at.why)}${at.violated?.length ? ' · breaks ' + at.violated.map((b) => plain(b, 60)).join(', ') : ''}` : '\u00a0'}</p>
  </div>`;
}

// limits of the outcomes shown; failed trials stand below them.
function limits(state, low, high) {
  if (low === null || low === undefined) return [0, 1];
  if (state.range === 'log') return [low / 1.3, high * 1.1];
  if (state.range === 'most' && state.done.length > 9) {
    const sorted = Float64Array.from(state.done, (t) => t.outcome.value).sort();
    const cut = Math.floor(sorted.length / 10);
    if (state.minimize) high = sorted[sorted.length - 1 - cut];
    else low = sorted[cut];
  }
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - 1.6 * room, high + room];
}

function paint(plot, state, theme) {
  const kinds = { own: [], peer: [], ownViolated: [], peerViolated: [] };
  const ratio = devicePixelRatio || 1;
  const { top, height } = plot.bbox;
  for (const t of state.done) {
    const peer = fromPeers(t.why);
    const kind = feasible(t) ? (peer ? kinds.peer : kinds.own) : peer ? kinds.peerViolated : kinds.ownViolated;
    // What is beyond the shown range stands at its edge.
    const y = Math.min(top + height, Math.max(top, plot.valToPos(t.outcome.value, 'y', true)));
    kind.push(plot.valToPos(state.at(t), 'x', true), y);
  }
  const cross = [];
  const r = ratio * theme.size * (state.many > 2000 ? 0.1 : state.many > 300 ? 0.16 : 0.23);
  for (const t of state.failed) cross.push(plot.valToPos(state.at(t), 'x', true), top + height - r * 1.4);
  inPlane(plot, (c) => {
    c.globalAlpha = state.many > 2000 ? 0.6 : 0.85;
    paintMarks(c, marks.circle, kinds.ownViolated, r, { stroke: theme.own, width: ratio });
    paintMarks(c, marks.diamond, kinds.peerViolated, r, { stroke: theme.peer, width: ratio });
    paintMarks(c, marks.circle, kinds.own, r, { fill: theme.own });
    paintMarks(c, marks.diamond, kinds.peer, r, { fill: theme.peer });
    paintMarks(c, marks.cross, cross, r, { stroke: theme.bad, width: 1.5 * ratio });
  });
}

function nearest(plot, state) {
  const { left, top } = plot.cursor;
  if (left === undefined || left < 0) return null;
  let found = null;
  let least = 30 ** 2;
  const look = (t) => {
    const d = (plot.valToPos(state.at(t), 'x') - left) ** 2 + (heightOf(plot, t) - top) ** 2;
    if (d < least) {
      least = d;
      found = t;
    }
  };
  const from = plot.posToVal(left - 30, 'x');
  const to = plot.posToVal(left + 30, 'x');
  const near = (t) => state.at(t) >= from && state.at(t) <= to;
  for (const t of state.done) if (near(t)) look(t);
  for (const t of state.failed) if (near(t)) look(t);
  return found;
}

// heightOf is where the mark of a trial is, in pixels from the top of the plane.
function heightOf(plot, t) {
  const over = plot.over.clientHeight;
  return t.state === 'failed' ? over - 5 : Math.min(over, Math.max(0, plot.valToPos(t.outcome.value, 'y')));
}
