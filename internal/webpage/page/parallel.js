// Parallel coordinates: a line for each trial through its parameters and outcome. Ranges are
// chosen by dragging along an axis, or by numbers below.
import { html, useEffect, useMemo, useRef, useSize, useSlow, useState, useTheme } from './ui.js';
import { count, number, plain, single, value } from './format.js';
import { Scale, placing, ramp, rampAt, rgb, share } from './plot.js';

// More lines than these cover each other; then every so manieth is drawn, and all that count
// as best.
const mostLines = 1500;
const classes = 24;

export function Parallel({ store }) {
  const place = useRef(null);
  const width = useSize(place);
  const theme = useTheme();
  const [ranges, setRanges] = useState({});
  const version = useSlow(store.version, 2000);
  const { axes, done } = useMemo(() => ({ axes: axesOf(store), done: store.summary().done }), [version, store.id]);
  const kept = useMemo(() => done.filter((t) => axes.every((a) => within(a, ranges[a.id], t))), [done, axes, ranges]);
  // The best lines stand out most: dark on a light ground, bright on a dark one.
  const colours = useMemo(() => (theme.dark === store.minimize ? [...ramp(theme.dark)].reverse() : ramp(theme.dark)), [theme.dark, store.minimize]);
  const height = Math.round(18 * theme.size);
  const shape = { width: Math.max(width, axes.length * 5.2 * theme.size), height, pad: 2.8 * theme.size, top: 2.4 * theme.size, bottom: 1.6 * theme.size };
  const left = (i) => shape.pad + (i * (shape.width - 2 * shape.pad)) / Math.max(1, axes.length - 1);

  useEffect(() => {
    if (width > 0) paint(place.current.querySelector('canvas'), { shape, left, axes, done, kept, ranges, theme, colours, minimize: store.minimize });
  }, [width, theme, axes, kept, ranges]);

  const drag = useRef(null);
  const shareAt = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, 1 - (event.clientY - box.top - shape.top) / (height - shape.top - shape.bottom)));
  };
  const begin = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - box.left;
    const i = axes.reduce((best, _, j) => (Math.abs(left(j) - x) < Math.abs(left(best) - x) ? j : best), 0);
    if (Math.abs(left(i) - x) > 2 * theme.size) return;
    drag.current = { axis: axes[i], from: shareAt(event) };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    if (!drag.current) return;
    const { axis, from } = drag.current;
    const to = shareAt(event);
    set(axis, Math.abs(to - from) < 0.01 ? undefined : [valueAt(axis, Math.min(from, to)), valueAt(axis, Math.max(from, to))]);
  };
  const end = (event) => {
    if (drag.current && Math.abs(shareAt(event) - drag.current.from) < 0.01) set(drag.current.axis, undefined);
    drag.current = null;
  };
  const set = (axis, range) => setRanges((all) => ({ ...all, [axis.id]: range }));
  const narrowed = axes.some((a) => ranges[a.id]);

  return html`<section aria-labelledby="parallel">
    <h2 id="parallel">All trials through all parameters</h2>
    <p class="muted">A line for each trial with an outcome, coloured by it.${store.parameters.some((p) => p.when) ? ' It has a gap where a parameter is inactive.' : ''} Drag along an axis to keep a range, or set it in numbers below.</p>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="parallel"><div class="parallel" ref=${place}>
      <canvas role="img" aria-label=${`${count(kept.length, 'trial')} of ${done.length} within the ranges, over ${axes.length} axes.`}
        style=${{ width: shape.width + 'px', height: height + 'px' }} onPointerDown=${begin} onPointerMove=${move} onPointerUp=${end}></canvas>
    </div></div>
    <div class="scale"><span class="n">${number(axes.at(-1)?.place.low)}</span><${Scale} colours=${colours} /><span class="n">${number(axes.at(-1)?.place.high)}</span></div>
    <p aria-live="polite">${count(kept.length, 'trial')} of ${done.length} within the ranges. ${narrowed && html`<button type="button" onClick=${() => setRanges({})}>Take all ranges back</button>`}</p>
    <details><summary>Ranges in numbers</summary>
      <table class="ranges"><thead><tr><th scope="col">axis</th><th scope="col">from</th><th scope="col">to</th></tr></thead><tbody>
        ${axes.map((a) => html`<tr key=${a.id}><th scope="row">${plain(a.name)}</th>${[0, 1].map((end) => html`<td>${a.place.choices
          ? html`<select aria-label=${`${plain(a.name)} ${end ? 'to' : 'from'}`} value=${String(whole(a, ranges[a.id])[end])} onChange=${(e) => set(a, replace(whole(a, ranges[a.id]), end, Number(e.target.value)))}>${a.place.choices.map((c, i) => html`<option value=${String(i)}>${value(c)}</option>`)}</select>`
          : html`<input type="number" step="any" aria-label=${`${plain(a.name)} ${end ? 'to' : 'from'}`} value=${String(Number((ranges[a.id]?.[end] ?? [a.place.low, a.place.high][end])?.toPrecision(6)))}
            onChange=${(e) => e.target.value !== '' && set(a, replace(ranges[a.id] ?? [a.place.low, a.place.high], end, Number(e.target.value)))} />`}</td>`)}</tr>`)}
      </tbody></table>
    </details>
  </section>`;
}

