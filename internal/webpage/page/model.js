// What the model holds: along each parameter, over two of them, and which of them matter.
import { get, taskPath } from './api.js';
import { Plot, Scale, axis, between, inPlane, marks, paintMarks, placing, ramp, rampAt, valueAxis, wholeIncrs } from './plot.js';
import { html, useAnswer, useMemo, useRef, useState, useTheme } from './ui.js';
import { count, fromPeers, integer, number, percent, plain, single, value } from './format.js';
import { Parallel } from './parallel.js';

// How many slices are shown at first.
const first = 12;
// How many outcomes are marked in each chart, the newest; more hide each other.
const mostMarks = 1000;

export function Model({ store }) {
  const outcomes = store.summary().done.length;
  const { data, error, asking } = useAnswer((signal) => get(taskPath(store.id, '/model?points=41'), signal), [store.id, outcomes], 4000);
  const [all, setAll] = useState(false);
  const none = !data || data.slices.length === 0;
  const importance = useMemo(() => new Map((data?.importance ?? []).map((i) => [i.parameter, i.importance])), [data]);
  const order = useMemo(() => [...importance].sort((a, b) => b[1] - a[1]).map(([name]) => name).filter((name) => !single(parameterOf(store, name))), [importance]);
  const slices = useMemo(() => [...(data?.slices ?? [])].sort((a, b) => (importance.get(b.parameter) ?? 0) - (importance.get(a.parameter) ?? 0)), [data]);
  const range = useMemo(() => reach(slices, store), [slices]);

  return html`
    ${none ? html`<section class="empty"><h2>${error ? 'No answer about the model' : data ? 'No model yet' : 'Asking the node …'}</h2>
      <p>${error ? 'Error from the node: ' + plain(error.message) : 'What the node believes of the objective will be here: along each parameter, over two of them, and which of them matter. A model begins after the first outcomes.'}</p></section>`
    : html`
    <p class="lead">From ${count(data.outcomes, 'outcome')}.${store.objectives.length > 0 ? ` The model is that of ${plain(store.objectives[0].name, 64)}, the first objective.` : ''} Slices go through the design of trial ${data.trial}, the best so far.${asking ? html` <span class="muted">The node is asked anew.</span>` : ''}</p>
    ${error && html`<p class="warning">The newest state could not be read: ${plain(error.message)}</p>`}
    <section aria-labelledby="slices">
      <h2 id="slices">Along each parameter</h2>
      <p class="muted">${store.parameters.some((p) => p.when) ? 'Parameters that are inactive in this design have none. ' : ''}The line is the model’s mean. The band holds the function with a probability of ${percent(data.interval)}. The dashed line is at the best design. Marks are this node’s ${outcomes > mostMarks ? `newest ${integer(mostMarks)} ` : ''}outcomes, wherever their other parameters were, so that many lie off the line. What is beyond the plane is at its edge.</p>
      <div class="grid">${slices.slice(0, all ? slices.length : first).map((s) => html`<${Slice} key=${s.parameter} store=${store} slice=${s} range=${range} design=${data.design} />`)}</div>
      ${slices.length > first && html`<p><button type="button" onClick=${() => setAll(!all)}>${all ? 'Show fewer' : `Show all ${slices.length} parameters`}</button></p>`}
    </section>
    <div class="columns two">
      <section aria-labelledby="importance">
        <h2 id="importance">Which parameters matter</h2>
        <table class="bars"><caption>By ${plain(data.method, 120)}.</caption><tbody>
          ${order.map((name) => html`<tr key=${name}><th scope="row">${plain(name)}</th><td class="wide"><span class="bar" aria-hidden="true"><span style=${{ width: 100 * Math.min(1, importance.get(name)) + '%' }}></span></span></td><td class="n">${percent(importance.get(name))}</td></tr>`)}
        </tbody></table>
        <p class="muted">${meaning(data.method)}</p>
      </section>
      ${slices.length > 1 && html`<${Contour} store=${store} outcomes=${outcomes} order=${slices.map((s) => s.parameter)} />`}
    </div>`}
    ${store.summary().done.length > 0 && html`<${Parallel} store=${store} />`}`;
}

// meaning of the two kinds of Sobol' indices.
function meaning(method) {
  if (/total/.test(method)) return 'The part of the mean’s variance in which each parameter has a share, alone or together with others; so they may add up to more than 100 %.';
  if (/first/.test(method)) return 'The part of the mean’s variance that each parameter explains alone. What is missing to 100 % is explained by parameters together.';
  return 'The larger, the more the mean changes with the parameter.';
}

