// The page's frame: the key, the address, what is around each view.
import { get, giveKey, onRefused, takeKey } from './api.js';
import { html, render, useAnswer, useEffect, useMemo, useRef, useState, useStore } from './ui.js';
import { count, lines, plain } from './format.js';
import { TaskStore } from './store.js';
import { Fleet } from './fleet.js';
import { Curves } from './curves.js';
import { Contributions } from './contributions.js';
import { Model } from './model.js';
import { Constraints, Disclosed, StrategyStatus } from './more.js';
import { Progress } from './progress.js';
import { Queue, Writing } from './write.js';
import { Sites } from './sites.js';
import { CopyLink } from './link.js';
import { Timeline } from './timeline.js';
import { Trials } from './trials.js';
import { taskPath } from './api.js';

const views = [
  { id: 'progress', name: 'Progress', view: Progress },
  { id: 'contributions', name: 'Peer contributions', view: Contributions, running: true },
  { id: 'model', name: 'The model', view: Model, running: true },
  { id: 'trials', name: 'Trials', view: Trials },
  { id: 'curves', name: 'Curves', view: Curves, of: (_, store) => store.stepped },
  { id: 'timeline', name: 'Timeline', view: Timeline },
  { id: 'queue', name: 'Queue', view: Queue },
  { id: 'sites', name: 'Sites', view: Sites },
  { id: 'constraints', name: 'Constraints', view: Constraints, of: (task) => task?.constraints?.length > 0 },
  { id: 'strategy', name: 'Strategy', view: StrategyStatus, running: true },
  { id: 'disclosed', name: 'Disclosed data', view: Disclosed, running: true },
];

// routeOf reads the address: #/fleet or #/task/ID/VIEW/TRIAL?QUERY.
function routeOf(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').map((part) => { try { return decodeURIComponent(part); } catch { return ''; } });
  const trial = Number(parts[3]);
  return { page: parts[0], task: parts[1] ?? '', view: parts[2] || 'progress', trial: Number.isSafeInteger(trial) && trial > 0 ? trial : 0, query: new URLSearchParams(query) };
}

