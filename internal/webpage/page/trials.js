// The table of trials: all of them, of which only those in sight are elements.
import { ask, get, save, taskPath } from './api.js';
import { Kept, useWriter } from './write.js';
import { html, useAnswer, useEffect, useLayoutEffect, useMemo, useRef, useState, useTheme } from './ui.js';
import { because, clock, count, duration, fromPeers, integer, lines, number, plain, value } from './format.js';
import { Parameters } from './progress.js';
import { scoresText } from './front.js';
import { feasible } from './store.js';
import { One, stopText } from './curves.js';

const states = ['running', 'waiting', 'done', 'stopped', 'failed'];
const beyond = 8; // rows above and below those in sight

const seconds = (t) => (t.started && t.finished ? (Date.parse(t.finished) - Date.parse(t.started)) / 1000 : null);

function columnsOf(store, durations) {
  return [
    { id: 'id', name: 'trial', n: true, key: (t) => t.id },
    { id: 'state', name: 'state', key: (t) => states.indexOf(t.state), show: (t) => html`<span class=${'state ' + (states.includes(t.state) ? t.state : '')}>${plain(t.state, 20)}</span>` },
    ...(store.objectives.length === 0 ? [{ id: 'outcome', name: 'outcome', n: true, key: (t) => t.outcome?.value ?? null, show: (t) => (t.outcome ? number(t.outcome.value, 5) : '–') }] : [
      ...store.objectives.map((o, i) => ({ id: 'o ' + o.name, name: o.name, n: true, key: (t) => store.score(t, i), show: (t) => number(store.score(t, i), 5) })),
      { id: 'front', name: 'Pareto', key: (t) => (store.summary().onFront.has(t.id) ? 0 : 1), show: (t) => (store.summary().onFront.has(t.id) ? 'front' : '') },
    ]),
    ...(store.stepped ? [
      { id: 'step', name: 'last step', n: true, key: (t) => t.steps?.at(-1)?.step ?? null, show: (t) => (t.steps?.length ? integer(t.steps.at(-1).step) : '–') },
      { id: 'reached', name: 'value there', n: true, key: (t) => t.steps?.at(-1)?.value ?? null, show: (t) => (t.steps?.length ? number(t.steps.at(-1).value, 5) : '–') },
    ] : []),
    ...(store.priced ? [{ id: 'cost', name: 'cost', n: true, key: (t) => t.cost ?? null, show: (t) => number(t.cost, 5) }] : []),
    ...store.constraints.map((c) => ({ id: 'c ' + c.name, name: c.name, n: true, key: (t) => reading(t, c.name), show: (t) => html`<span class=${t.violated?.includes(c.name) ? 'violated' : ''}>${value(t.outcome?.constraints?.[c.name])}${t.violated?.includes(c.name) ? html`<span class="unseen"> violated</span>` : ''}</span>` })),
    ...store.parameters.map((p) => ({ id: 'p ' + p.name, name: p.name, n: p.type === 'float' || p.type === 'int', key: (t) => t.parameters?.[p.name] ?? null, show: (t) => value(t.parameters?.[p.name]) })),
    { id: 'why', name: 'why', text: true, key: (t) => because(t.why), show: (t) => html`${fromPeers(t.why) && html`<span class="frompeer" title="used peers’ shares">◆</span> `}${because(t.why)}` },
    { id: 'duration', name: 'took', n: true, key: seconds, show: (t) => (seconds(t) === null ? '–' : duration(seconds(t))) },
    { id: 'client', name: 'by', key: (t) => t.client ?? '', show: (t) => (t.client ? plain(t.client, 40) : 'this node') },
    { id: 'finished', name: 'ended', key: (t) => t.finished ?? null, show: (t) => (t.finished ? clock(t.finished) : '–') },
    { id: 'kept', name: 'keeps', text: true, key: (t) => kept(t) || null, show: (t) => plain(kept(t), 160) },
    { id: 'reason', name: 'reason', text: true, key: (t) => (t.reason ?? stopText(t.stop)) || null, show: (t) => plain(t.reason ?? stopText(t.stop), 160) },
  ];
}

