// The Pareto front of a task with several objectives: a chart of two of them, its designs, its hypervolume.
import { html, useEffect, useMemo, useState } from './ui.js';
import { Plot, axis, inPlane, marks, paintMarks, stepped, wholeIncrs, valueAxis } from './plot.js';
import { because, count, fromPeers, number, plain } from './format.js';
import { better, feasible } from './store.js';

const mostRows = 30; // designs of the front in the list
const ranges = [['all', 'every outcome'], ['front', 'around the front']];

// scoresText returns the objectives of a trial with their values.
export const scoresText = (store, trial, digits = 5) => store.objectives.map((o, i) => `${plain(o.name, 64)} ${number(store.score(trial, i), digits)}`).join(', ');

const wanted = (o) => `${plain(o.name, 64)}, ${o.goal === 'maximize' ? 'larger' : 'smaller'} is better`;

export function Front({ store, go }) {
  const [axes, setAxes] = useState([0, 1]);
  const [range, setRange] = useState('all');
  const { objectives } = store;
  const choose = (k, i) => setAxes((now) => (now[1 - k] === i ? [now[1], now[0]] : now.map((old, j) => (j === k ? i : old))));
  const chooser = (k, label) => html`<label>${label} <select value=${axes[k]} onChange=${(e) => choose(k, Number(e.target.value))}>${objectives.map((o, i) => html`<option key=${i} value=${i}>${plain(o.name, 64)}</option>`)}</select></label>`;
  return html`<section aria-labelledby="front">
    <div class="heading"><h2 id="front">Pareto front</h2>
      <div class="controls">
        ${objectives.length > 2 && html`${chooser(0, 'Across')}${chooser(1, 'Up')}`}
        <label>Show <select value=${range} onChange=${(e) => setRange(e.target.value)}>${ranges.map(([id, text]) => html`<option value=${id}>${text}</option>`)}</select></label>
      </div></div>
    <${Chart} ...${{ store, go, axes, range }} />
    <ul class="legend" aria-label="Marks">
      <li><${Key} shape="circle" colour="own" /> <${Key} shape="diamond" colour="peer" /> on the front: own design, used peers’ shares</li>
      <li><${Key} shape="circle" colour="own" pale /> <${Key} shape="diamond" colour="peer" pale /> dominated</li>
      ${store.constraints.length > 0 && html`<li><${Key} shape="hollow" colour="bad" /> violates a constraint</li>`}
      <li><${Key} shape="line" colour="text" /> ${objectives.length > 2 ? 'front of these two objectives alone' : 'front'}</li>
    </ul>
  </section>`;
}

function Key({ shape, colour, pale }) {
  return html`<svg class="key" viewBox="0 0 16 16" aria-hidden="true" style=${{ color: `var(--${colour})`, opacity: pale ? 0.4 : 1 }}>
    ${shape === 'circle' && html`<circle cx="8" cy="8" r="4.5" fill="currentColor" />`}
    ${shape === 'hollow' && html`<circle cx="8" cy="8" r="4" fill="none" stroke="currentColor" stroke-width="1.5" />`}
    ${shape === 'diamond' && html`<path d="M8 2l6 6-6 6-6-6z" fill="currentColor" />`}
    ${shape === 'line' && html`<path d="M2 3v5h6v5h6" fill="none" stroke="currentColor" stroke-width="2" />`}
  </svg>`;
}

