// Forms that change something: queued designs and annotations of trials. Without the token there are none.
import { forgetToken, get, mayWrite, onWriter, taskPath, tryToken, write } from './api.js';
import { html, useAnswer, useEffect, useRef, useState } from './ui.js';
import { clock, condition, count, lines, plain, single, value } from './format.js';

export function useWriter() {
  const [may, set] = useState(mayWrite());
  useEffect(() => onWriter(() => set(mayWrite())), []);
  return may;
}

// Writing asks for the token, and forgets it.
export function Writing({ stopped }) {
  const may = useWriter();
  const [open, setOpen] = useState(false);
  const [error, setError] = useState('');
  const field = useRef(null);
  useEffect(() => { if (open) field.current?.focus(); }, [open]);
  if (may) return html`<button type="button" onClick=${forgetToken}>End writing</button>`;
  if (stopped) return html`<span class="muted">This node does not run; its journal is shown.</span>`;
  if (!open) return html`<button type="button" onClick=${() => setOpen(true)}>Write …</button>`;
  const send = async () => {
    try {
      await tryToken(field.current.value);
      setOpen(false);
      setError('');
    } catch (problem) {
      setError(plain(problem.message));
    }
  };
  return html`<label>Token, from <code>http.token</code> in the data directory <input type="password" autocomplete="off" ref=${field} aria-invalid=${Boolean(error)} onKeyDown=${(e) => e.key === 'Enter' && send()} /></label>
    <button type="button" onClick=${send}>Use it</button> <button type="button" onClick=${() => setOpen(false)}>Cancel</button><span role="status" class="warning">${error}</span>`;
}

// useKey returns a key for requests, the same one until the content of the request changes.
function useKey() {
  const held = useRef({});
  return (content) => {
    if (held.current.content !== content) held.current = { content, key: crypto.randomUUID() };
    return held.current.key;
  };
}

const mostNote = 2000;
const characters = (text) => [...text].length;

// Kept shows the annotations of a trial, and with the token a field for another note.
export function Kept({ store, trial }) {
  const may = useWriter();
  const [text, setText] = useState('');
  const [state, setState] = useState('');
  const key = useKey();
  const send = async (body, done) => {
    setState('Storing …');
    try {
      const since = store.events;
      store.take(await write('POST', taskPath(store.id, `/trials/${trial.id}/annotate`), body, key(JSON.stringify(body))), since);
      key(''); // the same change again is another request
      store.changed();
      done?.();
      setState('Stored.');
    } catch (error) {
      setState('Not stored: ' + plain(error.message));
    }
  };
  const { attributes = {}, tags = [], files = [], notes = [] } = trial;
  const pairs = [
    ...Object.entries(attributes).map(([name, v]) => [name, lines(v)]),
    ...(tags.length ? [['tags', tags.map((t) => html`<span class="tag">${plain(t, 64)}</span> `)]] : []),
    ...files.map((f) => ['file', html`${plain(f.path, 1024)}${f.sha256 && html` <span class="muted mono">sha256 ${plain(f.sha256, 64)}</span>`}`]),
  ];
  const long = characters(text) > mostNote;
  return html`
    ${pairs.length > 0 && html`<h4>Kept with it</h4><table class="pairs"><tbody>${pairs.map(([name, shown], i) => html`<tr key=${i}><th scope="row">${plain(name, 64)}</th><td class="note">${shown}</td></tr>`)}</tbody></table>`}
    ${(may || notes.length > 0) && html`<h4 id="notes">Notes</h4>`}
    ${notes.map((n) => html`<div key=${n.id}><p class="muted small">${clock(n.time)}${n.author && `, ${plain(n.author, 64)}`} ${may && html`<button type="button" aria-label=${`Remove note ${n.id}`} onClick=${() => send({ remove_notes: [n.id] })}>Remove</button>`}</p><p class="note">${lines(n.text)}</p></div>`)}
    ${may && html`<textarea aria-labelledby="notes" aria-invalid=${long} value=${text} onInput=${(e) => { setText(e.target.value); setState(''); }}></textarea>
    <p class="muted"><button type="button" disabled=${text === '' || long} onClick=${() => send({ note: text }, () => setText(''))}>Add the note</button> ${characters(text)} of ${mostNote} characters. Peers never receive notes. <span role="status">${state}</span></p>`}`;
}

// text of a value in a field, and the value of that text.
const texts = (v) => (v === undefined || v === null ? '' : String(v));

