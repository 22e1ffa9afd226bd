// When each trial ran, and on which client: one lane for each of its slots.
import { html, useMemo, useState } from './ui.js';
import { Plot, axis, inPlane, valueAxis } from './plot.js';
import { clock, count, duration, integer, number, plain } from './format.js';
import { Detail } from './trials.js';

const spans = [['all', 'all trials', Infinity], ['hundred', 'the newest 100', 100], ['twenty', 'the newest 20', 20]];
const mostLanes = 40; // the ones that were used last
const node = 'this node';

export const outcomes = { done: 'completed', stopped: 'stopped early', failed: 'failed', running: 'running' };

// lanesOf assigns each trial that began on this node or on a client to a lane. A client has as many
// lanes as it ever had trials at once.
export function lanesOf(trials) {
  const of = new Map();
  const lanes = [];
  const bars = trials.filter((t) => t && t.started && outcomes[t.state] && t.why?.source !== 'imported')
    .map((trial) => ({ trial, from: Date.parse(trial.started), to: trial.finished ? Date.parse(trial.finished) : Infinity }))
    .filter((bar) => bar.from <= bar.to)
    .sort((a, b) => a.from - b.from || a.trial.id - b.trial.id);
  for (const bar of bars) {
    const client = bar.trial.client ?? '';
    if (!of.has(client)) of.set(client, []);
    const own = of.get(client);
    let lane = own.find((l) => l.end <= bar.from);
    if (!lane) {
      lane = { client, slot: own.length + 1, bars: [], end: 0 };
      own.push(lane);
      lanes.push(lane);
    }
    lane.bars.push(bar);
    lane.end = bar.to;
  }
  for (const lane of lanes) {
    const slots = of.get(lane.client).length;
    lane.name = (lane.client ? plain(lane.client, 64) : node) + (slots > 1 ? ` #${lane.slot}` : '');
  }
  return { lanes, bars };
}

// shownOf limits bars to the newest, and lanes to those that were used last.
function shownOf(trials, most, now) {
  let { lanes, bars } = lanesOf(trials);
  if (bars.length > most) {
    const kept = new Set(bars.slice(-most));
    lanes = lanes.map((lane) => ({ ...lane, bars: lane.bars.filter((bar) => kept.has(bar)) })).filter((lane) => lane.bars.length > 0);
    bars = bars.slice(-most);
  }
  const last = (lane) => lane.bars.at(-1).from;
  const used = new Set([...lanes].sort((a, b) => last(b) - last(a)).slice(0, mostLanes));
  const hidden = lanes.length - used.size;
  lanes = lanes.filter((lane) => used.has(lane)).sort((a, b) => (a.client < b.client ? -1 : a.client > b.client ? 1 : a.slot - b.slot));
  bars = lanes.flatMap((lane, i) => lane.bars.map((bar) => Object.assign(bar, { lane: i })));
  const from = bars.reduce((least, bar) => Math.min(least, bar.from), Infinity);
  const to = bars.reduce((most, bar) => Math.max(most, bar.to === Infinity ? Math.max(now, bar.from) : bar.to), 0);
  return { lanes, bars, hidden, from, to: Math.max(to, from + 1000) };
}