function Chart({ store, go, axes, range }) {
  const [at, setAt] = useState(null);
  const { done, front, onFront } = store.summary();
  const [x, y] = axes;
  const measured = useMemo(() => done.filter((t) => store.score(t, x) !== null && store.score(t, y) !== null), [store.version, x, y]);
  const data = useMemo(() => [extent(measured, (t) => store.score(t, x)), extent(measured, (t) => store.score(t, y))], [measured]);
  // The painter lives as long as the plot, and looks at what is newest.
  const state = useMemo(() => ({}), []);
  Object.assign(state, { store, measured, front, onFront, x, y, line: useMemo(() => lineOf(store, front, x, y), [store.version, x, y]) });
  useEffect(() => setAt(null), [store.id, x, y]);
  const place = (plot, t) => ({ left: within(plot.valToPos(store.score(t, x), 'x'), plot.over.clientWidth), top: within(plot.valToPos(store.score(t, y), 'y'), plot.over.clientHeight) });
  const hover = {
    find: (plot) => nearest(plot, state, place), show: setAt, open: (t) => { location.hash = go('trials', t.id); },
    all: () => [...state.measured].sort((a, b) => store.score(a, x) - store.score(b, x)), position: place,
  };
  const limits = (k) => (_, low, high) => {
    const of = range === 'front' && state.front.length > 1 ? extent(state.front, (t) => store.score(t, state[k])) : [low, high];
    if (of[0] === null || of[0] === undefined) return [0, 1];
    const room = (of[1] - of[0] || Math.abs(of[1]) || 1) * (range === 'front' ? 0.25 : 0.06);
    return [of[0] - room, of[1] + room];
  };
  const [across, up] = axes.map((k) => store.objectives[k]);
  const options = (theme) => ({
    scales: { x: { time: false, range: (plot) => limits('x')(plot, ...extent(state.measured, (t) => store.score(t, state.x))) }, y: { range: limits('y') } },
    axes: [axis(theme, { label: wanted(across), size: theme.size * 1.7, grid: { show: false } }), valueAxis(theme, { label: wanted(up) })],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => paint(plot, state, theme)] },
  });
  const label = `${count(done.length, 'outcome')} by ${plain(across.name, 64)} and ${plain(up.name, 64)}. ${count(front.length, 'design is', 'designs are')} on the Pareto front. The list below has the front.`;
  return html`<div class="chart">
    <${Plot} label=${label} height=${21} options=${options} data=${data} depends=${[store.id, x, y, range]} hover=${hover} />
    <p class="hint" aria-live="polite">${at ? html`<a href=${go('trials', at.id)}>trial ${at.id}</a>: <b>${scoresText(store, at)}</b> · ${onFront.has(at.id) ? 'on the front' : feasible(at) ? 'dominated' : 'breaks ' + at.violated.map((b) => plain(b, 60)).join(', ')} · ${because(at.why)}` : '\u00a0'}</p>
  </div>`;
}

const within = (v, most) => Math.min(most, Math.max(0, v));

function extent(trials, of) {
  let low = null, high = null;
  for (const t of trials) {
    const v = of(t);
    if (low === null || v < low) low = v;
    if (high === null || v > high) high = v;
  }
  return [low, high];
}

// lineOf has the trials of the front that no other one dominates in two objectives, from the best in the
// first of these to the best in the second.
function lineOf(store, front, x, y) {
  const goal = (k) => store.objectives[k].goal;
  const by = (a, b, k) => (better(goal(k), store.score(a, k), store.score(b, k)) ? -1 : better(goal(k), store.score(b, k), store.score(a, k)) ? 1 : 0);
  const line = [];
  for (const t of [...front].sort((a, b) => by(a, b, x) || by(a, b, y))) {
    if (line.length === 0 || by(t, line.at(-1), y) < 0) line.push(t);
  }
  return line;
}

function paint(plot, state, theme) {
  const { store, measured, onFront, line, x, y } = state;
  const ratio = devicePixelRatio || 1;
  const { left, top, width, height } = plot.bbox;
  const px = (t) => left + within(plot.valToPos(store.score(t, x), 'x', true) - left, width);
  const py = (t) => top + within(plot.valToPos(store.score(t, y), 'y', true) - top, height);
  const kinds = { own: [], peer: [], ownFront: [], peerFront: [], violated: [] };
  for (const t of measured) {
    const kind = !feasible(t) ? 'violated' : (fromPeers(t.why) ? 'peer' : 'own') + (onFront.has(t.id) ? 'Front' : '');
    kinds[kind].push(px(t), py(t));
  }
  const r = ratio * theme.size * (measured.length > 2000 ? 0.12 : measured.length > 300 ? 0.17 : 0.23);
  inPlane(plot, (c) => {
    if (line.length > 0) {
      const worst = (k, low, high) => (store.objectives[k].goal === 'maximize' ? low : high);
      c.strokeStyle = theme.text;
      c.lineWidth = 1.5 * ratio;
      c.beginPath();
      c.moveTo(px(line[0]), worst(y, top + height, top)); // upwards is larger
      for (let i = 0; i < line.length; i++) {
        if (i > 0) c.lineTo(px(line[i]), py(line[i - 1])); // the worse of both
        c.lineTo(px(line[i]), py(line[i]));
      }
      c.lineTo(worst(x, left, left + width), py(line.at(-1)));
      c.stroke();
    }
    c.globalAlpha = 0.35;
    paintMarks(c, marks.circle, kinds.own, r, { fill: theme.own });
    paintMarks(c, marks.diamond, kinds.peer, r, { fill: theme.peer });
    c.globalAlpha = 0.8;
    paintMarks(c, marks.circle, kinds.violated, r, { stroke: theme.bad, width: ratio });
    c.globalAlpha = 1;
    paintMarks(c, marks.circle, kinds.ownFront, 1.25 * r, { fill: theme.own, stroke: theme.surface, width: ratio });
    paintMarks(c, marks.diamond, kinds.peerFront, 1.25 * r, { fill: theme.peer, stroke: theme.surface, width: ratio });
  });
}

