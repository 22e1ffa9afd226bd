// A node that is made up: the page's files, and answers as a node gives them, for what a real
// node has not got in a short check: 10,000 trials, peers and texts that mean ill.
//
//   node mock.mjs [--trials N] [--rate TRIALS_A_SECOND] [--hostile] [--empty] [--noisy] [--conditional] [--curves] [--goals] [--port PORT]
//
// It prints the page's link. It is a fixture, and knows nothing of the optimisation.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', 'page');
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const kinds = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.LICENSE': 'text/plain' };
const me = '12D3KooWMo5gRbZQ4vRn2bkAA8T5BG1XXwF2pTsedRDBCuBhJQN2';
const key = 'KEYOFTHEMOCKNODEAAAAAAAAAA';

// What must never become an element, and what must not be shown as it is.
const markup = '<img src=x onerror="window.owned=1"><script>window.owned=1</script><b class="owned">bold</b>';
const control = '\u001b[31mred\u0007 \u202egpj.exe\u0000 \u200bwide\u2066';
export const hostileText = markup + control + "'\"}{${7*7}` javascript:window.owned=1";

function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// active reports whether a parameter of a task is active in a design.
const active = (parameter, design) => Object.entries(parameter.when ?? {}).every(([parent, c]) => design[parent] !== undefined &&
  (Array.isArray(c) ? c.includes(design[parent]) : design[parent] >= (c.low ?? -Infinity) && design[parent] <= (c.high ?? Infinity)));