export function Timeline({ store, go, chosen, now }) {
  const [span, setSpan] = useState('all');
  const most = spans.find(([id]) => id === span)[2];
  const running = store.summary().counts.running > 0;
  const shown = useMemo(() => shownOf(store.trials, most, now), [store.version, most, running && now]);
  if (shown.bars.length === 0) {
    return html`<section class="empty"><h2>No trial yet</h2><p>${store.loaded ? 'Each trial will be a bar here, from its begin to its end, in the lane of its client.' : 'Reading …'}</p></section>`;
  }
  const imported = store.trials.filter((t) => t?.why?.source === 'imported').length;
  const waiting = store.summary().counts.waiting;
  return html`
    <section aria-labelledby="timeline">
      <div class="heading"><h2 id="timeline">Timeline of trials</h2>
        <div class="controls"><label>Show <select value=${span} onChange=${(e) => setSpan(e.target.value)}>${spans.map(([id, text]) => html`<option value=${id}>${text}</option>`)}</select></label></div></div>
      <${Lanes} store=${store} shown=${shown} now=${now} span=${span} go=${go} />
      <ul class="legend" aria-label="Bars">
        <li><svg class="key" viewBox="0 0 16 16" aria-hidden="true"><rect x="1" y="3" width="14" height="10" fill="var(--good)" /></svg> completed</li>
        <li><svg class="key" viewBox="0 0 16 16" aria-hidden="true"><rect x="1" y="8" width="14" height="5" fill="var(--bad)" /></svg> failed, half as high</li>
        <li><svg class="key" viewBox="0 0 16 16" aria-hidden="true"><rect x="1" y="5.5" width="14" height="5" fill="var(--muted)" /></svg> stopped early, half as high in the middle</li>
        <li><svg class="key" viewBox="0 0 16 16" aria-hidden="true"><rect x="1" y="3" width="13" height="10" fill="none" stroke="var(--own)" stroke-width="1.6" stroke-dasharray="3 2" /></svg> running</li>
      </ul>
      <p class="muted">A trial that was given out again appears with its last attempt only.${imported > 0 ? ` ${count(imported, 'imported trial')} ${imported === 1 ? 'is' : 'are'} left out.` : ''}${waiting > 0 ? ` ${count(waiting, 'trial')} ${waiting === 1 ? 'waits' : 'wait'} for a client.` : ''}${shown.hidden > 0 ? ` ${count(shown.hidden, 'lane')} used earlier ${shown.hidden === 1 ? 'is' : 'are'} left out.` : ''}</p>
    </section>
    ${chosen > 0 && html`<${Detail} key=${chosen} store=${store} id=${chosen} trial=${store.trials[chosen - 1]} close=${go('timeline')} go=${go} />`}
    <section aria-labelledby="lanes"><h2 id="lanes">Lanes</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="lanes"><table class="list"><thead><tr><th scope="col">client</th><th scope="col" class="n">completed</th><th scope="col" class="n">stopped</th><th scope="col" class="n">failed</th><th scope="col">running</th><th scope="col" class="n">busy</th><th scope="col">last began</th></tr></thead>
        <tbody>${shown.lanes.map((lane) => html`<${LaneRow} key=${lane.name} lane=${lane} shown=${shown} now=${now} go=${go} />`)}</tbody></table></div>
    </section>`;
}

function LaneRow({ lane, shown, now, go }) {
  const of = (state) => lane.bars.filter((bar) => bar.trial.state === state);
  const busy = lane.bars.reduce((sum, bar) => sum + Math.max(0, Math.min(bar.to, Math.max(now, bar.from)) - bar.from), 0);
  return html`<tr><th scope="row">${lane.name}</th><td class="n">${integer(of('done').length)}</td><td class="n">${integer(of('stopped').length)}</td><td class="n">${integer(of('failed').length)}</td>
    <td>${of('running').map((bar, i) => html`${i > 0 && ', '}<a href=${go('timeline', bar.trial.id)}>trial ${bar.trial.id}</a>`)}${of('running').length === 0 && 'none'}</td>
    <td class="n">${Math.round(Math.min(100, (100 * busy) / (shown.to - shown.from)))} %</td><td>${clock(lane.bars.at(-1).from)}</td></tr>`;
}

