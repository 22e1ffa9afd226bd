// The page's state of one task, updated by the stream of events.
import { follow, get, taskPath } from './api.js';
import { fromPeers } from './format.js';

// How often the page is drawn again at most, in milliseconds.
const interval = 250;

// How long the page waits after a read that failed, in milliseconds.
const retry = 5000;

export class TaskStore {
  constructor(id) {
    this.id = id;
    this.task = null; // as the node shows it
    this.trials = []; // trial n is at n-1
    this.events = 0; // how many have arrived
    this.changes = []; // the number of the last event of each trial
    this.ends = []; // when it ended, in milliseconds; 0 while it has not
    this.begun = Infinity; // when the first trial that is known began, in milliseconds
    this.loaded = false;
    this.error = null;
    this.connection = { state: 'connecting' };
    this.stepped = false; // whether a trial has values by step
    this.priced = false; // whether a trial has a cost
    this.version = 0; // grows with each change of trials
    this.queue = 0; // grows with each change of the queued designs
    this.shares = 0; // grows with each share that came or went
    this.listeners = new Set();
    this.drawn = 0;
    this.due = false;
    this.reading = null;
    this.end = new AbortController();
    this.stop = follow(id, {
      event: (type, data) => this.event(type, data),
      state: (state, until) => {
        const back = state === 'live' && this.connection.state === 'lost';
        this.connection = { state, until };
        if (back) this.read();
        this.changed();
      },
      missed: () => this.read(),
    });
  }

  close() {
    this.stop();
    this.end.abort();
    this.listeners.clear();
  }

  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // changed has the page drawn with the next frame, and at most four times a second.
  changed() {
    if (this.due) return;
    this.due = true;
    setTimeout(() => requestAnimationFrame(() => {
      this.due = false;
      this.drawn = performance.now();
      for (const listener of this.listeners) listener();
    }), Math.max(0, this.drawn + interval - performance.now()));
  }

  put(trial) {
    if (!Number.isSafeInteger(trial?.id) || trial.id < 1 || trial.id > this.trials.length + 100_000) return;
    const steps = joined(this.trials[trial.id - 1]?.steps, trial.steps);
    if (steps !== trial.steps) trial = { ...trial, steps };
    if (steps?.length) this.stepped = true;
    if (typeof trial.cost === 'number') this.priced = true;
    this.trials[trial.id - 1] = trial;
    this.ends[trial.id - 1] = (trial.finished && Date.parse(trial.finished)) || 0;
    this.begun = Math.min(this.begun, Date.parse(trial.started) || Infinity);
    this.version++;
  }

  // take stores a trial of an answer, with the number of events before its request. An event that
  // arrived after the request may be newer than the answer: then only values by step are taken.
  take(trial, since) {
    const known = this.trials[trial?.id - 1];
    const newer = known && this.changes[trial.id - 1] > since;
    this.put(newer ? { ...known, steps: joined(trial.steps, known.steps) } : trial);
  }

  event(type, data) {
    this.events++;
    if (data.trial) {
      this.put(data.trial);
      this.changes[data.trial.id - 1] = this.events;
    }
    if (type === 'design_enqueued' || type === 'design_withdrawn' || (type === 'trial_started' && data.trial?.why?.source === 'enqueued')) this.queue++;
    if (type === 'share_received' || type === 'share_sent') this.shares++;
    this.changed();
  }

  // read reads all trials anew: at the beginning, and when events have been missed. Each page of the
  // answer is shown when it arrives. A read that fails is repeated.
  read() {
    this.again = this.reading !== null;
    this.reading ??= this.readAll().catch((error) => {
      if (this.end.signal.aborted) return;
      this.error = error;
      if (error.status !== 401 && error.status !== 404) setTimeout(() => this.end.signal.aborted || this.read(), retry);
    }).finally(() => {
      this.reading = null;
      this.changed();
      if (this.again && !this.end.signal.aborted) this.read();
    });
    return this.reading;
  }

  async readAll() {
    this.task ??= await get(taskPath(this.id), this.end.signal);
    for (let after = 0; ;) {
      const since = this.events;
      const page = await get(taskPath(this.id, `/trials?after=${after}&limit=1000`), this.end.signal);
      for (const trial of page.trials) this.take(trial, since);
      this.changed();
      if (!page.next) break;
      after = page.next;
    }
    this.loaded = true;
    this.error = null;
    this.shares++;
    this.queue++;
  }