// kept returns in a line what a trial keeps for the user.
function kept(t) {
  const counted = (list, one) => (list?.length ? [count(list.length, one)] : []);
  return [
    ...Object.entries(t.attributes ?? {}).map(([name, v]) => `${name}=${v}`), ...(t.tags ?? []).map((tag) => '#' + tag),
    ...counted(t.files, 'file'), ...(t.notes ?? []).map((n) => n.text),
  ].join(' ');
}

const reading = (t, name) => { const v = t.outcome?.constraints?.[name]; return typeof v === 'boolean' ? Number(v) : v ?? null; };

export function Trials({ store, go, chosen, query }) {
  const [state, setState] = useState(query.get('state') ?? '');
  const [peers, setPeers] = useState(query.get('peers') ?? '');
  const [text, setText] = useState('');
  const [sort, setSort] = useState({ id: 'id', down: true });
  const [saving, setSaving] = useState('');
  useEffect(() => {
    setState(query.get('state') ?? '');
    setPeers(query.get('peers') ?? '');
  }, [query.toString()]);
  const columns = useMemo(() => columnsOf(store), [store.id, store.task, store.stepped, store.priced]);
  const rows = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const found = store.trials.filter((t) => t && (!state || (state === 'infeasible' ? t.state === 'done' && !feasible(t) : state === 'front' ? store.summary().onFront.has(t.id) : t.state === state)) && (!peers || fromPeers(t.why) === (peers === 'yes')) && (!wanted || matches(t, wanted)));
    const { key } = columns.find((c) => c.id === sort.id) ?? columns[0];
    const keyed = found.map((t) => [key(t), t]);
    const way = sort.down ? -1 : 1;
    keyed.sort(([a, s], [b, t]) => {
      if (a === b) return way * (s.id - t.id);
      if (a === null) return 1; // what there is not comes last, whichever way
      if (b === null) return -1;
      return way * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1);
    });
    return keyed.map(([, t]) => t);
  }, [store.version, store.id, columns, state, peers, text, sort]);

  const file = async (format) => {
    setSaving('Asking the node …');
    try {
      await save(taskPath(store.id, `/export?format=${format}`), `trials.${format}`, format === 'csv' ? 'text/csv' : 'application/json');
      setSaving('');
    } catch (error) {
      setSaving('Not saved: ' + plain(error.message));
    }
  };
  const trial = chosen ? store.trials[chosen - 1] : null;

  return html`
    <section aria-labelledby="trials">
      <div class="heading"><h2 id="trials">Trials</h2>
        <div class="controls">
          <label>state <select value=${state} onChange=${(e) => setState(e.target.value)}><option value="">any</option>${states.map((s) => html`<option value=${s}>${s}</option>`)}${store.constraints.length > 0 && html`<option value="infeasible">violates a constraint</option>`}${store.objectives.length > 0 && html`<option value="front">on the Pareto front</option>`}</select></label>
          <label>used peers’ shares <select value=${peers} onChange=${(e) => setPeers(e.target.value)}><option value="">either</option><option value="yes">yes</option><option value="no">no</option></select></label>
          <label>text <input type="search" value=${text} placeholder="why, reason, value …" onInput=${(e) => setText(e.target.value)} /></label>
          <span class="buttons"><button type="button" onClick=${() => file('csv')}>CSV</button> <button type="button" onClick=${() => file('json')}>JSON</button></span>
        </div>
      </div>
      <p class="muted" aria-live="polite">${store.trials.length === 0 ? (store.loaded ? 'No trial yet. Each will be a row here as soon as its design is chosen.' : 'Reading …')
        : rows.length === store.trials.length ? count(rows.length, 'trial') : `${count(rows.length, 'trial')} of ${integer(store.trials.length)}`} ${saving}</p>
      ${chosen > 0 && html`<${Detail} key=${chosen} store=${store} id=${chosen} trial=${trial} close=${go('trials')} go=${go} />`}
      ${store.trials.length > 0 && html`<${Table} columns=${columns} rows=${rows} sort=${sort} setSort=${setSort} go=${go} chosen=${chosen} />`}
    </section>`;
}