export function mock({ trials = 60, rate = 0, hostile = false, empty = false, noisy = false, conditional = false, curves = false, goals = false } = {}) {
  const text = (plain) => (hostile ? plain + hostileText : plain);
  const id = hostile ? 'bagu' + encodeURIComponent(markup) : 'baguqeeramockmockmockmockmockmock';
  const next = random(7);
  const peers = ['Qm7aKd2P', 'x9TfLw4z', 'PbR3sVn8', 'h2GcYe6u', 'Zk5oXj1m', 'W8dNtq3A', 'e4JvUb7C'].map((name, i) => ({
    id: hostile ? text('12D3KooW' + name) : '12D3KooWHosTofTheMockNodeThatIsMadeUp12345678' + name, name: text(name),
    path: ['direct', 'direct', 'relayed', 'direct', 'disconnected', 'relayed', 'banned'][i],
    address: text(i === 4 || i === 6 ? '' : `/ip4/198.51.100.${i + 4}/udp/4001/quic-v1`), present: i < 4, shares: [4, 7, 2, 0, 3, 5, 1][i],
    observations: [12, 31, 6, 0, 9, 22, 4][i] || undefined, last_share: i === 3 ? undefined : new Date(Date.now() - 40_000 * (i * i + 1)).toISOString(),
    location: i < 3 ? { parameters: { learning_rate: 0.03 * (i + 1), batch_size: 40 + i, optimizer: hostile ? markup : 'adam', nesterov: true, momentum: 0.5, hidden_units: 64 }, spread: 0.25 } : undefined,
    designs: [], weight: [0.93, 0.71, 0.34, undefined, 0.08, 0.55, undefined][i],
    explanation: text(['its shares fit the outcomes of this node', 'its shares mostly fit the outcomes of this node', 'its shares hardly fit the outcomes of this node', '', 'its shares do not fit the outcomes of this node', 'its shares mostly fit the outcomes of this node', ''][i]) || undefined,
  }));
  const task = {
    fbo: 3, name: text('wearable-lr'), goal: 'minimize', failures: 'constraint',
    parameters: [
      { name: 'learning_rate', type: 'float', low: 0.001, high: 1, scale: 'log' },
      { name: 'batch_size', type: 'int', low: 20, high: 100, scale: 'linear' },
      { name: 'optimizer', type: 'categorical', choices: ['sgd', hostile ? markup : 'adam', 'rmsprop'] },
      { name: 'nesterov', type: 'bool' },
      { name: 'momentum', type: 'float', low: 0, high: 0.95, step: 0.05, scale: 'linear' },
      { name: 'hidden_units', type: 'int', choices: [16, 32, 64, 256] },
    ],
    constraints: [{ name: 'gap', high: 0.2 }, { name: 'latency_ms', low: 1, high: 10 }],
    strategy: { type: 'fair', roster: [me] }, privacy: { mechanism: 'local', epsilon: 4, delta: 1e-5, releases: 10 },
  };
  if (goals) {
    delete task.privacy;
    task.strategy = { type: 'alone' };
    task.objectives = [{ name: text('error'), goal: 'minimize', reference: 0.6 }, { name: text('speed'), goal: 'maximize', reference: 0 }, { name: text('memory'), goal: 'minimize', reference: 400 }];
  }
  if (conditional) { // nesterov depends on momentum, which depends on optimizer: the best design has neither
    task.parameters[4].when = { optimizer: ['sgd'] };
    task.parameters[3].when = { momentum: { low: 0.3 } };
  }
  const settle = (design) => { for (const i of [4, 3]) if (!active(task.parameters[i], design)) delete design[task.parameters[i].name]; };
  const begin = Date.now() - 90_000 * Math.min(trials, 200) - 65_000;
  const all = [];
  const objective = (p) => 0.12 + 0.05 * (Math.log10(p.learning_rate) + 1.6) ** 2 + 0.00002 * (p.batch_size - 44) ** 2 +
    (p.optimizer === 'sgd' ? 0.03 : 0) - 0.02 * (p.momentum ?? 0) + 0.00006 * Math.abs(p.hidden_units - 64);
  function add(state) {
    const n = all.length + 1;
    const focus = 1 / (1 + n / 25);
    const p = {
      learning_rate: 10 ** Math.min(0, Math.max(-3, -1.6 + (next() - 0.5) * 3.4 * focus)), batch_size: Math.round(44 + (next() - 0.4) * 70 * focus),
      optimizer: task.parameters[2].choices[next() < 0.4 * focus ? 0 : next() < 0.3 ? 2 : 1], nesterov: next() < 0.5,
      momentum: Math.round(next() * 19) / 20, hidden_units: [16, 32, 64, 256][Math.floor(next() * 4)],
    };
    settle(p);
    const started = new Date(begin + n * (trials > 500 ? 2_000 : 90_000));
    const trial = { id: n, parameters: p, why: { source: 'own', own_probability: 0.5 }, state: 'running', attempts: 1, started: started.toISOString() };
    if (n <= 5) trial.why = { source: 'initial' };
    else if (next() < 0.4) {
      const i = Math.floor(next() * 3);
      if (next() < 0.3) trial.why = { source: 'mean', phrase: text('average of 3 peers'), peer_count: 3, observations: 40 };
      else trial.why = { source: 'peer', phrase: text(`sample of peer …${peers[i].name.slice(0, 8)}`), peer: peers[i].id, stamp: { epoch: 1, sequence: n }, observations: 12 };
    }
    if (n % 9 === 0) Object.assign(trial, { attributes: { commit: text('f00' + n) }, tags: [text('a tag')], files: [{ path: text('out/model.pt'), sha256: '0f'.repeat(32) }], notes: [{ id: 1, time: started.toISOString(), author: text('Ada'), text: text('looked at the curve of trial ' + n) }] });
    if (n % 13 === 0) trial.client = text('worker-3');
    if (n % 3 === 1 && n > 20) trial.client = 'worker-1';
    all.push(trial);
    if (curves && state === 'running') trial.steps = curveOf(trial, 1 + (n % 12));
    if (state !== 'running') finish(trial, started.getTime() + 20_000 + next() * 60_000);
    return trial;
  }
  // curveOf falls to what the trial measures.
  function curveOf(trial, steps) {
    const v = objective(trial.parameters);
    return [...Array(steps)].map((_, i) => ({ step: i + 1, value: v + (0.2 + 0.1 * (trial.id % 5)) * 0.8 ** i + 0.01 * Math.sin(trial.id + i) }));
  }
  // report adds a value to a trial, and sends the event, which has the new value only.
  function report(id, step, value) {
    const trial = all[id - 1];
    const added = [{ step, value }];
    trial.steps = [...(trial.steps ?? []), ...added];
    send('trial_reported', { trial: { ...trial, steps: added } });
  }
  function finish(trial, at = Date.now()) {
    trial.finished = new Date(at).toISOString();
    if (trial.why.peer) peers.find((p) => p.id === trial.why.peer).designs.push(trial.id);
    if (curves) trial.steps = curveOf(trial, trial.id % 17 === 9 ? 5 : trial.id % 11 === 4 ? 4 : 20);
    if (curves && trial.id % 11 === 4) {
      trial.state = 'stopped';
      trial.stop = trial.id % 2 ? { rule: text('program'), step: 4, reason: text('the loss rose') } : { rule: 'asha', step: 4, reason: '0.61 at step 4 is 3rd of 3 trials; expected among the best 1' };
      return;
    }
    if (trial.id % 17 === 9) {
      trial.state = 'failed';
      trial.reason = text('exit status 1: training diverged, loss is nan');
      return;
    }
    trial.state = 'done';
    const v = objective(trial.parameters) + 0.006 * (next() - 0.5);
    trial.outcome = { value: v, constraints: { gap: 0.05 + 0.3 * next() * next(), latency_ms: 2 + trial.parameters.hidden_units / 30 * next() * 1.4 }, metrics: { accuracy: 1 - v } };
    if (goals) Object.assign(trial.outcome.metrics, { [task.objectives[1].name]: 90 - trial.parameters.batch_size * next() + 200 * v, [task.objectives[2].name]: 40 + trial.parameters.hidden_units * next() });
    const violated = [];
    if (trial.outcome.constraints.gap > 0.2) violated.push('gap');
    if (trial.outcome.constraints.latency_ms > 10) violated.push('latency_ms');
    if (violated.length) trial.violated = violated;
  }
  if (!empty) for (let i = 0; i < trials; i++) add(i >= trials - 2 && trials > 2 ? 'running' : 'done');

  const best = () => all.filter((t) => t.state === 'done' && !t.violated).reduce((a, b) => (a && a.outcome.value <= b.outcome.value ? a : b), null);
  const counts = () => all.reduce((c, t) => (c[t.state]++, c), { waiting: 0, running: 0, done: 0, stopped: 0, failed: 0 });
  // front has what no other dominates, by all pairs: a second way to what the page shows.
  const scores = (t) => task.objectives.map((o, i) => (o.goal === 'maximize' ? 1 : -1) * (i === 0 ? t.outcome.value : t.outcome.metrics[o.name]));
  const front = () => {
    const done = all.filter((t) => t.state === 'done' && !t.violated).map((t) => ({ t, s: scores(t) }));
    const dominates = (a, b) => a.s.every((v, k) => v >= b.s[k]) && a.s.some((v, k) => v > b.s[k]);
    return done.filter((b) => !done.some((a) => dominates(a, b))).map(({ t }) => t).sort((a, b) => a.outcome.value - b.outcome.value);
  };
  const grid = (p, n) => p.type === 'bool' ? [false, true] : p.choices ? p.choices :
    [...Array(n)].map((_, i) => p.scale === 'log' ? p.low * (p.high / p.low) ** (i / (n - 1)) : p.low + (p.high - p.low) * i / (n - 1));
  const streams = new Set();
  let events = 0;
  const send = (event, data) => {
    events++;
    for (const s of streams) s.write(`id: ${events}\nevent: ${event}\ndata: ${JSON.stringify({ event, ...data })}\n\n`);
  };
  let timer;
  if (rate > 0) timer = setInterval(() => {
    if (curves) for (const t of all.filter((t) => t.state === 'running')) report(t.id, t.steps.length + 1, t.steps.at(-1).value * 0.97);
    const running = all.find((t, i) => i >= all.length - 5 && t.state === 'running');
    if (running) finish(running), send('trial_finished', { trial: running, best: best() });
    send('trial_started', { trial: add('running') });
    if (all.length % 3 === 0) send('share_received', { peer: peers[all.length % 4].id });
  }, 1000 / rate);

  const log = [];
  if (!empty) for (let i = 1; i <= 12; i++) log.push({ id: i, time: new Date(Date.now() - (13 - i) * 400_000).toISOString(), task: i % 3 ? 'wearable-lr' : '', text: text(['peer …Qm7aKd2P has gone: the connection was reset', 'trial 26 failed: training diverged', 'no hub can be reached; trying again in 30 s'][i % 3]) });

  const answers = {
    '/v1/node': () => ({ version: text('1.4.0'), peer_id: me, addresses: [text('/ip4/192.0.2.7/udp/4001/quic-v1'), text('/ip4/127.0.0.1/tcp/4001')], tasks: 2 }),
    '/v1/tasks': () => ({ tasks: [{ id, name: task.name, goal: 'minimize', objectives: task.objectives?.map((o) => o.name), trials: counts() }, { id: 'baguother', name: text('bowl'), goal: 'maximize', trials: { waiting: 0, running: 0, done: 0, failed: 0 } }] }),
    '/v1/log': () => ({ lines: log }),
  };
  const ofTask = {
    '': () => ({ id, name: task.name, goal: task.goal, trials: counts(), task }),
    '/best': () => ({ trial: best(), recommended: noisy && best() ? { parameters: best().parameters, predicted: 0.125, noisy, reason: text('the noise of outcomes is larger than the differences between designs') } : undefined }),
    '/front': () => ({ objectives: task.objectives.map((o) => o.name), hypervolume: 900.5, history: front().map((t) => t.id).sort((a, b) => a - b).map((id, i, ids) => ({ trial: id, hypervolume: 900.5 * (i + 1) / ids.length })), trials: front() }),
    '/recommendation': () => ({ parameters: best()?.parameters ?? null }),
    '/status': () => ({ task: id, name: task.name, peer_id: me, trials: counts(), shares_sent: 18, shares_received: 41, bytes_sent: 48213, bytes_received: 99120, stored: { authors: 5, peer_shares: 22, own_shares: 9 },
      present: [me, ...peers.filter((p) => p.present).map((p) => p.id)], presence_agreed: true,
      items: [
        { key: 'privacy', label: 'privacy', value: { planned: 10, released: 6 }, text: text('6 of 10 releases spent') },
        { key: 'sums', label: 'sums', value: { known: 14, failed: 2 }, text: text('14 known, 2 rounds without one in this run; the last: 2 of 5 members of the committee did not answer in time') },
        { key: 'rewards', label: text('rewards'), value: [], rows: [['party', 'evaluations', 'best', 'sum', 'better than average by'].map(text), ...[me, ...peers.slice(0, 3).map((p) => p.id)].map((party, i) => [text(party), String(20 + i), '0.12', '5.2', '+0.4'])] },
      ] }),
    '/peers': () => ({ peers: peers.filter((p) => p.path === 'direct' || p.path === 'relayed').map(({ id, path, address }) => ({ id, path, address })), present: [me], hubs: [{ id: text('12D3KooWHub'), connected: true, reachable: true }] }),
    '/privacy': () => ({ reveals: hostile ? hostileText : 'Peers get a noisy sum.', dp_guarantee: true, planned: 10, released: 6, epsilon: 4, epsilon_spent: 2.93, delta: 1e-5, refused: hostile ? hostileText : undefined }),
    '/rounds': () => ({ present: [me, ...peers.filter((p) => p.present).map((p) => p.id)], presence_agreed: true }),
    '/contributions': () => (empty ? { summary: 'no other node has connected on this task', comparison: '', peers: [] } : { summary: text('the shares of 3 of 5 peers fit the outcomes of this node'), comparison: text('22 of 58 evaluated designs used peers’ shares. Peers’ shares improved the predictions of this node (log density +0.31 ± 0.1 per result, 22 results). This run does not show what the node would have reached alone.'), peers }),
    '/model': (query) => {
      const b = best();
      if (!b) return { outcomes: 0, trial: 0, design: null, interval: 0.95, slices: [], importance: [], method: "first-order Sobol' indices of the posterior mean" };
      const slices = task.parameters.filter((p) => active(p, b.parameters)).map((p) => {
        const values = grid(p, Number(query.get('points') ?? 41));
        const mean = values.map((v) => objective({ ...b.parameters, [p.name]: v }));
        const width = values.map((v, i) => 0.004 + 0.03 * Math.abs(i / values.length - 0.5));
        return { parameter: p.name, values, mean, low: mean.map((m, i) => m - width[i]), high: mean.map((m, i) => m + width[i]), feasible: mean.map((_, i) => 0.95 - 0.6 * Math.abs(i / values.length - 0.4)) };
      });
      return { outcomes: counts().done, trial: b.id, design: b.parameters, interval: 0.95, slices, importance: task.parameters.map((p, i) => ({ parameter: p.name, importance: [0.61, 0.14, 0.11, 0.002, 0.03, 0.05][i] })), method: text("first-order Sobol' indices of the posterior mean") };
    },
    '/contour': (query) => {
      const x = task.parameters.find((p) => p.name === query.get('x')), y = task.parameters.find((p) => p.name === query.get('y'));
      const b = best();
      if (!b) return { outcomes: 0, x: x.name, y: y.name, xs: [], ys: [], mean: [], deviation: [] };
      const xs = grid(x, 25), ys = grid(y, 25);
      return { outcomes: counts().done, x: x.name, y: y.name, xs, ys, mean: ys.map((v) => xs.map((u) => objective({ ...b.parameters, [x.name]: u, [y.name]: v }))),
        deviation: ys.map((_, j) => xs.map((_, i) => 0.004 + 0.02 * Math.hypot(i / xs.length - 0.4, j / ys.length - 0.4))) };
    },
  };

  const queued = [];
  let lastQueued = 0;
  const addQueued = (parameters) => { settle(parameters); queued.push({ id: ++lastQueued, parameters, enqueued: new Date().toISOString() }); return queued.at(-1); };
  if (!empty) addQueued({ learning_rate: 0.1, batch_size: 30, optimizer: hostile ? markup : 'adam', nesterov: false, momentum: 0.5, hidden_units: 32 });
  const token = 'TOKENOFTHEMOCKNODEAAAAAAAA';
  const keys = new Map(); // answers to requests that were carried out

  // writes answers what the token alone permits.
  const writes = async (request, rest, answer) => {
    let body = '';
    for await (const part of request) body += part;
    const given = body ? JSON.parse(body) : null;
    const once = request.headers['idempotency-key'];
    if (!once) return answer(422, { title: 'no key', status: 422, detail: 'the page sends a key' });
    if (keys.has(once)) return answer(...keys.get(once));
    const reply = (...all) => { keys.set(once, all); answer(...all); };
    if (request.method === 'POST' && rest === '/enqueue') {
      const wrong = task.parameters.filter((p) => (given.parameters[p.name] === undefined) === active(p, given.parameters) || (given.parameters[p.name] !== undefined && typeof p.low === 'number' && !(given.parameters[p.name] >= p.low && given.parameters[p.name] <= p.high)));
      if (wrong.length) return answer(422, { title: 'Unprocessable Entity', status: 422, detail: text('body.parameters.' + wrong[0].name + ': not accepted'), errors: wrong.map((p) => ({ location: 'body.parameters.' + p.name, message: text('not accepted') })) });
      const { id: queuedID, parameters } = addQueued(given.parameters);
      send('design_enqueued', {});
      return reply(200, { id: queuedID, parameters });
    }
    const annotated = /^\/trials\/(\d+)\/annotate$/.exec(rest);
    if (request.method === 'POST' && annotated) {
      const t = all[annotated[1] - 1];
      t.notes = (t.notes ?? []).filter((n) => !given.remove_notes?.includes(n.id));
      if (given.note) t.notes.push({ id: 1 + Math.max(0, ...t.notes.map((n) => n.id)), time: new Date().toISOString(), text: given.note });
      return reply(200, t);
    }
    const one = /^\/queue\/(\d+)$/.exec(rest);
    const i = one ? queued.findIndex((q) => q.id === Number(one[1])) : -1;
    if (request.method === 'DELETE' && i >= 0) {
      queued.splice(i, 1);
      return reply(204, '');
    }
    return answer(404, { title: 'Not Found', status: 404, detail: 'no such path' });
  };

  // hold lets answers with trials wait until its result is called, and missed has the page read them.
  let held = Promise.resolve();
  let holding = 0; // answers that wait
  const hold = () => { let release; held = new Promise((then) => { release = then; }); return release; };
  const missed = () => { for (const s of streams) s.write('event: missed\ndata: {}\n\n'); };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    const answer = (status, body, type = 'application/json') => {
      response.writeHead(status, { 'Content-Type': type });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    if (!url.pathname.startsWith('/v1/')) {
      const path = url.pathname === '/' ? '/page/index.html' : url.pathname;
      try {
        const file = normalize(join(root, path.replace(/^\/page\//, '')));
        if (!path.startsWith('/page/') || !file.startsWith(root)) throw new Error('outside');
        const data = readFileSync(file);
        response.writeHead(200, { 'Content-Type': kinds[extname(file)], 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-cache' });
        return response.end(data);
      } catch {
        return answer(404, 'none', 'text/plain');
      }
    }
    const writer = request.headers.authorization === 'Bearer ' + token;
    if (request.headers.authorization !== 'Bearer ' + key && !writer) return answer(401, { title: 'Unauthorized', status: 401, detail: 'no token' });
    if (answers[url.pathname]) return answer(200, answers[url.pathname]());
    const [, name, rest] = /^\/v1\/tasks\/([^/]+)(.*)$/.exec(url.pathname) ?? [];
    if (decodeURIComponent(name ?? '') !== id) return answer(404, { title: 'Not Found', status: 404, detail: text('no such task') });
    if (request.method !== 'GET') return writer ? void writes(request, rest, answer) : answer(405, { title: 'Method Not Allowed', status: 405, detail: 'read only' });
    if (rest === '/queue') return answer(200, { queued });
    if (ofTask[rest]) return answer(200, ofTask[rest](url.searchParams));
    if (rest === '/trials') {
      const after = Number(url.searchParams.get('after') ?? 0), limit = Number(url.searchParams.get('limit') ?? 100);
      const page = all.slice(after, after + limit);
      const text = JSON.stringify({ trials: page, next: after + limit < all.length ? page.at(-1).id : undefined });
      holding++;
      return void held.then(() => { holding--; answer(200, text); });
    }
    const one = /^\/trials\/(\d+)(\/output)?$/.exec(rest);
    if (one && all[one[1] - 1]) {
      const trial = all[one[1] - 1];
      if (!one[2]) return answer(200, trial);
      return trial.state === 'failed' ? answer(200, { text: text('epoch 1: loss 0.71\nepoch 2: loss 3.2e9\nepoch 3: loss nan\nTraceback (most recent call last):\n  File "train.py", line 88, in <module>\nValueError: training diverged\n'), truncated_bytes: 1024 })
        : answer(404, { title: 'Not Found', status: 404, detail: 'nothing that it printed is kept' });
    }
    if (rest === '/export') return answer(200, url.searchParams.get('format') === 'csv' ? 'id,value\n' + all.map((t) => `${t.id},${t.outcome?.value ?? ''}`).join('\n') : all, url.searchParams.get('format') === 'csv' ? 'text/csv' : 'application/json');
    if (rest === '/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(': events\n\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    answer(404, { title: 'Not Found', status: 404, detail: 'no such path' });
  });
  const connections = new Set();
  server.on('connection', (c) => { connections.add(c); c.on('close', () => connections.delete(c)); });
  const listen = (port) => new Promise((done) => server.listen(port, '127.0.0.1', () => done(`http://127.0.0.1:${server.address().port}/#key=${key}`)));
  const close = () => { clearInterval(timer); for (const c of connections) c.destroy(); return new Promise((done) => server.close(done)); };
  // burst ends a trial and begins another, count times, as fast as it can.
  const burst = (count) => { for (let i = 0; i < count; i++) { const t = add('running'); finish(t); send('trial_finished', { trial: t, best: best() }); } };
  // end ends a trial, and sends the event.
  const end = (id) => { const t = all[id - 1]; finish(t); send('trial_finished', { trial: t, best: best() }); };
  return { listen, close, burst, report, end, hold, missed, holding: () => holding, id, all, queued, token, front };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const given = (name) => { const i = process.argv.indexOf(name); return i < 0 ? undefined : process.argv[i + 1]; };
  const m = mock({ trials: Number(given('--trials') ?? 60), rate: Number(given('--rate') ?? 0), hostile: process.argv.includes('--hostile'), empty: process.argv.includes('--empty'), noisy: process.argv.includes('--noisy'), conditional: process.argv.includes('--conditional'), curves: process.argv.includes('--curves'), goals: process.argv.includes('--goals') });
  console.log('page: ' + await m.listen(Number(given('--port') ?? 0)));
}