  get minimize() {
    return this.task?.goal !== 'maximize';
  }

  get parameters() {
    return this.task?.task?.parameters ?? [];
  }

  get constraints() {
    return this.task?.task?.constraints ?? [];
  }

  // objectives are those of a task with several, none of a task with one.
  get objectives() {
    return this.task?.task?.objectives ?? [];
  }

  // score returns the value of an objective, by its number, or null. The first is the value of an
  // outcome, the others are metrics.
  score(trial, i) {
    const v = i === 0 ? trial.outcome?.value : trial.outcome?.metrics?.[this.objectives[i].name];
    return typeof v === 'number' ? v : null;
  }

  // frontOf returns the trials that no other one dominates, the best in the first objective first. Of
  // trials with equal values it has the first.
  frontOf(done) {
    const goals = this.objectives.map((o) => o.goal);
    if (goals.length === 0) return [];
    const scored = done.filter(feasible).map((trial) => ({ trial, scores: goals.map((_, i) => this.score(trial, i)) })).filter(({ scores }) => !scores.includes(null));
    const first = (a, b) => {
      for (let i = 0; i < goals.length; i++) if (a.scores[i] !== b.scores[i]) return better(goals[i], a.scores[i], b.scores[i]) ? -1 : 1;
      return a.trial.id - b.trial.id;
    };
    const covers = (a, b) => goals.every((goal, i) => !better(goal, b.scores[i], a.scores[i]));
    const front = [];
    for (const one of scored.sort(first)) if (!front.some((other) => covers(other, one))) front.push(one); // a later one dominates no earlier one
    return front.map(({ trial }) => trial);
  }

  // better is the better of the best so far, if there is one, and an outcome that came after it.
  better(best, trial) {
    if (!feasible(trial)) return best;
    const more = best && trial.outcome.value - best.outcome.value;
    return !best || (this.minimize ? more < 0 : more > 0) ? trial : best;
  }

  // byTime has the outcomes in the order in which they came, with the best so far after each.
  byTime() {
    const came = (trial) => this.ends[trial.id - 1];
    const done = this.summary().done.filter(came).sort((a, b) => came(a) - came(b));
    let best = null;
    const bests = done.map((trial) => (best = this.better(best, trial))?.outcome.value ?? null);
    return { done, bests };
  }

  // summary goes through all trials once for each version.
  summary() {
    if (this.summarised === this.version && this.sum) return this.sum;
    const counts = { waiting: 0, running: 0, done: 0, stopped: 0, failed: 0 };
    const done = [];
    const failed = [];
    const bests = []; // the best so far after each of done, null before the first feasible one
    let best = null;
    let newest = 0;
    let peers = 0;
    for (let i = 0; i < this.trials.length; i++) {
      const trial = this.trials[i];
      if (!trial) continue;
      counts[trial.state] = (counts[trial.state] ?? 0) + 1;
      if (this.ends[i] > newest) newest = this.ends[i];
      if (fromPeers(trial.why)) peers++;
      if (trial.state === 'failed') failed.push(trial);
      if (trial.state !== 'done' || typeof trial.outcome?.value !== 'number') continue;
      best = this.better(best, trial);
      done.push(trial);
      bests.push(best ? best.outcome.value : null);
    }
    this.summarised = this.version;
    const front = this.frontOf(done);
    this.sum = { counts, done, failed, bests, best, newest, peers, front, onFront: new Set(front.map((trial) => trial.id)) };
    return this.sum;
  }
}

// joined returns the values by step of a trial after an event, which has the new ones only, or after
// an answer with all trials, which may be older than the last event. The value of a step never
// changes.
export function joined(known, more) {
  if (!known?.length) return more;
  if (!more?.length) return known;
  if (more[0].step <= known[0].step && more.at(-1).step >= known.at(-1).step) return more;
  if (more[0].step > known.at(-1).step) return [...known, ...more];
  return [...new Map([...more, ...known].map((s) => [s.step, s])).values()].sort((a, b) => a.step - b.step);
}

// better reports whether a value is better than another, for a goal.
export const better = (goal, a, b) => (goal === 'maximize' ? a > b : a < b);

export const feasible = (trial) => !(trial.violated?.length > 0);