function matches(t, wanted) {
  return because(t.why).toLowerCase().includes(wanted) || t.reason?.toLowerCase().includes(wanted) || stopText(t.stop).toLowerCase().includes(wanted) || kept(t).toLowerCase().includes(wanted) || t.client?.toLowerCase().includes(wanted) ||
    String(t.id) === wanted || t.why?.peer?.toLowerCase().includes(wanted) || Object.values(t.parameters ?? {}).some((v) => String(v).toLowerCase().includes(wanted)) ||
    (t.violated ?? []).some((b) => b.toLowerCase().includes(wanted));
}

function Table({ columns, rows, sort, setSort, go, chosen }) {
  const theme = useTheme();
  const high = Math.round(theme.size * 2.1);
  const place = useRef(null);
  const size = useRef({ top: 0, height: 0 }); // asking an element for these costs a layout
  const [view, setView] = useState({ from: 0, to: 40 });
  const look = () => {
    const from = Math.max(0, Math.floor(size.current.top / high) - beyond);
    const to = Math.ceil((size.current.top + size.current.height) / high) + beyond;
    setView((v) => (v.from === from && v.to === to ? v : { from, to }));
  };
  const scrolled = () => {
    size.current.top = place.current.scrollTop;
    look();
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      size.current.height = place.current.clientHeight;
      look();
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [high]);
  const to = Math.min(rows.length, view.to);
  const from = Math.min(view.from, Math.max(0, to - 1));
  return html`<div class="scroll trials" tabindex="0" role="region" aria-labelledby="trials" ref=${place} onScroll=${scrolled}>
    <table class="list windowed" aria-rowcount=${rows.length + 1}>
      <thead><tr aria-rowindex="1">${columns.map((c) => html`<th key=${c.id} scope="col" class=${c.n ? 'n' : ''} aria-sort=${sort.id === c.id ? (sort.down ? 'descending' : 'ascending') : undefined}>
        <button type="button" class="sort" onClick=${() => setSort({ id: c.id, down: sort.id === c.id ? !sort.down : c.id === 'id' })}>${plain(c.name, 40)}<span class="arrow" aria-hidden="true">${sort.id === c.id ? (sort.down ? '↓' : '↑') : ''}</span></button></th>`)}</tr></thead>
      <tbody>
        ${from > 0 && html`<tr aria-hidden="true" class="gap" key="above"><td colspan=${columns.length} style=${{ height: from * high + 'px' }}></td></tr>`}
        ${rows.slice(from, to).map((t, i) => html`<${Row} key=${t.id} trial=${t} index=${from + i + 2} columns=${columns} high=${high} to=${go('trials', t.id)} chosen=${chosen === t.id} />`)}
        ${to < rows.length && html`<tr aria-hidden="true" class="gap" key="below"><td colspan=${columns.length} style=${{ height: (rows.length - to) * high + 'px' }}></td></tr>`}
      </tbody>
    </table>
  </div>`;
}

function Row({ trial, index, columns, high, to, chosen }) {
  return html`<tr aria-rowindex=${index} class=${chosen ? 'chosen' : ''} style=${{ height: high + 'px' }}>
    ${columns.map((c) => c.id === 'id' ? html`<th scope="row" class="n"><a href=${to} aria-current=${chosen ? 'true' : undefined}>${trial.id}</a></th>` : html`<td class=${c.n ? 'n' : c.text ? 'text' : ''}>${c.show(trial)}</td>`)}
  </tr>`;
}

