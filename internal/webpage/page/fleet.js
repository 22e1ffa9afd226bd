// All of the node: its tasks, addresses and warnings.
import { get, taskPath } from './api.js';
import { html, useAnswer, useEffect, useState } from './ui.js';
import { ago, clock, count, number, plain } from './format.js';

async function readFleet(signal) {
  const [node, { tasks }] = await Promise.all([get('/v1/node', signal), get('/v1/tasks', signal)]);
  const bests = await Promise.all(tasks.map((t) => (t.trials.done > 0 ? get(taskPath(t.id, '/best'), signal).catch(() => null) : null)));
  return { node, tasks: tasks.map((t, i) => ({ ...t, best: bests[i]?.trial ?? null })) };
}

// useTick counts up while the page is in sight.
function useTick(seconds) {
  const [n, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || set((k) => k + 1), seconds * 1000);
    return () => clearInterval(timer);
  }, []);
  return n;
}

export function Fleet({ now }) {
  const tick = useTick(10);
  const fleet = useAnswer(readFleet, [tick], 2000);
  const log = useAnswer((signal) => get('/v1/log', signal), [tick], 2000);
  const { data, error } = fleet;
  const warnings = [...(log.data?.lines ?? [])].reverse();
  return html`
    ${error && html`<p class="warning" role="status">The node does not answer: ${plain(error.message)}</p>`}
    <section aria-labelledby="tasks"><h2 id="tasks">Tasks</h2>
      ${!data ? html`<p class="muted">Asking the node …</p>` : data.tasks.length === 0 ? html`<p>The node serves no task. Each that it joins will be a row here.</p>` : html`
      <div class="scroll" tabindex="0" role="region" aria-labelledby="tasks"><table class="list"><thead><tr><th scope="col">task</th><th scope="col">goal</th><th scope="col" class="n">best</th><th scope="col" class="n">done</th><th scope="col" class="n">running</th><th scope="col" class="n">waiting</th><th scope="col" class="n">stopped</th><th scope="col" class="n">failed</th><th scope="col">best found</th></tr></thead>
        <tbody>${data.tasks.map((t) => html`<tr key=${t.id}><th scope="row"><a href=${`#/task/${encodeURIComponent(t.id)}/progress`}>${plain(t.name, 64)}</a><span class="muted small mono" title=${plain(t.id, 120)}>…${plain(t.id.slice(-12), 20)}</span></th>
          <td>${t.goal === 'maximize' ? 'largest' : 'smallest'}${t.objectives ? ` ${plain(t.objectives[0], 64)}, and ${plain(t.objectives.slice(1).join(', '), 200)}` : ''}</td><td class="n">${t.best ? html`<a href=${`#/task/${encodeURIComponent(t.id)}/trials/${t.best.id}`}>${number(t.best.outcome?.value, 5)}</a>` : '–'}</td>
          <td class="n">${t.trials.done ?? 0}</td><td class="n">${t.trials.running ?? 0}</td><td class="n">${t.trials.waiting ?? 0}</td><td class="n">${t.trials.stopped ?? 0}</td><td class="n">${t.trials.failed ?? 0}</td>
          <td>${t.best?.finished ? ago(Date.parse(t.best.finished), now) : 'not yet'}</td></tr>`)}</tbody></table></div>`}
    </section>
    <div class="columns two">
      <section aria-labelledby="node"><h2 id="node">This node</h2>
        ${data ? html`<table class="pairs"><tbody>
          <tr><th scope="row">ID</th><td class="mono">${plain(data.node.peer_id, 120)}</td></tr>
          <tr><th scope="row">version</th><td>${plain(data.node.version, 80) || '–'}</td></tr>
        </tbody></table>
        <h3>Addresses</h3>${data.node.addresses.length > 0 ? html`<ul class="plain mono">${data.node.addresses.map((a) => html`<li key=${a}>${plain(a, 200)}</li>`)}</ul>` : html`<p>None under which others may reach it: it reaches others itself.</p>`}`
        : html`<p class="muted">Asking the node …</p>`}
      </section>
      <section aria-labelledby="log"><h2 id="log">Warnings</h2>
        ${!log.data ? html`<p class="muted">${log.error ? 'Error from the node: ' + plain(log.error.message) : 'Asking the node …'}</p>` : warnings.length === 0 ? html`<p>None since the node’s start. What its user should know will be here, the newest first.</p>` : html`
        <p class="muted">The newest ${count(warnings.length, 'warning')}.</p>
        <ol class="log" tabindex="0" aria-labelledby="log">${warnings.map((w) => html`<li key=${w.id}><time datetime=${plain(w.time, 40)}>${clock(w.time)}</time> ${w.task && html`<span class="muted">${plain(w.task, 64)}</span> `}${plain(w.text, 1000)}</li>`)}</ol>`}
      </section>
    </div>`;
}
