// Charts: uPlot for axes and curves, marks and surfaces painted into its plane.
import uPlot from './vendor/uplot.js';
import { html, useEffect, useLayoutEffect, useRef, useSize, useTheme } from './ui.js';
import { number } from './format.js';

// Plot draws options(theme, width) with data, and anew when any of what it depends on changes;
// when only data changes, it sets that. hover makes its items selectable, by mouse, touch and
// keyboard: find(plot) returns the item at the cursor, all() the items in order, position(plot,
// item) its place in the plane, and show(item) and open(item) act on a selection.
export function Plot({ label, height = 18, options, data, depends = [], hover, described }) {
  const place = useRef(null);
  const plot = useRef(null);
  const newest = useRef(null);
  newest.current = { data, hover };
  const theme = useTheme();
  const width = useSize(place);
  const pixels = Math.round(height * theme.size);
  const shown = useRef(null);
  const show = (item) => {
    shown.current = item;
    newest.current.hover.show(item);
  };

  useLayoutEffect(() => {
    if (width < 40) return;
    const given = options(theme, width);
    const made = new uPlot({
      width, height: pixels, legend: { show: false }, ...given,
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, ...given.cursor },
      padding: given.padding ?? [theme.size * 0.6, theme.size * 0.8, 0, 0],
    }, newest.current.data, place.current);
    plot.current = made;
    if (hover) selectable(made, newest, shown, show);
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [width, pixels, theme, ...depends]);

  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else plot.current?.setData(data);
  }, [data]);

  const key = (event) => {
    const all = newest.current.hover.all();
    const at = all.indexOf(shown.current);
    const next = { ArrowLeft: at < 0 ? all.length - 1 : at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Enter' && shown.current) return newest.current.hover.open(shown.current);
    if (event.key === 'Escape') return show(null);
    if (next === undefined || !plot.current || all.length === 0) return undefined;
    event.preventDefault();
    const item = all[Math.min(all.length - 1, Math.max(0, next))];
    plot.current.setCursor(newest.current.hover.position(plot.current, item), false);
    return show(item);
  };
  return html`<div class=${'plot' + (hover ? ' hovered' : '')} style=${{ height: pixels + 'px' }} role=${hover ? 'application' : 'img'} tabindex=${hover ? 0 : undefined} onKeyDown=${hover && key}
    aria-roledescription=${hover && 'plot'} aria-label=${label + (hover ? ' Arrow keys go from mark to mark, Enter opens one.' : '')} aria-describedby=${described} ref=${place}></div>`;
}

// selectable selects with a mouse by hovering, with a finger or pen by touching and moving. A click
// opens an item; a touch opens the one that is selected already.
function selectable(plot, newest, shown, show) {
  let touched = false;
  let before = null;
  const select = () => show(newest.current.hover.find(plot));
  const to = (event) => {
    if (event.pointerType === 'mouse') return;
    const box = plot.over.getBoundingClientRect();
    plot.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top }, false);
    select();
  };
  plot.over.addEventListener('pointerdown', (event) => {
    touched = event.pointerType !== 'mouse';
    before = shown.current;
    to(event);
  });
  plot.over.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'mouse') touched = false;
    to(event);
  });
  plot.over.addEventListener('mousemove', () => { if (!touched) select(); });
  plot.over.addEventListener('mouseleave', () => { if (!touched) show(null); });
  plot.over.addEventListener('click', () => {
    const item = newest.current.hover.find(plot);
    if (item && (!touched || item === before)) newest.current.hover.open(item);
  });
}

// axis in the page's colours, with thin lines.
export function axis(theme, more = {}) {
  const size = theme.size;
  return {
    stroke: theme.muted, font: `${Math.round(size * 0.8)}px ${theme.font}`, labelFont: `${Math.round(size * 0.8)}px ${theme.font}`,
    gap: 4, size: size * 2, labelSize: size * 1.25, labelGap: 0,
    grid: { stroke: theme.faint, width: 1 }, ticks: { show: false }, border: { show: false },
    values: (_, all) => all.map((v) => (v === null ? '' : number(v, 4))), ...more,
  };
}

export function valueAxis(theme, more = {}) {
  return axis(theme, {
    side: 3,
    size: (plot, values) => {
      const longest = Math.max(3, ...(values ?? []).map((v) => String(v).length));
      return longest * theme.size * 0.48 + theme.size * 0.7;
    },
    ...more,
  });
}

// stepped draws a line that stays until the next value.
export const stepped = uPlot.paths.stepped({ align: 1 });