// reach is the part of the objective that slices show: all of the mean and nine tenths of the
// outcomes. The band, which may be far wider where nothing is known, may end at the edge.
function reach(slices, store) {
  let low = Infinity, high = -Infinity, least = Infinity, most = -Infinity;
  for (const s of slices) for (let i = 0; i < s.mean.length; i++) {
    low = Math.min(low, s.mean[i]);
    high = Math.max(high, s.mean[i]);
    least = Math.min(least, s.low[i]);
    most = Math.max(most, s.high[i]);
  }
  const sorted = Float64Array.from(store.summary().done, (t) => t.outcome.value).sort();
  const cut = Math.floor(sorted.length / 10);
  if (sorted.length > 0) {
    low = Math.min(low, sorted[store.minimize ? 0 : cut]);
    high = Math.max(high, sorted[sorted.length - 1 - (store.minimize ? cut : 0)]);
  }
  const room = 0.15 * (high - low || Math.abs(high) || 1);
  return [Math.max(low - room, Math.min(least, low - room / 3)), Math.min(high + room, Math.max(most, high + room / 3))];
}

function parameterOf(store, name) {
  return store.parameters.find((p) => p.name === name) ?? { name, type: 'float', low: 0, high: 1 };
}

// axisOf shows the values of a parameter.
export function axisOf(theme, parameter, place, more = {}) {
  const label = plain(parameter.name, 40);
  if (place.choices) {
    const shown = place.choices.length <= 8 ? place.choices.map((_, i) => i) : [0, Math.floor(place.choices.length / 2), place.choices.length - 1];
    return { ...more, label, splits: () => shown, values: (_, all) => all.map((i) => value(place.choices[i]).slice(0, 10)), grid: { show: false } };
  }
  if (place.log) return { ...more, label, splits: () => decades(place.low, place.high) };
  return { ...more, label, ...(parameter.type === 'int' ? { incrs: wholeIncrs } : {}) };
}

// decades from low to high: powers of ten, with 2 and 5 between them where there are few.
function decades(low, high) {
  const all = [];
  const steps = high / low < 100 ? [1, 2, 5] : [1];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high) + 1e-9; e++) for (const s of steps) {
    const v = Number(`${s}e${e}`);
    if (v >= low * 0.999999 && v <= high * 1.000001) all.push(v);
  }
  const stride = Math.ceil(all.length / 6);
  return all.filter((_, i) => i % stride === 0);
}

function Slice({ store, slice, range, design }) {
  const parameter = parameterOf(store, slice.parameter);
  const place = useMemo(() => placing(parameter), [parameter]);
  const data = useMemo(() => [slice.values.map((v) => place.at(v)), slice.mean, slice.low, slice.high], [slice]);
  const state = useRef({});
  Object.assign(state.current, { store, place, slice, design, range });
  const options = (theme) => ({
    scales: {
      x: { time: false, distr: place.log ? 3 : 1, range: () => (place.log ? [place.low, place.high] : room(place)) },
      y: { range: () => state.current.range },
    },
    axes: [axis(theme, axisOf(theme, parameter, place, { size: theme.size * 1.6, space: theme.size * 3.6 })), valueAxis(theme, { space: theme.size * 2.4 })],
    series: place.choices
      ? [{}, ...[0, 1, 2].map(() => ({ paths: () => null, points: { show: false } }))]
      : [{}, { stroke: theme.own, width: 2, points: { show: false } }, ...[0, 1].map(() => ({ stroke: 'transparent', width: 0, points: { show: false } }))],
    bands: place.choices ? [] : [{ series: [3, 2], fill: theme.band }],
    hooks: { draw: [(plot) => paintSlice(plot, state.current, theme)] },
  });
  const lowest = slice.mean.indexOf(Math.min(...slice.mean)), highest = slice.mean.indexOf(Math.max(...slice.mean));
  const sure = slice.feasible?.length ? ` Constraints are kept with ${percent(Math.min(...slice.feasible))} to ${percent(Math.max(...slice.feasible))}.` : '';
  return html`<figure>
    <${Plot} height=${13} data=${data} options=${options} depends=${[store.id, parameter]}
      label=${`${plain(slice.parameter)}: the mean is smallest, ${number(slice.mean[lowest])}, at ${value(slice.values[lowest])} and largest, ${number(slice.mean[highest])}, at ${value(slice.values[highest])}.${sure}`} />
    ${slice.feasible?.length > 0 && html`<${Feasible} store=${store} slice=${slice} />`}
  </figure>`;
}