// Detail shows all that is known of one trial; close is where its link to close leads.
export function Detail({ store, id, trial, go, close: back }) {
  const writer = useWriter();
  const heading = useRef(null);
  useEffect(() => heading.current.focus(), []);
  const close = html`<a class="button" href=${back} aria-label="Close">Close</a>`;
  const ended = ['failed', 'done', 'stopped'].includes(trial?.state);
  const output = useAnswer(async (signal) => {
    if (!ended) return null;
    try {
      return await get(taskPath(store.id, `/trials/${id}/output`), signal);
    } catch (error) {
      if (error.status === 404) return null;
      throw error;
    }
  }, [store.id, id, trial?.state]);
  if (!trial) return html`<article class="detail"><div class="heading"><h3 tabindex="-1" ref=${heading}>Trial ${id}</h3>${close}</div><p>${store.loaded ? 'There is no such trial.' : 'Reading …'}</p></article>`;
  return html`<article class="detail" aria-labelledby="detail">
    <div class="heading"><h3 id="detail" tabindex="-1" ref=${heading}>Trial ${id}: ${trial.state === 'done' ? (store.objectives.length > 0 ? scoresText(store, trial) + (store.summary().onFront.has(trial.id) ? ', on the Pareto front' : '') : number(trial.outcome?.value, 6)) : plain(trial.state, 20)}</h3>${close}</div>
    ${trial.reason && html`<p class="reason">${plain(trial.reason, 2000)}</p>`}
    ${trial.stop && html`<p>${trial.state === 'running' ? 'To be stopped early by rule' : trial.state === 'done' ? 'Decision to stop by rule' : 'Stopped early by rule'} <b>${plain(trial.stop.rule, 40)}</b> at step ${integer(trial.stop.step)}${trial.stop.reason ? ': ' + plain(trial.stop.reason, 2000) : ''}</p>`}
    <div class="columns">
      <div><h4>Parameters</h4><${Parameters} store=${store} of=${trial.parameters} /></div>
      ${trial.outcome && (store.constraints.length > 0 || Object.keys(trial.outcome.metrics ?? {}).length > 0) && html`<div><h4>Measured</h4><table class="pairs"><tbody>
        ${store.constraints.map((c) => html`<tr key=${c.name}><th scope="row">${plain(c.name)}</th><td>${value(trial.outcome.constraints?.[c.name])} ${trial.violated?.includes(c.name) ? html`<span class="violated">violated</span>` : html`<span class="kept">kept</span>`}</td></tr>`)}
        ${Object.entries(trial.outcome.metrics ?? {}).map(([name, v]) => html`<tr key=${'m' + name}><th scope="row">${plain(name, 80)}</th><td>${value(v)}</td></tr>`)}
      </tbody></table></div>`}
      <div><h4>How it came about</h4><table class="pairs"><tbody>
        <tr><th scope="row">chosen as</th><td>${because(trial.why)}</td></tr>
        ${typeof trial.why?.own_probability === 'number' && html`<tr><th scope="row">chance of the own model</th><td>${number(trial.why.own_probability, 3)}</td></tr>`}
        ${trial.why?.peer && html`<tr><th scope="row">based on</th><td class="mono">${plain(trial.why.peer, 120)}</td></tr>`}
        ${trial.why?.peer_count > 0 && html`<tr><th scope="row">peers used</th><td>${trial.why.peer_count}</td></tr>`}
        ${trial.why?.observations > 0 && html`<tr><th scope="row">their observations</th><td>${trial.why.observations}</td></tr>`}
        <tr><th scope="row">evaluated by</th><td>${trial.client ? plain(trial.client, 80) : 'this node'}</td></tr>
        <tr><th scope="row">attempts</th><td>${trial.attempts}</td></tr>
        ${typeof trial.cost === 'number' && html`<tr><th scope="row">cost</th><td>${number(trial.cost, 6)}</td></tr>`}
        ${trial.started && html`<tr><th scope="row">begun</th><td>${clock(trial.started)}</td></tr>`}
        ${trial.finished && html`<tr><th scope="row">ended</th><td>${clock(trial.finished)}${seconds(trial) !== null && `, after ${duration(seconds(trial))}`}</td></tr>`}
        ${trial.lease_ends && html`<tr><th scope="row">lease ends</th><td>${clock(trial.lease_ends)}</td></tr>`}
      </tbody></table></div>
    </div>
    <${One} trial=${trial} />
    <${Kept} key=${trial.id} store=${store} trial=${trial} />
    ${writer && html`<p><a class="button" href=${go('queue', id)}>Enqueue this design again, or one like it</a></p>`}
    <h4>What it printed</h4>
    ${output.data ? html`${output.data.truncated_bytes > 0 && html`<p class="muted">The end of it; ${count(output.data.truncated_bytes, 'byte')} before are left out.</p>`}<pre class="output" tabindex="0" role="region" aria-label=${`What trial ${id} printed`}>${lines(output.data.text)}</pre>`
      : html`<p class="muted">${output.error ? 'Error from the node: ' + plain(output.error.message) : !ended ? 'It will be here when the trial has ended.' : output.asking ? 'Asking the node …' : 'Nothing that it printed is kept.'}</p>`}
  </article>`;
}