// Marks by shape, so that colour alone says nothing.
export const marks = {
  circle: (c, x, y, r) => { c.moveTo(x + r, y); c.arc(x, y, r, 0, 2 * Math.PI); },
  diamond: (c, x, y, r) => { const d = r * 1.35; c.moveTo(x, y - d); c.lineTo(x + d, y); c.lineTo(x, y + d); c.lineTo(x - d, y); c.lineTo(x, y - d); },
  triangle: (c, x, y, r) => { c.moveTo(x, y - r); c.lineTo(x + r, y + r); c.lineTo(x - r, y + r); c.lineTo(x, y - r); },
  square: (c, x, y, r) => c.rect(x - r, y - r, 2 * r, 2 * r),
  cross: (c, x, y, r) => { c.moveTo(x - r, y - r); c.lineTo(x + r, y + r); c.moveTo(x - r, y + r); c.lineTo(x + r, y - r); },
};

// paintMarks draws many marks of a kind at once: points has x and y in turn.
export function paintMarks(c, mark, points, radius, { fill, stroke, width = 1 }) {
  c.beginPath();
  for (let i = 0; i < points.length; i += 2) mark(c, points[i], points[i + 1], radius);
  if (fill) {
    c.fillStyle = fill;
    c.fill();
  }
  if (stroke) {
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.stroke();
  }
}

// inPlane paints inside the plot's plane alone.
export function inPlane(plot, paint) {
  const c = plot.ctx;
  c.save();
  c.beginPath();
  c.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  c.clip();
  paint(c);
  c.restore();
}

// ramp is a colour for a share from 0 to 1: in even steps of lightness, from blue to yellow, in
// OKLCH (Ottosson, "A perceptual color space for image processing", 2020).
const steps = 64;
const ramps = {};
export function ramp(dark) {
  return (ramps[dark] ??= [...Array(steps)].map((_, i) => {
    const t = i / (steps - 1);
    return css(dark ? 0.34 + 0.58 * t : 0.3 + 0.62 * t, 0.05 + 0.065 * Math.sin(Math.PI * (0.15 + 0.7 * t)), 285 - 185 * t);
  }));
}
export const rampAt = (colours, t) => colours[Math.min(steps - 1, Math.max(0, Math.round(t * (steps - 1))))];

function css(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channel = (x) => {
    const v = Math.min(1, Math.max(0, x));
    return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
  };
  return [
    channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}
export const rgb = (colour) => `rgb(${colour[0]} ${colour[1]} ${colour[2]})`;

// Place of a parameter's values on an axis: numbers as they are, or the number of the choice.
export function placing(parameter) {
  const choices = parameter.value !== undefined ? [parameter.value] : parameter.type === 'bool' ? [false, true] : parameter.choices;
  if (choices) {
    const at = new Map(choices.map((choice, i) => [choice, i]));
    return { choices, at: (v) => at.get(v) ?? null, low: -0.5, high: choices.length - 0.5, log: false };
  }
  return { choices: null, at: (v) => (typeof v === 'number' ? v : null), low: parameter.low, high: parameter.high, log: parameter.scale === 'log' };
}

// share of the way from low to high, on the axis's scale.
export function share(place, v) {
  if (v === null || v === undefined) return null;
  if (place.high === place.low) return 0.5;
  return place.log ? Math.log(v / place.low) / Math.log(place.high / place.low) : (v - place.low) / (place.high - place.low);
}

// between returns for each place which two of the known places it lies between, by their numbers, and the
// share of the way from the first to the second. With smooth false it is the nearest alone.
export function between(known, places, smooth) {
  const order = known.map((_, i) => i).sort((a, b) => known[a] - known[b]);
  return places.map((p) => {
    let right = order.findIndex((i) => known[i] >= p);
    if (right <= 0) return [order.at(right), order.at(right), 0]; // beyond the first or the last
    const a = order[right - 1], b = order[right];
    const t = (p - known[a]) / (known[b] - known[a]);
    return smooth ? [a, b, t] : [a, b, Math.round(t)];
  });
}

// wholeIncrs are the steps of axes of trials and of whole numbers.
export const wholeIncrs = [1, 2, 5].flatMap((s) => [...Array(16)].map((_, e) => s * 10 ** e)).sort((a, b) => a - b);

// Scale shows a ramp from its lowest colour to its highest.
export function Scale({ colours }) {
  const place = useRef(null);
  useEffect(() => {
    const c = place.current.getContext('2d');
    colours.forEach((colour, i) => {
      c.fillStyle = rgb(colour);
      c.fillRect(i, 0, 1, 1);
    });
  }, [colours]);
  return html`<canvas class="ramp" width=${colours.length} height="1" ref=${place} aria-hidden="true"></canvas>`;
}