function Feasible({ slice }) {
  return html`<div class="feasible"><span class="muted small">constraints kept</span><span class="strip" aria-hidden="true">${slice.feasible.map((p, i) => html`<i key=${i} style=${{ opacity: Math.max(0.06, p) }}></i>`)}</span><span class="muted small n">${percent(Math.min(...slice.feasible))}–${percent(Math.max(...slice.feasible))}</span></div>`;
}

const room = (place) => { const more = place.choices ? 0 : 0.02 * (place.high - place.low || 1); return [place.low - more, place.high + more]; };

function paintSlice(plot, { store, place, slice, design, range }, theme) {
  const ratio = devicePixelRatio || 1;
  const own = [], peer = [];
  for (const t of store.summary().done.slice(-mostMarks)) {
    const at = place.at(t.parameters?.[slice.parameter]);
    if (at === null) continue;
    const y = Math.min(range[1], Math.max(range[0], t.outcome.value));
    // Marks of one choice are spread, in the order of trials, so that they can be distinguished.
    const spread = place.choices ? ((t.id * 0.618034) % 1 - 0.5) * 0.3 : 0;
    (fromPeers(t.why) ? peer : own).push(plot.valToPos(at + spread, 'x', true), plot.valToPos(y, 'y', true));
  }
  const r = ratio * theme.size * (own.length + peer.length > 600 ? 0.1 : 0.15);
  inPlane(plot, (c) => {
    if (place.choices) paintChoices(plot, c, place, slice, theme, ratio);
    c.globalAlpha = 0.55;
    paintMarks(c, marks.circle, own, r, { fill: theme.own });
    paintMarks(c, marks.diamond, peer, r, { fill: theme.peer });
    const here = place.at(design?.[slice.parameter]);
    if (here !== null) {
      c.globalAlpha = 1;
      c.setLineDash([3 * ratio, 3 * ratio]);
      const x = plot.valToPos(here, 'x', true);
      c.beginPath();
      c.moveTo(x, plot.bbox.top);
      c.lineTo(x, plot.bbox.top + plot.bbox.height);
      c.strokeStyle = theme.muted;
      c.lineWidth = ratio;
      c.stroke();
    }
  });
}

// Choices have no way from one to the next: a bar of the band and a line of the mean for each.
function paintChoices(plot, c, place, slice, theme, ratio) {
  const half = Math.min(0.3 * (plot.valToPos(1, 'x', true) - plot.valToPos(0, 'x', true)), 40 * ratio);
  slice.values.forEach((v, i) => {
    const at = place.at(v);
    if (at === null) return;
    const x = plot.valToPos(at, 'x', true);
    const y = (n) => plot.valToPos(n, 'y', true);
    c.fillStyle = theme.band;
    c.fillRect(x - half, y(slice.high[i]), 2 * half, y(slice.low[i]) - y(slice.high[i]));
    c.fillStyle = theme.own;
    c.fillRect(x - half, y(slice.mean[i]) - ratio, 2 * half, 2 * ratio);
  });
}

function Contour({ store, outcomes, order }) {
  const [chosen, choose] = useState(null);
  const [kind, setKind] = useState('mean');
  const names = store.parameters.map((p) => p.name).filter((name) => order.includes(name));
  const [x, y] = chosen && chosen.every((n) => names.includes(n)) ? chosen : [order[0], order[1]];
  const path = `/contour?x=${encodeURIComponent(x)}&y=${encodeURIComponent(y)}`;
  const answer = useAnswer((signal) => get(taskPath(store.id, path), signal), [store.id, outcomes, path], 0);
  const data = answer.data?.x === x && answer.data?.y === y ? answer.data : null;
  const pick = (at, name) => {
    const other = at === 0 ? y : x;
    const pair = at === 0 ? [name, other === name ? x : other] : [other === name ? y : other, name];
    choose(pair);
  };
  const select = (at, text, current) => html`<label>${text} <select value=${current} onChange=${(e) => pick(at, e.target.value)}>${names.map((n) => html`<option value=${n}>${plain(n)}</option>`)}</select></label>`;
  return html`<section aria-labelledby="contour">
    <h2 id="contour">Over two parameters</h2>
    <div class="controls">${select(0, 'across', x)} ${select(1, 'up', y)}
      <label>show <select value=${kind} onChange=${(e) => setKind(e.target.value)}><option value="mean">the mean</option><option value="deviation">how unsure it is</option></select></label></div>
    ${data && data.mean.length > 0 ? html`<${Surface} store=${store} data=${data} kind=${kind} />`
      : html`<p class="muted">${answer.error ? 'Error from the node: ' + plain(answer.error.message) : 'Asking the node …'}</p>`}
  </section>`;
}

