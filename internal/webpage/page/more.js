// What only some tasks have: constraints, parties, rounds; and disclosed data, which all have.
import { get, taskPath } from './api.js';
import { Plot, axis, inPlane, marks, paintMarks, wholeIncrs, valueAxis } from './plot.js';
import { html, useAnswer, useMemo, useRef } from './ui.js';
import { bytes, count, integer, number, percent, plain, value } from './format.js';
import { feasible } from './store.js';

const short = (id) => '…' + plain(String(id).slice(-8), 12);

function Waiting({ title, answer }) {
  return html`<section class="empty"><h2>${title}</h2><p>${answer.error ? 'Error from the node: ' + plain(answer.error.message) : 'Asking the node …'}</p></section>`;
}

export function Constraints({ store, go }) {
  const { done, failed } = store.summary();
  const kept = done.filter(feasible).length;
  const counted = store.task?.task?.failures === 'constraint';
  return html`
    <p class="lead">${done.length === 0 ? 'No outcome yet. Here will be which of them keep all constraints.'
      : html`${integer(kept)} of ${count(done.length, 'outcome')} ${kept === 1 ? 'keeps' : 'keep'} all constraints${kept < done.length && html`, <a href=${go('trials') + '?state=infeasible'}>${integer(done.length - kept)}</a> ${done.length - kept === 1 ? 'does' : 'do'} not`}.`}
      ${counted && ` That a trial completes counts too: ${integer(failed.length)} did not.`}</p>
    <p class="muted">A dashed line is a limit, a cross an outcome that violates it.</p>
    <div class="grid wider">${store.constraints.map((c) => html`<${Constraint} key=${c.name} store=${store} of=${c} go=${go} />`)}</div>`;
}

function limitText(c) {
  if (c.type === 'bool') return 'must be true';
  const low = typeof c.low === 'number', high = typeof c.high === 'number';
  return low && high ? `from ${number(c.low)} to ${number(c.high)}` : low ? `at least ${number(c.low)}` : `at most ${number(c.high)}`;
}

function Constraint({ store, of, go }) {
  const { done } = store.summary();
  const violated = done.filter((t) => t.violated?.includes(of.name)).length;
  const state = useRef({});
  Object.assign(state.current, { done, of, last: store.trials.length });
  const data = useMemo(() => [done.map((t) => t.id), done.map((t) => reading(t, of))], [store.version]);
  const options = (theme) => ({
    scales: { x: { time: false, range: () => [0, Math.max(5, state.current.last) * 1.02 + 1] }, y: { range: (_, low, high) => span(of, low, high) } },
    axes: [axis(theme, { label: 'trial', size: theme.size * 1.6, grid: { show: false }, incrs: wholeIncrs }), valueAxis(theme, of.type === 'bool' ? { splits: () => [0, 1], values: () => ['false', 'true'] } : {})],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => paintReadings(plot, state.current, theme)] },
  });
  return html`<section><h3>${plain(of.name)}</h3>
    <p class="muted">${limitText(of)}; ${violated === 0 ? 'kept by all outcomes so far' : `violated by ${count(violated, 'outcome')} of ${integer(done.length)}`}</p>
    <${Plot} height=${13} data=${data} options=${options} depends=${[store.id, of]} label=${`${plain(of.name)} over the trials, ${limitText(of)}: violated by ${violated} of ${done.length}.`} />
  </section>`;
}

const reading = (t, c) => { const v = t.outcome.constraints?.[c.name]; return typeof v === 'boolean' ? Number(v) : v ?? null; };

function span(c, low, high) {
  if (c.type === 'bool') return [-0.2, 1.2];
  const all = [low, high, c.low, c.high].filter((v) => typeof v === 'number');
  const least = Math.min(...all), most = Math.max(...all);
  const room = (most - least || 1) * 0.08;
  return [least - room, most + room];
}