function nearest(plot, state, place) {
  const { left, top } = plot.cursor;
  if (left === undefined || left < 0) return null;
  let found = null;
  let least = 30 ** 2;
  for (const t of state.measured) {
    const at = place(plot, t);
    const d = (at.left - left) ** 2 + (at.top - top) ** 2 - (state.onFront.has(t.id) ? 16 : 0); // marks of the front are on top
    if (d < least) {
      least = d;
      found = t;
    }
  }
  return found;
}

// Designs lists the front, the best in the first objective first.
export function Designs({ store, go }) {
  const { front, done } = store.summary();
  return html`<section aria-labelledby="designs">
    <h2 id="designs">Pareto front: ${count(front.length, 'design')}</h2>
    ${front.length === 0 ? html`<p>${done.length > 0 ? 'No outcome keeps all constraints yet. Those that no other dominates will be here.' : 'The outcomes that no other dominates will be here.'}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-labelledby="designs"><table class="list"><thead><tr><th scope="col" class="n">trial</th>${store.objectives.map((o) => html`<th key=${o.name} scope="col" class="n">${plain(o.name, 64)}</th>`)}</tr></thead>
      <tbody>${front.slice(0, mostRows).map((t) => html`<tr key=${t.id}><th scope="row" class="n"><a href=${go('trials', t.id)}>${t.id}</a></th>${store.objectives.map((o, i) => html`<td key=${o.name} class="n">${number(store.score(t, i), 5)}</td>`)}</tr>`)}</tbody></table></div>
    ${front.length > mostRows && html`<p class="muted">The first ${mostRows}. The <a href=${go('trials') + '?state=front'}>table of trials</a> has all.</p>`}`}
  </section>`;
}

// Volume shows how the hypervolume grew, as the node answers.
export function Volume({ store, answer, go }) {
  const [at, setAt] = useState(null);
  const history = answer?.history ?? [];
  const last = Math.max(5, store.trials.length);
  const data = useMemo(() => [[0, ...history.map((h) => h.trial), last], [0, ...history.map((h) => h.hypervolume), history.at(-1)?.hypervolume ?? 0]], [answer, last]);
  if (typeof answer?.hypervolume !== 'number') {
    return html`<section aria-labelledby="volume"><h2 id="volume">Hypervolume</h2><p class="muted">${answer ? 'The task states no reference for some objective. With a reference for each, the growth of the hypervolume will be here.' : 'Asking the node …'}</p></section>`;
  }
  const options = (theme) => ({
    scales: { x: { time: false, range: (_, low, high) => [0, high * 1.02 + 1] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.06 : 1] } },
    axes: [axis(theme, { label: 'trial', size: theme.size * 1.7, incrs: wholeIncrs, grid: { show: false } }), valueAxis(theme)],
    series: [{}, { stroke: theme.own, width: 2, paths: stepped, points: { show: false } }],
  });
  const hover = {
    find: (plot) => (plot.cursor.left >= 0 ? history.findLast((h) => h.trial <= plot.posToVal(plot.cursor.left, 'x')) ?? null : null),
    show: setAt, open: (h) => { location.hash = go('trials', h.trial); }, all: () => history,
    position: (plot, h) => ({ left: plot.valToPos(h.trial, 'x'), top: plot.valToPos(h.hypervolume, 'y') }),
  };
  return html`<section aria-labelledby="volume"><h2 id="volume">Hypervolume</h2>
    <p class="figure">${number(answer.hypervolume, 5)}</p>
    <${Plot} label=${`Hypervolume over ${count(store.trials.length, 'trial')}: it grew with ${count(history.length, 'trial')}, to ${number(answer.hypervolume)}.`} height=${13} options=${options} data=${data} depends=${[store.id]} hover=${hover} />
    <p class="hint" aria-live="polite">${at ? html`<a href=${go('trials', at.trial)}>trial ${at.trial}</a>: ${number(at.hypervolume, 6)}` : '\u00a0'}</p>
    <p class="muted">Above the references ${store.objectives.map((o) => `${plain(o.name, 64)} ${number(o.reference)}`).join(', ')}. Larger is better.</p></section>`;
}
