// Sites of one task side by side: this node, other nodes of the user from their exported trials, and
// peers with what their shares disclose.
import { html, useMemo, useRef, useState } from './ui.js';
import { Plot, axis, inPlane, marks, paintMarks, stepped, valueAxis, wholeIncrs } from './plot.js';
import { ago, count, integer, number, percent, plain, single, value } from './format.js';
import { feasible } from './store.js';

const mostFiles = 12;
const mostTrials = 100_000;
const mostBytes = 64e6;
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

// curveOf returns the best value after each evaluation with an outcome, in the order of their ends.
export function curveOf(trials, minimize) {
  const done = trials.filter((t) => t?.state === 'done' && typeof t.outcome?.value === 'number')
    .sort((a, b) => (Date.parse(a.finished) || 0) - (Date.parse(b.finished) || 0) || a.id - b.id);
  let best = null;
  const bests = done.map((t) => {
    if (feasible(t) && (!best || (minimize ? t.outcome.value < best.outcome.value : t.outcome.value > best.outcome.value))) best = t;
    return best ? best.outcome.value : null;
  });
  return { bests, best };
}

// readExport reads the JSON that a node exports, of the same task.
export function readExport(text, id) {
  const data = JSON.parse(text);
  if (data?.id !== id) throw new Error('the file is about another task; expected one with the ID ' + plain(id, 120));
  if (!Array.isArray(data.trials) || data.trials.length > mostTrials) throw new Error(`expected at most ${integer(mostTrials)} trials`);
  return data.trials.filter((t) => t && typeof t === 'object' && Number.isSafeInteger(t.id));
}

export function Sites({ store, contributions, now }) {
  const [files, setFiles] = useState([]);
  const [errors, setErrors] = useState([]);
  const field = useRef(null);
  const open = async () => {
    const wrong = [];
    for (const file of [...field.current.files]) {
      try {
        if (file.size > mostBytes) throw new Error('expected at most 64 MB');
        const trials = readExport(await file.text(), store.task.id);
        setFiles((all) => [...all.filter((f) => f.name !== file.name), { name: file.name, trials }].slice(-mostFiles));
      } catch (error) {
        wrong.push(`${plain(file.name, 80)}: ${plain(error.message, 300)}`);
      }
    }
    setErrors(wrong);
    field.current.value = '';
  };
  const own = useMemo(() => [
    { name: 'this node', ...curveOf(store.trials, store.minimize) },
    ...files.map((f) => ({ name: f.name, file: true, ...curveOf(f.trials, store.minimize) })),
  ], [store.version, store.minimize, files]);
  const peers = contributions.data?.peers ?? [];
  return html`
    <section aria-labelledby="sites"><h2 id="sites">Sites of this task</h2>
      <p class="muted">Lines are the best value so far of your own nodes. Peers disclose no values: a triangle marks the number of results that a peer reports. Each site has an objective of its own, so that levels may differ.</p>
      <${Curves} store=${store} own=${own} peers=${peers} />
      <ul class="legend" aria-label="Lines">${own.map((s, i) => html`<li key=${s.name}><svg class="key wide" viewBox="0 0 32 16" aria-hidden="true"><line x1="0" y1="8" x2="32" y2="8" stroke=${`var(--${colourOf(i)})`} stroke-width="2.5" stroke-dasharray=${dashes[i % dashes.length].join(' ')} /></svg> ${plain(s.name, 60)}</li>`)}
        <li><svg class="key" viewBox="0 0 16 16" aria-hidden="true"><path d="M8 3l6 10H2z" fill="var(--peer)" /></svg> results of a peer</li></ul>
    </section>
    <section aria-labelledby="side"><h2 id="side">Side by side</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="side"><table class="list">
        <thead><tr><th scope="col">site</th><th scope="col">from</th><th scope="col" class="n">results</th><th scope="col" class="n">best</th><th scope="col">location of the best</th><th scope="col">similar to this node</th><th scope="col">last received</th></tr></thead>
        <tbody>${own.map((s) => html`<tr key=${'o' + s.name}><th scope="row">${plain(s.name, 60)}</th><td>${s.file ? 'its exported trials' : 'this node'}</td><td class="n">${integer(s.bests.length)}</td><td class="n">${s.best ? number(s.best.outcome.value, 5) : '–'}</td>
            <td>${s.best ? design(store, s.best.parameters) : '–'}</td><td>–</td><td>${s.file ? '–' : 'now'}</td></tr>`)}
          ${peers.map((p) => html`<tr key=${p.id}><th scope="row"><span class="mono cut" title=${plain(p.id, 120)}>${plain(p.name, 24)}</span></th><td>its shares</td><td class="n">${Number.isSafeInteger(p.observations) ? `${integer(p.observations)} (as reported)` : 'not disclosed'}</td><td class="n">not disclosed</td>
            <td>${p.location ? html`${design(store, p.location.parameters)}<span class="muted small">its estimate, ± ${percent(p.location.spread ?? 0)} of each range</span>` : 'not disclosed'}</td>
            <td>${typeof p.weight === 'number' ? html`${percent(p.weight)} (estimated)<span class="muted small">${plain(p.explanation ?? '', 200)}</span>` : 'not estimated'}</td>
            <td class="together">${p.last_share ? ago(Date.parse(p.last_share), now) : 'never'}</td></tr>`)}</tbody></table></div>
      ${!contributions.data && html`<p class="muted">${contributions.error ? 'Error from the node: ' + plain(contributions.error.message) : 'Asking the node …'}</p>`}
      <h3>Add another node of yours</h3>
      <p class="muted">Select its trials as JSON, from <em>JSON</em> in its view of trials or <code>fbo-node export</code>. The file stays in this tab: it is sent nowhere.</p>
      <p><label>Files <input type="file" multiple accept=".json,application/json" ref=${field} onChange=${open} /></label>${files.length > 0 && html` <button type="button" onClick=${() => setFiles([])}>Remove ${count(files.length, 'file')}</button>`}</p>
      ${errors.map((e) => html`<p class="warning" role="alert" key=${e}>${e}</p>`)}
    </section>`;
}