function paintReadings(plot, { done, of }, theme) {
  const kept = [], violated = [];
  for (const t of done) {
    const v = reading(t, of);
    if (v !== null) (t.violated?.includes(of.name) ? violated : kept).push(plot.valToPos(t.id, 'x', true), plot.valToPos(v, 'y', true));
  }
  const ratio = devicePixelRatio || 1;
  const r = ratio * theme.size * (done.length > 1000 ? 0.1 : 0.2);
  inPlane(plot, (c) => {
    c.strokeStyle = theme.text;
    c.lineWidth = ratio;
    c.setLineDash([4 * ratio, 3 * ratio]);
    for (const limit of [of.low, of.high]) if (typeof limit === 'number') {
      const y = plot.valToPos(limit, 'y', true);
      c.beginPath();
      c.moveTo(plot.bbox.left, y);
      c.lineTo(plot.bbox.left + plot.bbox.width, y);
      c.stroke();
    }
    c.setLineDash([]);
    c.globalAlpha = 0.8;
    paintMarks(c, marks.circle, kept, r, { fill: theme.own });
    paintMarks(c, marks.cross, violated, r, { stroke: theme.bad, width: 1.5 * ratio });
  });
}

// Item shows a status item of the strategy: its text and its table.
function Item({ item, index }) {
  const title = 'item' + index;
  const [header, ...rows] = item.rows ?? [];
  return html`<section aria-labelledby=${title}><h2 id=${title}>${plain(item.label, 40)}</h2>
    ${item.text && html`<p>${plain(item.text, 500)}</p>`}
    ${header && html`<div class="scroll" tabindex="0" role="region" aria-labelledby=${title}><table class="list">
      <thead><tr>${header.map((cell, i) => html`<th scope="col" class=${i > 0 ? 'n' : ''}>${plain(cell, 80)}</th>`)}</tr></thead>
      <tbody>${rows.map((row, r) => html`<tr key=${r}>${row.map((cell, i) => (i === 0 ? html`<th scope="row">${plain(cell, 120)}</th>` : html`<td class="n">${plain(cell, 120)}</td>`))}</tr>`)}</tbody>
    </table></div>`}</section>`;
}

// StrategyStatus shows who takes part, the items that the strategy reports, and the rounds.
export function StrategyStatus({ store, contributions, go }) {
  const answer = useAnswer((signal) => get(taskPath(store.id, '/status'), signal), [store.id, store.version, store.shares], 5000);
  const rounds = useMemo(() => store.trials.filter((t) => t?.why?.round > 0), [store.version]);
  if (!answer.data) return html`<${Waiting} title="Strategy" answer=${answer} />`;
  const agreed = answer.data.presence_agreed;
  const [present, items] = [answer.data.present ?? [], answer.data.items ?? []];
  const missing = (contributions.data?.peers ?? []).filter((p) => !present.includes(p.id));
  return html`<div class="columns two"><section aria-labelledby="takepart"><h2 id="takepart">Who takes part</h2>
      <p>${count(present.length, 'node')}, this one among them. ${agreed ? 'All of them see the same set.' : 'Not all of them see the same set yet.'}</p>
      <ul class="plain mono">${present.map((id) => html`<li key=${id} title=${plain(id, 120)}>${short(id)}</li>`)}</ul>
      <h3>Missing</h3>${missing.length === 0 ? html`<p>No peer that this node knows.</p>` : html`<ul class="plain">${missing.map((p) => html`<li key=${p.id}><span class="mono">${short(p.id)}</span> ${plain(p.path, 20)}</li>`)}</ul>`}</section>
    <div>${items.map((item, i) => html`<${Item} key=${item.key} item=${item} index=${i} />`)}
    ${items.length === 0 && rounds.length === 0 && html`<section class="empty"><h2>No status items</h2><p>The strategy reports nothing yet. Items such as spent releases, sums or rewards appear here.</p></section>`}
    ${rounds.length > 0 && html`<section aria-labelledby="rounds"><h2 id="rounds">Rounds</h2>
      <table class="list"><thead><tr><th scope="col" class="n">round</th><th scope="col" class="n">trial</th><th scope="col" class="n">peers used</th><th scope="col">design</th></tr></thead>
        <tbody>${rounds.slice(-30).reverse().map((t) => html`<tr key=${t.id}><td class="n">${t.why.round}</td><td class="n"><a href=${go('trials', t.id)}>${t.id}</a></td><td class="n">${t.why.peer_count ?? 0}</td><td>${plain(t.why.phrase || t.why.source, 120)}</td></tr>`)}</tbody></table>
    </section>`}</div></div>`;
}