function Surface({ store, data, kind }) {
  const theme = useTheme();
  const colours = ramp(theme.dark);
  const px = parameterOf(store, data.x), py = parameterOf(store, data.y);
  const placeX = useMemo(() => placing(px), [px]), placeY = useMemo(() => placing(py), [py]);
  const rows = data[kind];
  const [low, high] = useMemo(() => {
    const all = rows.flat();
    return [Math.min(...all), Math.max(...all)];
  }, [rows]);
  const state = useRef({});
  Object.assign(state.current, { store, data, rows, low, high, placeX, placeY });
  const options = (t) => ({
    scales: {
      x: { time: false, distr: placeX.log ? 3 : 1, range: () => [placeX.low, placeX.high] },
      y: { distr: placeY.log ? 3 : 1, range: () => [placeY.low, placeY.high] },
    },
    axes: [axis(t, axisOf(t, px, placeX, { size: t.size * 1.6, space: t.size * 3.6, grid: { show: false } })), valueAxis(t, axisOf(t, py, placeY, { grid: { show: false } }))],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { drawClear: [(plot) => paintSurface(plot, state.current, ramp(t.dark))], draw: [(plot) => paintDots(plot, state.current, t)] },
  });
  const plane = useMemo(() => [[placeX.low, placeX.high], [placeY.low, placeY.high]], [data, kind]);
  return html`<${Plot} height=${20} data=${plane} options=${options} depends=${[data, kind]}
      label=${`${kind === 'mean' ? 'The mean' : 'The deviation'} over ${plain(data.x)} and ${plain(data.y)}: from ${number(low)} to ${number(high)}.`} />
    <div class="scale"><span class="n">${number(low)}</span><${Scale} colours=${colours} /><span class="n">${number(high)}</span></div>
    <p class="muted">${kind === 'mean' ? 'The model’s mean' : 'The model’s standard deviation'}, through the best design. Dots are this node’s ${store.summary().done.length > mostMarks ? `newest ${integer(mostMarks)} ` : ''}trials.</p>`;
}

// paintSurface paints a picture of the values where they stand on the axes: between numbers it is
// smooth, a choice fills its place.
function paintSurface(plot, { rows, data, low, high, placeX, placeY }, colours) {
  const { left, top, width, height } = plot.bbox;
  const nx = Math.max(1, Math.min(300, Math.round(width))), ny = Math.max(1, Math.min(300, Math.round(height)));
  const at = (place, values, axis, begin, length, n) => between(
    values.map((v) => (plot.valToPos(place.at(v), axis, true) - begin) / length),
    [...Array(n)].map((_, i) => (i + 0.5) / n), !place.choices);
  const across = at(placeX, data.xs, 'x', left, width, nx), up = at(placeY, data.ys, 'y', top, height, ny);
  const image = new ImageData(nx, ny);
  for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) {
    const [x0, x1, x] = across[i], [y0, y1, y] = up[j];
    const value = (1 - y) * ((1 - x) * rows[y0][x0] + x * rows[y0][x1]) + y * ((1 - x) * rows[y1][x0] + x * rows[y1][x1]);
    image.data.set([...rampAt(colours, high > low ? (value - low) / (high - low) : 0.5), 255], 4 * (j * nx + i));
  }
  const small = new OffscreenCanvas(nx, ny);
  small.getContext('2d').putImageData(image, 0, 0);
  inPlane(plot, (c) => {
    c.imageSmoothingEnabled = false;
    c.drawImage(small, left, top, width, height);
  });
}

function paintDots(plot, { store, data, placeX, placeY }, theme) {
  const points = [];
  for (const t of store.summary().done.slice(-mostMarks)) {
    const x = placeX.at(t.parameters?.[data.x]), y = placeY.at(t.parameters?.[data.y]);
    if (x === null || y === null) continue;
    const spread = ((t.id * 0.618034) % 1 - 0.5) * 0.3;
    points.push(plot.valToPos(placeX.choices ? x + spread : x, 'x', true), plot.valToPos(placeY.choices ? y + ((t.id * 0.7548777) % 1 - 0.5) * 0.3 : y, 'y', true));
  }
  const ratio = devicePixelRatio || 1;
  inPlane(plot, (c) => paintMarks(c, marks.circle, points, ratio * theme.size * (points.length > 600 ? 0.1 : 0.16), { fill: 'rgb(255 255 255 / 0.85)', stroke: 'rgb(20 24 28 / 0.9)', width: ratio }));
}