const design = (store, of) => store.parameters.filter((p) => !single(p) && of?.[p.name] !== undefined).map((p) => `${plain(p.name, 40)} ${value(of?.[p.name], 3)}`).join(', ');
const colourOf = (i) => ['own', 'good', 'text', 'bad'][i % 4];

function Curves({ store, own, peers }) {
  const [at, setAt] = useState(null);
  const shown = peers.filter((p) => p.observations > 0 && Number.isSafeInteger(p.observations));
  const longest = Math.max(...own.map((s) => s.bests.length), 1);
  // A peer may report any number; the plot ends where curves of own nodes and most peers do.
  const last = Math.max(5, longest, ...shown.map((p) => Math.min(p.observations, 4 * longest + 20)));
  const state = useMemo(() => ({}), []);
  Object.assign(state, { own, last, items: [
    ...own.flatMap((s) => s.bests.map((best, i) => ({ name: s.name, n: i + 1, best })).filter((item) => item.best !== null)),
    ...shown.map((p) => ({ name: p.name, n: p.observations, peer: true })),
  ] });
  const data = useMemo(() => [[...Array(longest)].map((_, i) => i + 1), ...own.map((s) => [...Array(longest)].map((_, i) => s.bests[i] ?? null))], [own, longest]);
  const options = (theme) => ({
    scales: {
      x: { time: false, range: () => [0, state.last * 1.02 + 0.5] },
      y: { range: (_, low, high) => { if (low === null || low === undefined) return [0, 1]; const room = (high - low || Math.abs(high) || 1) * 0.08; return [low - 2 * room, high + room]; } },
    },
    axes: [axis(theme, { label: 'evaluations', size: theme.size * 1.7, incrs: wholeIncrs, grid: { show: false } }), valueAxis(theme)],
    series: [{}, ...own.map((_, i) => ({ stroke: theme[colourOf(i)], width: 2, dash: dashes[i % dashes.length], paths: stepped, points: { show: longest === 1 } }))],
    hooks: { draw: [(plot) => {
      const points = state.items.filter((item) => item.peer).flatMap((item) => [plot.valToPos(Math.min(item.n, state.last), 'x', true), plot.bbox.top + plot.bbox.height - theme.size * 0.7 * devicePixelRatio]);
      inPlane(plot, (c) => paintMarks(c, marks.triangle, points, 0.32 * theme.size * devicePixelRatio, { fill: theme.peer }));
    }] },
  });
  const position = (plot, item) => ({ left: plot.valToPos(Math.min(item.n, state.last), 'x'), top: item.peer ? plot.over.clientHeight - 11 : plot.valToPos(item.best, 'y') });
  const hover = {
    show: setAt, open: () => {}, position, all: () => state.items,
    find: (plot) => {
      const { left, top } = plot.cursor;
      if (left === undefined || left < 0) return null;
      let least = 40 ** 2;
      return state.items.reduce((found, item) => {
        const p = position(plot, item);
        const d = (p.left - left) ** 2 + (p.top - top) ** 2;
        if (d >= least) return found;
        least = d;
        return item;
      }, null);
    },
  };
  const label = `The best so far over evaluations of ${count(own.length, 'own node')}: ${own.map((s) => `${plain(s.name, 40)} ${s.best ? number(s.best.outcome.value) : 'no value'} after ${s.bests.length}`).join(', ')}. ${count(shown.length, 'peer')} ${shown.length === 1 ? 'reports' : 'report'} a number of results. The table has the same.`;
  return html`<div class="chart"><${Plot} label=${label} height=${18} options=${options} data=${data} depends=${[store.id, own.length]} hover=${hover} />
    <p class="hint" aria-live="polite">${at ? html`${plain(at.name, 60)}: ${at.peer ? `${count(at.n, 'result')}, as reported; values are not disclosed` : html`<b>${number(at.best, 6)}</b> after ${count(at.n, 'evaluation')}`}` : '\u00a0'}</p></div>`;
}