function useRoute() {
  const [route, set] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = () => {
      if (takeKey().given) location.reload(); // another start of the node
      else set(routeOf(location.hash));
    };
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

function Notice({ title, children }) {
  return html`<main class="notice" id="main"><h1>${title}</h1>${children}</main>`;
}

function App({ held }) {
  const [refused, setRefused] = useState(false);
  useEffect(() => onRefused(() => setRefused(true)), []);
  const route = useRoute();
  if (!held) return html`<${Notice} title="A key is missing"><p>This page shows the data of a node to each visitor who has the key in the node’s link.</p><p>Open the link that the node printed at its start, or run <code>fbo-node web</code>, which prints a new one.</p><${GiveKey} /></${Notice}>`;
  if (refused) return html`<${Notice} title="This key is not valid"><p>The node does not take this page’s key, or does not take it any more: each start has a key of its own.</p><p>Run <code>fbo-node web</code>, which prints a new link.</p></${Notice}>`;
  return html`<${Shell} route=${route} />`;
}

// GiveKey takes the node's link or its key, and shows what the address names.
function GiveKey() {
  const field = useRef(null);
  const use = () => { if (giveKey(field.current.value)) location.reload(); };
  return html`<p><label>The node’s link or key <input type="password" autocomplete="off" ref=${field} onKeyDown=${(e) => e.key === 'Enter' && use()} /></label> <button type="button" onClick=${use}>Open</button></p>`;
}

function Shell({ route }) {
  const [list, setList] = useState(null);
  const [failure, setFailure] = useState(null);
  const [stopped, setStopped] = useState(false);
  useEffect(() => { get('/v1/node').then((node) => setStopped(node.stopped === true), () => {}); }, []);
  useEffect(() => {
    let over = false;
    let timer;
    const read = async () => {
      try {
        const { tasks } = await get('/v1/tasks');
        if (over) return;
        setList(tasks);
        setFailure(null);
      } catch (error) {
        if (!over) setFailure(error);
      }
      if (!over) timer = setTimeout(read, 15_000);
    };
    read();
    return () => { over = true; clearTimeout(timer); };
  }, []);
  // Without a view in the address the only task is shown, or all of them.
  useEffect(() => {
    const { page } = routeOf(location.hash); // newer than the route while its event is pending
    if (list && page !== 'task' && page !== 'fleet') {
      history.replaceState(null, '', list.length === 1 ? `#/task/${encodeURIComponent(list[0].id)}/progress` : '#/fleet');
      dispatchEvent(new HashChangeEvent('hashchange'));
    }
  }, [list, route.page]);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  const main = useRef(null);
  return html`
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); main.current.focus(); }}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="#/fleet" aria-current=${route.page === 'fleet' ? 'page' : undefined}><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M16 16 6 7M16 16l10-9M16 16v11" /><circle class="self" cx="16" cy="16" r="5.5" /><circle cx="6" cy="7" r="3.5" /><circle cx="26" cy="7" r="3.5" /><circle cx="16" cy="27" r="3.5" /></svg> All tasks</a>
      ${list?.length > 1 && route.page === 'task' && html`<label class="choose"><span class="unseen">Task</span><select value=${route.task} onChange=${(e) => { location.hash = `#/task/${encodeURIComponent(e.target.value)}/progress`; }}>${list.map((t) => html`<option key=${t.id} value=${t.id}>${plain(t.name, 64)}</option>`)}</select></label>`}
      <span class="room"></span>
      <${Theme} />
    </header>
    ${route.page === 'task' ? html`<${Task} key=${route.task} route=${route} now=${now} main=${main} stopped=${stopped} />`
      : html`<main id="main" tabindex="-1" ref=${main}><h1>All tasks</h1>${failure && !list ? html`<p class="warning" role="status">The node does not answer: ${plain(failure.message)}</p>` : ''}<${Fleet} now=${now} /></main>`}`;
}

function Task({ route, now, main, stopped }) {
  const store = useMemo(() => new TaskStore(route.task), [route.task]);
  useEffect(() => () => store.close(), [store]);
  useStore(store);
  const task = store.task;
  const shown = views.filter((v) => (!v.of || v.of(task?.task, store)) && !(stopped && v.running));
  const current = shown.find((v) => v.id === route.view) ?? shown[0];
  const { done } = store.summary();
  const contributions = useAnswer((signal) => (current.id === 'trials' || current.id === 'model' ? Promise.resolve(null) : get(taskPath(store.id, '/contributions'), signal)),
    [store.id, store.shares, done.length, current.id === 'trials' || current.id === 'model', Math.floor(now / 20_000)], 5000);
  const base = `#/task/${encodeURIComponent(route.task)}/`;
  const go = useMemo(() => (view, trial) => base + view + (trial ? '/' + trial : ''), [base]);
  useEffect(() => {
    document.title = `${task ? plain(task.name, 64) : 'Task'}: ${current.name}`;
  }, [task, current.id]);
  return html`
    <div class="title">
      <h1>${task ? plain(task.name, 64) : 'Task'}</h1>
      <p class="muted">${task ? `${wantedOf(store)} wanted · ${count(store.parameters.length, 'parameter')} · strategy ${plain(task.task?.strategy?.type, 40)}${task.task?.unit ? ` · outcome in ${plain(task.task.unit, 32)}` : ''}` : '\u00a0'}</p>
      ${task?.task?.description && html`<p class="note">${lines(task.task.description)}</p>`}
      ${task?.task?.tags?.length > 0 && html`<p>${task.task.tags.map((t) => html`<span class="tag">${plain(t, 64)}</span> `)}</p>`}
      ${!stopped && html`<${Connection} store=${store} now=${now} />`}
    </div>
    <div class="controls tools"><${CopyLink} /><${Writing} stopped=${stopped} />    </div>
    <nav class="tabs" aria-label="Views of the task"><ul>${shown.map((v) => html`<li key=${v.id}><a href=${go(v.id)} aria-current=${v.id === current.id ? 'page' : undefined}>${v.name}</a></li>`)}</ul></nav>
    <main id="main" tabindex="-1" ref=${main}>
      ${store.error && html`<p class="warning" role="status">${store.error.status === 404 ? 'The node serves no such task.' : 'The trials could not be read: ' + plain(store.error.message)}</p>`}
      ${task ? html`<${current.view} key=${current.id} ...${{ store, contributions, go, now, chosen: route.trial, query: route.query }} />` : !store.error && html`<p class="muted">Reading the task …</p>`}
    </main>`;
}

// wantedOf states the goal of a task, or that of each of several objectives.
function wantedOf(store) {
  const word = (goal) => (goal === 'maximize' ? 'largest' : 'smallest');
  return store.objectives.length > 0 ? store.objectives.map((o) => `${word(o.goal)} ${plain(o.name, 64)}`).join(' and ') : `${word(store.task.goal)} outcome`;
}

function Connection({ store, now }) {
  const { state, until } = store.connection;
  const wait = Math.max(0, Math.ceil((until - Math.max(now, Date.now())) / 1000));
  const text = { connecting: 'connecting …', live: 'live', gone: 'the node does not serve this task any more' }[state] ?? `connection lost${wait > 1 ? `, trying again in ${wait} s` : ', trying again'}`;
  return html`<p class=${'connection ' + state} role="status">${text}</p>`;
}

const themes = ['system', 'light', 'dark'];

function Theme() {
  const [theme, set] = useState(() => localStorage.getItem('fbo-theme') ?? 'system');
  useEffect(() => {
    if (theme === 'system') localStorage.removeItem('fbo-theme');
    else localStorage.setItem('fbo-theme', theme);
    applyTheme();
  }, [theme]);
  return html`<label class="theme"><span>Colours</span> <select value=${theme} onChange=${(e) => set(e.target.value)}>${themes.map((t) => html`<option value=${t}>${t === 'system' ? 'as the system' : t}</option>`)}</select></label>`;
}

function applyTheme() {
  const theme = localStorage.getItem('fbo-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  dispatchEvent(new Event('theme'));
}

applyTheme();
const { held } = takeKey();
const root = document.getElementById('page');
root.textContent = '';
render(html`<${App} held=${held} />`, root);