function Lanes({ store, shown, now, span, go }) {
  const [at, setAt] = useState(null);
  // The painter lives as long as the plot, and looks at what is newest.
  const state = useMemo(() => ({}), []);
  Object.assign(state, shown, { now: Math.max(now, shown.from) });
  const data = useMemo(() => [[shown.from / 1000, shown.to / 1000], [0, shown.lanes.length - 1]], [shown]);
  const names = shown.lanes.map((lane) => plain(lane.name, 14));
  const options = (theme) => ({
    scales: {
      x: { time: true, range: () => { const room = 0.02 * (state.to - state.from); return [(state.from - room) / 1000, (state.to + room) / 1000]; } },
      y: { dir: -1, range: () => [-0.6, state.lanes.length - 0.4] },
    },
    axes: [axis(theme, { size: theme.size * 1.7, space: theme.size * 5, values: (plot, all) => times(all, state.to - state.from) }),
      valueAxis(theme, { splits: () => state.lanes.map((_, i) => i), values: () => state.lanes.map((lane) => plain(lane.name, 14)), grid: { show: false } })],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => paint(plot, state, theme)] },
  });
  const hover = {
    find: (plot) => barAt(plot, state)?.trial ?? null, show: (trial) => setAt(trial), open: (trial) => { location.hash = go('timeline', trial.id); },
    all: () => [...state.bars].sort((a, b) => a.from - b.from || a.trial.id - b.trial.id).map((bar) => bar.trial),
    position: (plot, trial) => {
      const bar = state.bars.find((b) => b.trial === trial);
      return { left: plot.valToPos((bar.from + Math.min(bar.to, state.now)) / 2000, 'x'), top: plot.valToPos(bar.lane, 'y') };
    },
  };
  const label = `${count(shown.bars.length, 'trial')} in ${count(shown.lanes.length, 'lane')}, from ${clock(shown.from)} to ${clock(shown.to)}. The table of lanes and the table of trials have the same content.`;
  return html`<div class="chart">
    <${Plot} label=${label} height=${Math.max(6, 1.7 * shown.lanes.length + 3)} options=${options} data=${data} depends=${[store.id, span, names.join('\n')]} hover=${hover} />
    <p class="hint" aria-live="polite">${at ? html`<a href=${go('timeline', at.id)}>trial ${at.id}</a>: <b>${at.state === 'done' ? number(at.outcome?.value, 6) : outcomes[at.state] ?? plain(at.state, 20)}</b> · ${at.client ? plain(at.client, 64) : node} · ${clock(at.started)}${at.finished ? ` to ${clock(at.finished)}, ${duration((Date.parse(at.finished) - Date.parse(at.started)) / 1000)}` : ', running'}` : '\u00a0'}</p>
  </div>`;
}

const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

// times writes the splits of an axis as clock times, with what distinguishes them.
function times(all, span) {
  const form = span > 86_400_000 ? days : all.some((s) => s % 60) ? seconds : hours;
  return all.map((s) => form.format(new Date(1000 * s)));
}

const half = 0.36; // of a lane

function paint(plot, { bars, now, lanes }, theme) {
  const ratio = devicePixelRatio || 1;
  const unit = Math.abs(plot.valToPos(1, 'y', true) - plot.valToPos(0, 'y', true));
  inPlane(plot, (c) => {
    c.strokeStyle = theme.faint;
    c.lineWidth = ratio;
    c.beginPath();
    for (let i = 0; i < lanes.length; i++) {
      const y = plot.valToPos(i, 'y', true) + 0.5 * unit;
      c.moveTo(plot.bbox.left, y);
      c.lineTo(plot.bbox.left + plot.bbox.width, y);
    }
    c.stroke();
    for (const { trial, from, to, lane } of bars) {
      const x = plot.valToPos(from / 1000, 'x', true);
      const width = Math.max(1.5 * ratio, plot.valToPos(Math.min(to, now) / 1000, 'x', true) - x - 0.5 * ratio);
      const y = plot.valToPos(lane, 'y', true);
      if (trial.state === 'running') {
        c.strokeStyle = theme.own;
        c.lineWidth = 1.5 * ratio;
        c.setLineDash([4 * ratio, 3 * ratio]);
        c.strokeRect(x, y - half * unit, Math.max(width, 4 * ratio), 2 * half * unit);
        c.setLineDash([]);
      } else if (trial.state === 'failed') {
        c.fillStyle = theme.bad;
        c.fillRect(x, y, width, half * unit);
      } else if (trial.state === 'stopped') {
        c.fillStyle = theme.muted;
        c.fillRect(x, y - 0.5 * half * unit, width, half * unit);
      } else {
        c.fillStyle = theme.good;
        c.fillRect(x, y - half * unit, width, 2 * half * unit);
      }
    }
  });
}

// barAt returns the bar at the cursor, or the nearest of its lane within 12 pixels.
function barAt(plot, { bars, now }) {
  const { left, top } = plot.cursor;
  if (left === undefined || left < 0) return null;
  const lane = Math.round(plot.posToVal(top, 'y'));
  const time = 1000 * plot.posToVal(left, 'x');
  let least = 1000 * (plot.posToVal(left + 12, 'x') - plot.posToVal(left, 'x'));
  let found = null;
  for (const bar of bars) {
    if (bar.lane !== lane) continue;
    const d = Math.max(0, bar.from - time, time - Math.min(bar.to, now));
    if (d < least || (d === 0 && least === 0)) {
      least = d;
      found = bar;
    }
  }
  return found;
}