function read(parameter, text) {
  const listed = parameter.type === 'bool' ? [false, true] : parameter.choices;
  if (listed) return listed.find((v) => String(v) === text) ?? text;
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

// Queue lists the designs of the user that wait, and with the token has a form for another.
export function Queue({ store, chosen, go }) {
  const may = useWriter();
  const [changes, setChanges] = useState(0);
  const answer = useAnswer((signal) => get(taskPath(store.id, '/queue'), signal), [store.id, store.queue, changes], 500);
  const [state, setState] = useState('');
  const queued = answer.data?.queued ?? [];
  const withdraw = async (q) => {
    try {
      await write('DELETE', taskPath(store.id, `/queue/${q.id}`), null, crypto.randomUUID());
      setState(`Design ${q.id} is withdrawn.`);
    } catch (error) {
      setState('Not withdrawn: ' + plain(error.message));
    }
    setChanges((n) => n + 1);
  };
  const from = (chosen && store.trials[chosen - 1]) || store.summary().best;
  return html`
    <section aria-labelledby="queue"><h2 id="queue">Queued designs</h2>
      <p class="muted">They are evaluated before the strategy chooses a design, the first one first.</p>
      ${!answer.data ? html`<p>${answer.error ? 'Error from the node: ' + plain(answer.error.message) : 'Asking the node …'}</p>`
      : queued.length === 0 ? html`<p>None.</p>` : html`<div class="scroll" tabindex="0" role="region" aria-labelledby="queue"><table class="list">
        <thead><tr><th scope="col">design</th>${store.parameters.map((p) => html`<th scope="col" class="n">${plain(p.name, 40)}</th>`)}<th scope="col">enqueued</th>${may && html`<th scope="col"><span class="unseen">Withdraw</span></th>`}</tr></thead>
        <tbody>${queued.map((q, i) => html`<tr key=${q.id ?? 'first' + i}><th scope="row">${q.id ?? 'from the start'}</th>${store.parameters.map((p) => html`<td class="n">${value(q.parameters?.[p.name])}</td>`)}<td>${q.enqueued ? clock(q.enqueued) : '–'}</td>
          ${may && html`<td>${q.id && html`<button type="button" aria-label=${`Withdraw design ${q.id}`} onClick=${() => withdraw(q)}>Withdraw</button>`}</td>`}</tr>`)}</tbody></table></div>`}
      <p role="status">${state}</p>
    </section>
    ${may ? html`<${Enqueue} key=${from?.id ?? 0} store=${store} from=${from} done=${() => setChanges((n) => n + 1)} />`
      : html`<p class="muted">Enqueueing needs the token of a node that runs.</p>`}`;
}

function Enqueue({ store, from, done }) {
  const [given, setGiven] = useState(() => Object.fromEntries(store.parameters.map((p) => [p.name, texts(from?.parameters?.[p.name])])));
  const [errors, setErrors] = useState({});
  const [state, setState] = useState('');
  const key = useKey();
  const free = store.parameters.filter((p) => !single(p)); // the node sets the others
  const send = async () => {
    const parameters = Object.fromEntries(free.filter((p) => given[p.name] !== '').map((p) => [p.name, read(p, given[p.name])]));
    setErrors({});
    setState('Sending …');
    try {
      const { id } = await write('POST', taskPath(store.id, '/enqueue'), { parameters }, key(JSON.stringify(parameters)));
      setState(id ? `It is queued as design ${id}.` : 'It was queued at the start of the node.');
      key(''); // the same design again is another request
      done();
    } catch (error) {
      const found = {};
      for (const { location, message } of error.errors ?? []) if (location?.startsWith('body.parameters.')) found[location.slice('body.parameters.'.length)] = message;
      setErrors(found);
      setState('Not queued: ' + plain(error.message));
    }
  };
  return html`<section aria-labelledby="enqueue"><h2 id="enqueue">Enqueue a design</h2>
    <p class="muted">${from ? `Filled with the design of trial ${from.id}.` : 'Give a value for each active parameter.'} ${count(free.length, 'parameter')}.</p>
    <div class="fields" role="group" aria-labelledby="enqueue" onKeyDown=${(e) => e.key === 'Enter' && e.target.tagName === 'INPUT' && send()}>${free.map((p, i) => html`<label key=${p.name}>${plain(p.name)} <span class="small">${accepted(p)}</span>
      <${Field} parameter=${p} text=${given[p.name]} wrong=${errors[p.name]} described=${'wrong' + i} set=${(text) => setGiven((all) => ({ ...all, [p.name]: text }))} />
      <span class="small warning" id=${'wrong' + i}>${errors[p.name] && plain(errors[p.name])}</span></label>`)}</div>
    <p><button type="button" onClick=${send}>Enqueue</button> <span role="status">${state}</span></p></section>`;
}

function Field({ parameter, text, wrong, described, set }) {
  const listed = parameter.type === 'bool' ? [false, true] : parameter.choices;
  if (listed) {
    return html`<select value=${text} aria-invalid=${Boolean(wrong)} aria-describedby=${described} onChange=${(e) => set(e.target.value)}>
      ${(text === '' || parameter.when) && html`<option value="">–</option>`}${listed.map((v) => html`<option value=${String(v)}>${value(v)}</option>`)}</select>`;
  }
  return html`<input inputmode="decimal" autocomplete="off" value=${text} aria-invalid=${Boolean(wrong)} aria-describedby=${described} onInput=${(e) => set(e.target.value)} />`;
}

const accepted = (p) => [
  typeof p.low === 'number' ? `${p.type === 'int' ? 'whole, ' : ''}${value(p.low)} to ${value(p.high)}${p.step ? `, in steps of ${value(p.step)}` : ''}` : '',
  p.when ? `only with ${condition(p)}` : '',
].filter(Boolean).join('; ');