export function Disclosed({ store }) {
  const status = useAnswer((signal) => get(taskPath(store.id, '/status'), signal), [store.id, store.version, store.shares], 5000);
  const answer = useAnswer((signal) => get(taskPath(store.id, '/privacy'), signal), [store.id, store.version, store.shares], 5000);
  const task = store.task?.task;
  const s = status.data;
  const p = answer.data;
  const many = p?.planned ? Math.min(1, (p.released ?? 0) / p.planned) : 0;
  const part = p?.epsilon ? Math.min(1, (p.epsilon_spent ?? 0) / p.epsilon) : 0;
  return html`<div class="columns two">
    <section aria-labelledby="disclosed"><h2 id="disclosed">Disclosed data</h2>
      ${p && html`<p>${plain(p.reveals, 2000) || 'This strategy shares nothing.'}</p>`}
      ${task?.privacy && html`<p>${task.privacy.mechanism === 'aggregate' ? 'Every sum contains noise, and no node sees a single node’s part.' : 'Noise is added to each share before it leaves this node.'}</p>`}
      ${s ? html`<dl class="facts"><div><dt>shares sent</dt><dd>${s.shares_sent ?? 0}</dd></div><div><dt>shares received</dt><dd>${s.shares_received ?? 0}</dd></div>
        <div><dt>sent</dt><dd>${bytes(s.bytes_sent ?? 0)}</dd></div><div><dt>received</dt><dd>${bytes(s.bytes_received ?? 0)}</dd></div></dl>
        <p class="muted">Shares are counted since the node’s start. Bytes are those of all messages on all tasks, shares included.</p>`
      : html`<p class="muted">${status.error ? 'Error from the node: ' + plain(status.error.message) : 'Asking the node …'}</p>`}
    </section>
    <section aria-labelledby="promise"><h2 id="promise">Differential privacy</h2>
      ${!p ? html`<p class="muted">${answer.error ? 'Error from the node: ' + plain(answer.error.message) : 'Asking the node …'}</p>`
      : !p.dp_guarantee ? html`<p>This task has no guarantee. With a section <code>privacy</code> in the task file, this shows how much of it is spent.</p>`
      : html`<table class="bars"><tbody>
          <tr><th scope="row">privacy loss ε</th><td class="wide"><span class="bar" aria-hidden="true"><span style=${{ width: 100 * part + '%' }}></span></span></td><td class="n">${number(p.epsilon_spent ?? 0)} of ${number(p.epsilon)}</td></tr>
          <tr><th scope="row">releases</th><td class="wide"><span class="bar" aria-hidden="true"><span style=${{ width: 100 * many + '%' }}></span></span></td><td class="n">${p.released ?? 0} of ${p.planned ?? '–'}</td></tr>
        </tbody></table>
        <p>${percent(part)} of the guarantee is spent; ε of ${number(Math.max(0, (p.epsilon ?? 0) - (p.epsilon_spent ?? 0)))} is left, at δ = ${number(p.delta)}. ${p.refused ? 'There will be no more releases: ' + plain(p.refused, 500) : ''}</p>
        <p class="muted">The smaller ε is, the less all releases together disclose about this node’s results. When it is spent, the node shares nothing more, and continues with the shares it has.</p>`}
    </section></div>`;
}
