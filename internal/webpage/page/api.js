// Questions to the node, with the key of the page's link.

const place = 'fbo-key';

// takeKey takes the key out of the page's address, where it could be read from the
// history or a screenshot, and keeps it until the tab is closed. It returns whether there is one.
export function takeKey() {
  const given = /^#key=([^&]+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(place, decodeURIComponent(given[1]));
    history.replaceState(null, '', location.pathname + '#/');
  }
  return { given: Boolean(given), held: Boolean(sessionStorage.getItem(place)) };
}

// giveKey keeps the key of a link or the key itself, and returns whether there is one.
export function giveKey(text) {
  const key = text.trim().replace(/^.*#key=/, '');
  if (!/^[!-~]+$/.test(key)) return false;
  sessionStorage.setItem(place, decodeURIComponent(key));
  return true;
}

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

// Called when the node does not take the key.
let refused = () => {};
export const onRefused = (then) => { refused = then; };

export const taskPath = (id, rest = '') => `/v1/tasks/${encodeURIComponent(id)}${rest}`;

export async function ask(path, { signal, headers, accept = 'application/json' } = {}) {
  const response = await fetch(path, {
    signal, cache: 'no-store', credentials: 'omit', redirect: 'error',
    headers: { Authorization: 'Bearer ' + sessionStorage.getItem(place), Accept: accept, ...headers },
  });
  if (response.status === 401) refused();
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Refused(response.status, problem.detail || problem.title || `status ${response.status}`);
  }
  return response;
}

export const get = async (path, signal) => (await ask(path, { signal })).json();

// The token permits writing. It is kept in memory only: it outlives the node, and whatever is served
// at this address later could read what a tab has stored.
let token = '';
const writers = new Set();
export const mayWrite = () => token !== '';
export const onWriter = (then) => { writers.add(then); return () => writers.delete(then); };

function setToken(text) {
  token = text;
  for (const then of writers) then();
}
export const forgetToken = () => setToken('');

// tryToken keeps a token if the node accepts it.
export async function tryToken(text) {
  const given = text.trim();
  if (!/^[!-~]+$/.test(given)) throw new Refused(0, 'expected the one line of the file http.token');
  const response = await fetch('/v1/node', { cache: 'no-store', credentials: 'omit', redirect: 'error', headers: { Authorization: 'Bearer ' + given } });
  if (!response.ok || given === sessionStorage.getItem(place)) throw new Refused(response.status, 'the node does not accept this token');
  setToken(given);
}

// write sends a request that changes something. A repeated request has the same key, so that the
// node carries it out once.
export async function write(method, path, body, key) {
  const response = await fetch(path, {
    method, cache: 'no-store', credentials: 'omit', redirect: 'error', body: body && JSON.stringify(body),
    headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json', 'Idempotency-Key': key },
  });
  if (response.status === 401) forgetToken();
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw Object.assign(new Refused(response.status, problem.detail || problem.title || `status ${response.status}`), { errors: problem.errors ?? [] });
  }
  return response.status === 204 ? null : response.json();
}

// save offers an answer as a file.
export async function save(path, name, accept) {
  const blob = await (await ask(path, { accept })).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// A node sends a message at least every 15 s; a connection that is silent for longer is lost.
const silence = 40_000;

// follow reads the events of a task permanently, and begins again where it was when the connection
// is lost. It calls event(type, data), and state('live' | 'lost' | 'gone', until when it waits).
export function follow(id, { event, state, missed }) {
  const end = new AbortController();
  let last = null;
  let pause = 1;
  (async () => {
    while (!end.signal.aborted) {
      try {
        await read();
      } catch (error) {
        if (error.status === 404) return state('gone');
        if (error.status === 401) return;
      }
      if (end.signal.aborted) return;
      state('lost', Date.now() + pause * 1000);
      await new Promise((then) => setTimeout(then, pause * 1000));
      pause = Math.min(30, pause * 2);
    }
  })();

  async function read() {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    end.signal.addEventListener('abort', stop);
    let watch = setTimeout(stop, silence);
    try {
      const response = await ask(taskPath(id, '/events'), {
        signal: attempt.signal, accept: 'text/event-stream', headers: last === null ? {} : { 'Last-Event-ID': last },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      let begun = false;
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(watch);
        watch = setTimeout(stop, silence);
        if (!begun) {
          begun = true;
          pause = 1;
          state('live');
          if (last === null) missed(); // what happened before the stream began
        }
        rest += value;
        const parts = rest.split('\n\n');
        rest = parts.pop();
        for (const part of parts) take(part);
      }
    } finally {
      clearTimeout(watch);
      end.signal.removeEventListener('abort', stop);
      attempt.abort();
    }
  }

  function take(text) {
    let type = 'message';
    let data = '';
    for (const line of text.split('\n')) {
      if (line.startsWith('id: ')) last = line.slice(4);
      else if (line.startsWith('event: ')) type = line.slice(7);
      else if (line.startsWith('data: ')) data += line.slice(6);
    }
    if (type === 'missed') missed();
    else if (data) event(type, JSON.parse(data));
  }

  return () => end.abort();
}