const replace = (range, end, v) => (end === 0 ? [v, range[1]] : [range[0], v]);
// whole is the range of an axis of choices as two of them.
const whole = (axis, range) => {
  const most = axis.place.choices.length - 1;
  return range ? [Math.min(most, Math.max(0, Math.ceil(range[0]))), Math.min(most, Math.max(0, Math.floor(range[1])))] : [0, most];
};

function axesOf(store) {
  const axes = store.parameters.filter((p) => !single(p)).map((p) => ({ id: 'p ' + p.name, name: p.name, place: placing(p), of: (t) => t.parameters?.[p.name] }));
  let low = Infinity, high = -Infinity;
  for (const t of store.summary().done) {
    low = Math.min(low, t.outcome.value);
    high = Math.max(high, t.outcome.value);
  }
  if (low > high) [low, high] = [0, 1];
  axes.push({ id: 'outcome', name: 'outcome', place: { choices: null, at: (v) => v, low, high, log: false }, of: (t) => t.outcome.value });
  return axes;
}

const valueAt = ({ place }, s) => (place.log ? place.low * (place.high / place.low) ** s : place.low + s * (place.high - place.low));

function within(axis, range, trial) {
  if (!range) return true;
  const at = axis.place.at(axis.of(trial));
  return at !== null && at >= range[0] && at <= range[1];
}

function paint(canvas, { shape, left, axes, done, kept, ranges, theme, colours, minimize }) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(shape.width * ratio);
  canvas.height = Math.round(shape.height * ratio);
  const c = canvas.getContext('2d');
  c.scale(ratio, ratio);
  const inner = shape.height - shape.top - shape.bottom;
  const y = (s) => shape.height - shape.bottom - s * inner;
  const outcome = axes.at(-1).place;
  const inside = new Set(kept);

  const lines = (trials, colourOf, alpha, width) => {
    const stride = Math.max(1, Math.ceil(trials.length / mostLines));
    const groups = new Map();
    for (let i = trials.length - 1; i >= 0; i -= stride) {
      const key = colourOf(trials[i]);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(trials[i]);
    }
    c.globalAlpha = alpha;
    c.lineWidth = width;
    for (const [colour, group] of groups) {
      c.strokeStyle = colour;
      c.beginPath();
      for (const t of group) {
        let drawn = false;
        axes.forEach((a, i) => {
          const s = share(a.place, a.place.at(a.of(t)));
          if (s === null) drawn = false;
          else if (drawn) c.lineTo(left(i), y(s));
          else c.moveTo(left(i), y(s)), (drawn = true);
        });
      }
      c.stroke();
    }
  };

  if (kept.length < done.length) lines(done.filter((t) => !inside.has(t)), () => theme.line, 0.6, 0.7);
  const shadeOf = (t) => rgb(rampAt(colours, Math.round((share(outcome, t.outcome.value) ?? 0.5) * classes) / classes));
  // lines begins at the end, so that the best come on top.
  const sorted = [...kept].sort((a, b) => (minimize ? a.outcome.value - b.outcome.value : b.outcome.value - a.outcome.value));
  lines(sorted, shadeOf, kept.length > 500 ? 0.35 : 0.75, kept.length > 500 ? 0.8 : 1.3);
  c.globalAlpha = 1;

  const small = 0.78 * theme.size;
  c.font = `${small}px ${theme.font}`;
  axes.forEach((a, i) => {
    const x = left(i);
    c.strokeStyle = theme.muted;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x, y(0));
    c.lineTo(x, y(1));
    c.stroke();
    const range = ranges[a.id];
    if (range) {
      const [from, to] = range.map((v) => Math.min(1, Math.max(0, share(a.place, v))));
      c.fillStyle = theme.text;
      c.globalAlpha = 0.25;
      c.fillRect(x - 5, y(to), 10, Math.max(2, y(from) - y(to)));
      c.globalAlpha = 1;
    }
    c.textAlign = i === axes.length - 1 ? 'right' : i === 0 ? 'left' : 'center';
    const edge = i === axes.length - 1 ? x + shape.pad - 4 : i === 0 ? 4 : x;
    c.fillStyle = theme.text;
    c.fillText(plain(a.name, 16), edge, small);
    c.fillStyle = theme.muted;
    if (a.place.choices) {
      c.textAlign = 'left';
      if (a.place.choices.length <= 10) a.place.choices.forEach((choice, k) => label(c, theme, value(choice).slice(0, 9), x + 5, y(share(a.place, k)) + small / 3));
    } else {
      c.fillText(number(a.place.high, 3), edge, y(1) - small * 0.35);
      c.fillText(number(a.place.low, 3), edge, y(0) + small * 1.2);
    }
  });
}

// label writes over lines so that it can be read.
function label(c, theme, text, x, y) {
  c.lineWidth = 3;
  c.strokeStyle = theme.surface;
  c.strokeText(text, x, y);
  c.fillStyle = theme.muted;
  c.fillText(text, x, y);
}
