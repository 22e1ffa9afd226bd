// The page in a browser. Driven over the DevTools protocol; see .ci/page, which starts it.
//
//   node check.mjs BROWSER FBO_NODE SCREENSHOTS
import puppeteer from 'puppeteer-core';
import axe from 'axe-core';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from './mock.mjs';

const [executablePath, fboNode, shots] = process.argv.slice(2);
const wanted = process.env.PAGE_CHECKS?.split(',') ?? ['node', 'views', 'order', 'curves', 'goals', 'every', 'many', 'hostile', 'key'];
const patience = 120_000;
const work = mkdtempSync(join(tmpdir(), 'page-'));
const started = new Set();
let browser;
let failures = 0;
let shown; // the page that was opened last

function check(good, text) {
  console.log(`${good ? 'ok  ' : 'FAIL'} ${text}`);
  if (!good) failures++;
}

const pause = (ms) => new Promise((then) => setTimeout(then, ms));

// until waits for something that will be so, for as long as a loaded machine may take.
async function until(text, probe, most = patience) {
  const end = Date.now() + most;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error('did not come: ' + text);
    await pause(200);
  }
}

// open opens a page of its own session, and records its messages and requests.
async function open(link, { dark = false, width = 1280, height = 900 } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const watch = { errors: [], away: [] };
  const host = new URL(link).host;
  // A browser reports each 404, and the node answers 404 for a trial that has printed nothing.
  page.on('console', (m) => { if ((m.type() === 'error' || m.type() === 'warn') && !/\/trials\/\d+\/output$/.test(m.location().url ?? '')) watch.errors.push(m.text()); });
  page.on('pageerror', (e) => watch.errors.push(e.stack ?? e.message));
  await page.setRequestInterception(true);
  page.on('request', (r) => {
    const url = new URL(r.url());
    if (url.host === host || url.protocol === 'blob:' || url.protocol === 'data:') return r.continue();
    watch.away.push(r.url());
    r.abort();
  });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.setViewport({ width, height });
  shown = page;
  await page.goto(link);
  return { page, watch, close: () => context.close() };
}

const text = (page) => page.evaluate(() => document.getElementById('page').innerText);
const views = (page) => page.evaluate(() => [...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href')));
const go = (page, hash) => page.evaluate((to) => { location.hash = to; }, hash);
// settled waits until nothing is asked of the node any more, and what was is drawn.
const settled = (page) => until('an answer to all that ' + new URL(page.url()).hash + ' asks for', async () => !/Asking the node|Reading|not judged yet …/.test(await text(page))).then(() => pause(600));

// accessible lists what axe-core calls serious or critical.
async function accessible(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  return found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id} (${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')})`);
}

const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function quiet({ page, watch, close }, name) {
  check(watch.errors.length === 0, `${name}: no error in the console${watch.errors.length ? ': ' + watch.errors.slice(0, 3).join(' | ') : ''}`);
  check(watch.away.length === 0, `${name}: no request leaves the machine${watch.away.length ? ': ' + watch.away.slice(0, 3).join(' ') : ''}`);
  await close();
}

// pictures looks at each view in both colours and some widths, and keeps a picture of each.
async function pictures(link, name, { widths, add = [] }) {
  for (const dark of [false, true]) for (const width of widths) {
    const setting = `${width}-${dark ? 'dark' : 'light'}`;
    const opened = await open(link, { dark, width, height: width === 3840 ? 2160 : 900 });
    const { page } = opened;
    await page.waitForSelector('nav a, tbody th a', { timeout: patience });
    const task = await page.evaluate(() => document.querySelector('nav a, tbody th a').getAttribute('href'));
    await go(page, task);
    await until('the views', async () => (await views(page)).length > 4 && /Outcomes|No trial yet/.test(await text(page)));
    const all = await views(page);
    const wrong = [];
    for (const view of ['#/fleet', ...all, ...add.map((a) => all[0].replace(/progress$/, a))]) {
      const short = view.replace(/^#\/(task\/[^/]+\/)?/, '').replace(/\W+/g, '-');
      await go(page, view);
      await pause(300);
      await settled(page);
      const over = await wide(page);
      if (over > 0) wrong.push(`${short} is ${over} px too wide`);
      wrong.push(...(await accessible(page)).map((w) => `${short}: ${w}`));
      await page.screenshot({ path: join(shots, `${name}-${short}-${setting}.png`), fullPage: true });
    }
    check(wrong.length === 0, `${name} ${setting}: ${wrong.length ? wrong.join('; ') : `${all.length + add.length + 1} views fit and are accessible`}`);
    await quiet(opened, `${name} ${setting}`);
  }
}

// Every view that there is, in every setting.
async function every() {
  const full = mock({ trials: 60, noisy: true, curves: true });
  const link = await full.listen(0);
  await pictures(link, 'every', { widths: [320, 1280, 3840], add: ['trials/9', 'trials/58'] });
  await noise(link, full.id);
  await overTime(link, full.id);
  await full.close();
  const empty = mock({ empty: true });
  await pictures(await empty.listen(0), 'empty', { widths: [1280] });
  await empty.close();
}

// What is new in views: the timeline, selection by touch and keyboard.
async function ofViews() {
  const m = mock({ trials: 60 });
  const link = await m.listen(0);
  await timeline(link, m.id);
  await selection(link, m.id);
  await sites(link, m);
  await writing(link, m, m.token);
  await permanent(link, m.id);
  await wholeTicks(link, m.id);
  await m.close();
  await conditional();
  await served();
}

// conditional shows a task of which parameters are inactive in most designs, also in the best one.
async function conditional() {
  const m = mock({ trials: 60, conditional: true });
  const opened = await open(await m.listen(0));
  const { page, watch } = opened;
  const at = `#/task/${encodeURIComponent(m.id)}/`;
  const without = m.all.find((t) => t.parameters.momentum === undefined), whole = m.all.find((t) => t.parameters.nesterov !== undefined);
  const half = m.all.find((t) => t.parameters.momentum !== undefined && t.parameters.nesterov === undefined);
  const shown = async (trial) => {
    await go(page, at + 'trials/' + trial.id);
    await until('trial ' + trial.id, async () => new RegExp(`Trial ${trial.id}: `).test(await text(page)));
    return page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.detail .columns tr')].map((row) => [row.querySelector('th').textContent, row.querySelector('td').textContent])));
  };
  for (const trial of [without, half, whole]) {
    const pairs = await shown(trial);
    const wanted = ['momentum', 'nesterov'].map((name) => ({ undefined: 'inactive', true: 'yes', false: 'no' })[trial.parameters[name]] ?? String(trial.parameters[name]));
    check(pairs.momentum === wanted[0] && pairs.nesterov === wanted[1], `conditional: trial ${trial.id} has momentum ${pairs.momentum} and nesterov ${pairs.nesterov}, expected ${wanted.join(' and ')}`);
  }
  check((await accessible(page)).length === 0, 'conditional: the trial is accessible');
  await go(page, at + 'trials');
  await until('the column', () => page.evaluate(() => [...document.querySelectorAll('button.sort')].some((b) => /^momentum/.test(b.textContent))));
  await page.evaluate(() => [...document.querySelectorAll('button.sort')].find((b) => /^momentum/.test(b.textContent)).click());
  const sorted = await until('the order', () => page.evaluate(() => {
    const column = [...document.querySelectorAll('.trials thead th')].findIndex((h) => h.ariaSort && /^momentum/.test(h.textContent));
    return column >= 0 && [...document.querySelectorAll('.trials tbody tr:not(.gap)')].map((row) => row.children[column].textContent);
  }));
  check(sorted[0] !== '–' && sorted.includes('–') && !sorted.slice(sorted.indexOf('–')).some((v) => v !== '–'), `conditional: trials without a value come last: ${sorted.slice(0, 12).join(' ')}`);
  await go(page, at + 'model');
  await until('the slices', async () => /Parameters that are inactive in this design have none/.test(await text(page)) && (await page.evaluate(() => document.querySelectorAll('.grid figure').length)) === 4);
  await settled(page);
  const offered = await page.evaluate(() => [...document.querySelectorAll('[aria-labelledby=contour] select')[0].options].map((o) => o.value));
  check(!offered.includes('momentum') && !offered.includes('nesterov') && offered.length === 4, `conditional: the model has slices and contours of active parameters only: ${offered.join(' ')}`);
  check(/It has a gap where a parameter is inactive/.test(await text(page)), 'conditional: gaps of lines are explained');
  check((await accessible(page)).length === 0, 'conditional: the model is accessible');
  await page.screenshot({ path: join(shots, 'views-conditional-model-1280-light.png'), fullPage: true });
  for (const view of ['progress', 'constraints', 'sites', 'timeline']) {
    await go(page, at + view);
    await pause(300);
    await settled(page);
  }
  await go(page, at + 'queue');
  await unlock(page, m.token);
  watch.errors.length = 0; // the browser reports the refused token
  await until('the form', async () => (await fields(page)) === 6);
  check(/only with optimizer sgd/.test(await text(page)) && /only with momentum at least 0\.3/.test(await text(page)), 'conditional: the form names the conditions');
  await press(page, 'Enqueue');
  await until('the queued design', async () => m.queued.length === 2 && /queued as design 2/.test(await text(page)));
  check(m.queued[1].parameters.momentum === undefined && m.queued[1].parameters.nesterov === undefined && m.queued[1].parameters.batch_size > 0, 'conditional: a design without inactive parameters is enqueued');
  await page.evaluate(() => {
    const field = (name) => [...document.querySelectorAll('.fields label')].find((l) => l.textContent.startsWith(name)).querySelector('input, select');
    field('optimizer').value = 'sgd';
    field('optimizer').dispatchEvent(new Event('change', { bubbles: true }));
  });
  await press(page, 'Enqueue');
  await until('the error of the missing value', () => page.evaluate(() => [...document.querySelectorAll('.fields label')].some((l) => l.textContent.startsWith('momentum') && /not accepted/.test(l.querySelector('.warning').textContent))));
  check(m.queued.length === 2, 'conditional: a parameter that becomes active needs a value');
  watch.errors.length = 0; // the browser reports the refused request
  await quiet(opened, 'conditional');
  await m.close();
}

// ofCurves looks at values by step: the plot, the detail of a trial, and events.
async function ofCurves() {
  const m = mock({ trials: 60, curves: true });
  const link = await m.listen(0);
  const opened = await open(link);
  const { page } = opened;
  const at = `#/task/${encodeURIComponent(m.id)}/curves`;
  await go(page, at);
  await until('the curves', async () => /^Values by step of 60 trials, from step 1 to 20\. The best is trial \d+, with /.test(await plotLabel(page)));
  check(/5 evaluations were stopped early, 2 are running/.test(await text(page)), 'curves: stopped and running trials are counted');
  check((await wide(page)) === 0 && (await accessible(page)).length === 0, 'curves: the view fits and is accessible');
  await page.screenshot({ path: join(shots, 'curves-1280-light.png'), fullPage: true });
  await page.focus('.plot');
  await page.keyboard.press('Home');
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  await until('the stopped trial', async () => /^trial 4: stopped, 0\.\d+ at step 4 · asha at step 4: 0\.61 at step 4 is 3rd of 3 trials/.test(await hint(page)));
  await page.keyboard.press('Enter');
  await until('its details', async () => page.url().endsWith('/curves/4') && /Stopped early by rule asha at step 4/.test(await text(page)));
  check(await page.evaluate(() => /Trial 4: 4 values from step 1 to 4/.test(document.querySelector('.detail .plot').getAttribute('aria-label'))), 'curves: a line opens its trial, with its values');
  await page.evaluate(() => { document.querySelector('.detail details').open = true; });
  check((await page.evaluate(() => document.querySelectorAll('.detail details tbody tr').length)) === 4 && (await accessible(page)).length === 0, 'curves: the values are in a table too');
  await page.screenshot({ path: join(shots, 'curves-trial-1280-light.png'), fullPage: true });
  // A running trial: the event has the new value only, and a repeated one changes nothing.
  const running = m.all.findLast((t) => t.state === 'running');
  const before = running.steps.length;
  await go(page, `${at}/${running.id}`);
  await until('the running trial', async () => new RegExp(`Trial ${running.id}: ${before} values? from`).test(await page.$eval('.detail .plot', (e) => e.getAttribute('aria-label'))));
  m.report(running.id, 30, 0.5);
  m.report(running.id, 31, 0.25);
  await until('the new values, by events alone', async () => new RegExp(`${before + 2} values from step 1 to 31, the last 0\\.25`).test(await page.$eval('.detail .plot', (e) => e.getAttribute('aria-label'))) && /from step 1 to 31\./.test(await plotLabel(page)));
  check(true, 'curves: new values come by events');
  m.end(running.id);
  await until('the end', async () => !/to 31/.test(await plotLabel(page)) || /1 is running/.test(await text(page)));
  check(true, 'curves: the end of the trial comes by an event');
  const merged = await page.evaluate(async () => {
    const { joined } = await import('/page/store.js');
    const s = (...all) => all.map((step) => ({ step, value: step }));
    return [joined(undefined, s(1)), joined(s(1, 2), s(3)), joined(s(1, 2, 3), s(1, 2)), joined(s(1, 2), s(1, 2, 3)), joined(s(1, 2), undefined), joined(s(2, 3), s(1, 2)), joined(s(4, 5), s(1, 2, 3, 4))]
      .map((all) => all.map((x) => x.step).join(''));
  });
  check(merged.join() === '1,123,123,123,12,123,12345', `curves: values are joined by step: ${merged}`);
  await go(page, at.replace(/curves$/, 'trials?state=stopped'));
  await until('the stopped trials', async () => /5 trials of 60/.test(await text(page)));
  check(/last step/.test(await text(page)) && /asha at step 4: 0\.61/.test(await text(page)), 'curves: the table of trials has stopped trials with reasons');
  await quiet(opened, 'curves');
  const none = mock({ trials: 20 });
  const other = await open(await none.listen(0));
  await go(other.page, `#/task/${encodeURIComponent(none.id)}/progress`);
  await until('the views', async () => (await views(other.page)).length > 6);
  check(!(await views(other.page)).some((v) => /curves$/.test(v)), 'curves: without values by step there is no view of them');
  none.report(19, 1, 0.5);
  await until('the view', async () => (await views(other.page)).some((v) => /curves$/.test(v)));
  check(true, 'curves: the first value brings the view');
  await quiet(other, 'curves, none before');
  await none.close();
  await m.close();
}

// ofGoals looks at a task with several objectives: its front, hypervolume and table.
async function ofGoals() {
  const m = mock({ trials: 60, goals: true });
  const opened = await open(await m.listen(0));
  const { page } = opened;
  const at = `#/task/${encodeURIComponent(m.id)}/progress`;
  await go(page, at);
  const label = (n) => new RegExp(`^\\d+ outcomes by error and speed\\. ${n} designs are on the Pareto front\\.`);
  await until('the front', async () => label(m.front().length).test(await plotLabel(page)) && /Hypervolume\s+900\.5/.test(await text(page)));
  check(/smallest error and largest speed and smallest memory wanted/.test(await text(page)), 'goals: the goal of each objective is stated');
  const shown = () => page.evaluate(() => [...document.querySelectorAll('[aria-labelledby=designs] tbody th')].map((e) => Number(e.textContent)));
  check((await shown()).join() === m.front().slice(0, 30).map((t) => t.id).join(), `goals: the front is that of all pairs: ${await shown()}`);
  await page.focus('.plot');
  await page.keyboard.press('Home');
  await until('a trial', async () => /^trial \d+: error \S+, speed \S+, memory \S+ · (on the front|dominated|breaks)/.test(await hint(page)));
  check(true, 'goals: a mark shows all objectives');
  await page.select('[aria-labelledby=front] label:nth-of-type(2) select', '2');
  await until('the third objective', async () => /by error and memory\./.test(await plotLabel(page)));
  await page.select('[aria-labelledby=front] label:nth-of-type(1) select', '2');
  await until('the axes change places', async () => /by memory and error\./.test(await plotLabel(page)));
  await page.select('[aria-labelledby=front] label:nth-of-type(3) select', 'front');
  await settled(page);
  check((await wide(page)) === 0 && (await accessible(page)).length === 0, 'goals: the view fits and is accessible');
  await page.screenshot({ path: join(shots, 'goals-1280-light.png'), fullPage: true });
  await page.setViewport({ width: 320, height: 900 });
  await settled(page);
  check((await wide(page)) === 0, 'goals: the view fits a narrow window');
  await page.screenshot({ path: join(shots, 'goals-320-light.png'), fullPage: true });
  await page.setViewport({ width: 1280, height: 900 });
  await go(page, at.replace(/progress$/, 'trials?state=front'));
  await until('the table of the front', async () => new RegExp(`^${m.front().length} trials of 60`, 'm').test(await text(page)));
  check(/error\s+speed\s+memory\s+Pareto/.test(await text(page)), 'goals: the table has a column for each objective and for the front');
  await go(page, at.replace(/progress$/, `trials/${m.front()[0].id}`));
  await until('a trial of the front', async () => /error \S+, speed \S+, memory \S+, on the Pareto front/.test(await text(page)));
  await go(page, at);
  const running = m.all.findLast((t) => t.state === 'running');
  m.end(running.id);
  await until('the end by an event', async () => label(m.front().length).test(await plotLabel(page)) && (await shown()).join() === m.front().slice(0, 30).map((t) => t.id).join());
  check(true, 'goals: the front follows events');
  await quiet(opened, 'goals');
  await m.close();
}

// sites compares this node with a file of another node and with peers.
async function sites(link, m) {
  const opened = await open(link);
  const { page } = opened;
  await go(page, `#/task/${encodeURIComponent(m.id)}/sites`);
  await until('the peers', async () => /not disclosed/.test(await text(page)) && /1 own node/.test(await plotLabel(page)));
  const rows = async () => page.evaluate(() => [...document.querySelectorAll('#side ~ .scroll tbody tr')].map((row) => row.innerText.replace(/\s+/g, ' ')));
  const peer = (await rows()).find((row) => row.includes('Qm7aKd2P'));
  check(/its shares 12 \(as reported\) not disclosed learning_rate 0\.03.* its estimate, ± 25 % of each range 93 % \(estimated\)/.test(peer), `sites: a peer has what it discloses, marked as reported or estimated: ${peer}`);
  const good = join(work, 'other-node.json'), foreign = join(work, 'foreign.json'), broken = join(work, 'broken.json');
  writeFileSync(good, JSON.stringify({ id: m.id, trials: m.all.slice(0, 12).map((t, i) => ({ ...t, outcome: t.outcome && { value: 2 - i / 10 }, violated: undefined })) }));
  writeFileSync(foreign, JSON.stringify({ id: 'another', trials: [] }));
  writeFileSync(broken, '<img src=x onerror=window.owned=1>');
  await (await page.$('input[type=file]')).uploadFile(good, foreign, broken);
  await until('the file', async () => (await rows()).some((row) => /^other-node\.json its exported trials 11 0\.9 /.test(row)));
  await until('the errors', async () => { const shown = await text(page); return /foreign\.json: the file is about another task/.test(shown) && /broken\.json: /.test(shown); });
  check(/2 own nodes/.test(await plotLabel(page)), 'sites: an export is a second curve, and wrong files have an error each');
  check((await accessible(page)).length === 0, 'sites: the view with two nodes is accessible');
  await page.screenshot({ path: join(shots, 'views-sites-1280-light.png'), fullPage: true });
  await quiet(opened, 'sites');
}

const press = (page, name) => page.evaluate((wanted) => [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === wanted).click(), name);
const fields = (page) => page.evaluate(() => document.querySelectorAll('main textarea, main input:not([type=file]):not([type=search]), main .fields select').length);

// unlock gives the page the token.
async function unlock(page, token) {
  await press(page, 'Write …');
  await page.waitForSelector('input[type=password]');
  await page.type('input[type=password]', 'not the token of this node');
  await press(page, 'Use it');
  await until('the refusal of a wrong token', async () => /expected the one line|does not accept this token/.test(await text(page)));
  await page.$eval('input[type=password]', (e) => { e.value = ''; });
  await page.type('input[type=password]', token);
  await page.keyboard.press('Enter');
  await until('that writing has begun', async () => /End writing/.test(await text(page)));
}

// writing enqueues, withdraws, and adds and removes notes, with the token alone.
async function writing(link, m, token) {
  const opened = await open(link);
  const { page, watch } = opened;
  const at = `#/task/${encodeURIComponent(m.id)}/`;
  for (const view of ['queue', 'trials/9']) {
    await go(page, at + view);
    await settled(page);
    await until(view, async () => (view === 'queue' ? /Queued designs/ : /looked at the curve/).test(await text(page)));
    check((await fields(page)) === 0, `writing: ${view} has no form without the token`);
  }
  await go(page, at + 'queue');
  await unlock(page, token);
  check(await page.evaluate((t) => !JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href]).includes(t), token), 'writing: the token is neither stored nor in the address');
  await until('the form', async () => (await fields(page)) === 6);
  const best = Math.min(...m.all.filter((t) => t.state === 'done' && !t.violated).map((t) => t.outcome.value));
  const filled = m.all.find((t) => t.outcome?.value === best);
  check((await page.$eval('.fields input', (e) => e.value)) === String(filled.parameters.learning_rate), 'writing: the form has the best design');
  await page.$eval('.fields input', (e) => { e.value = ''; });
  await page.type('.fields input', '7');
  await press(page, 'Enqueue');
  await until('the error of the parameter', () => page.evaluate(() => document.querySelector('.fields input').getAttribute('aria-invalid') === 'true' && /not accepted/.test(document.querySelector('.fields .warning').textContent)));
  check(m.queued.length === 1, 'writing: a wrong value has its error beside its field');
  watch.errors.length = 0; // the browser reports the refused requests
  await page.$eval('.fields input', (e) => { e.value = ''; });
  await page.type('.fields input', '0.25');
  await page.keyboard.press('Enter');
  await until('the queued design', async () => m.queued.length === 2 && /queued as design 2/.test(await text(page)) && (await page.evaluate(() => document.querySelectorAll('#queue ~ .scroll tbody tr').length)) === 2);
  check(m.queued[1].parameters.learning_rate === 0.25 && m.queued[1].parameters.nesterov === filled.parameters.nesterov && m.queued[1].parameters.hidden_units === filled.parameters.hidden_units, 'writing: a design is enqueued with values of their types');
  check((await accessible(page)).length === 0, 'writing: the form is accessible');
  await page.screenshot({ path: join(shots, 'views-queue-1280-light.png'), fullPage: true });
  await press(page, 'Withdraw');
  await until('the withdrawal', async () => m.queued.length === 1 && /withdrawn/.test(await text(page)) && (await page.evaluate(() => document.querySelectorAll('#queue ~ .scroll tbody tr').length)) === 1);
  check(m.queued[0].id === 2, 'writing: a queued design is withdrawn');
  await go(page, at + 'trials/9');
  await page.waitForSelector('textarea');
  await page.focus('textarea');
  await page.keyboard.type('<b class="owned">bold</b>\nsecond line');
  await press(page, 'Add the note');
  await until('the note', async () => /Stored\./.test(await text(page)));
  check(m.all[8].notes.length === 2 && m.all[8].notes[1].text === '<b class="owned">bold</b>\nsecond line', 'writing: a note is stored');
  await page.$eval('[aria-label="Remove note 1"]', (e) => e.click());
  await until('the removal', async () => m.all[8].notes.length === 1 && !/looked at the curve of trial 9/.test(await page.$eval('.detail', (e) => e.textContent)));
  check(/f009/.test(await text(page)) && /sha256 0f0f/.test(await text(page)), 'writing: attributes and files are shown');
  check((await accessible(page)).length === 0, 'writing: the note is accessible');
  await page.$eval('textarea', (e) => { e.value = '\u{1f600}'.repeat(2001); e.dispatchEvent(new Event('input', { bubbles: true })); });
  await until('the limit', () => page.evaluate(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'Add the note').disabled && document.querySelector('textarea').getAttribute('aria-invalid') === 'true'));
  check(true, 'writing: a note that is too long is not sent');
  await press(page, 'End writing');
  await until('no form', async () => (await fields(page)) === 0 && /bold<\/b>\s+second line/.test(await text(page)));
  check((await page.evaluate(() => document.querySelectorAll('.owned').length)) === 0, 'writing: a note is shown as text, without the token too');
  await quiet(opened, 'writing');
}

// served writes to a real node, through the page of serve.
async function served() {
  const dir = join(work, 'served');
  const node = start('serve', '--web', '--data-dir', dir, '--mdns=false', '--wait-for-peers', '0s', '--listen', '/ip4/127.0.0.1/tcp/0');
  const link = await until('the page of serve', () => {
    if (node.ended) throw new Error('serve has ended: ' + node.out);
    return /page: (http\S+)/.exec(node.out)?.[1];
  });
  const token = readFileSync(join(dir, 'http.token'), 'utf8').trim();
  const ask = async (path, body) => (await fetch(new URL(link).origin + path, { method: 'POST', body: JSON.stringify(body), headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' } })).json();
  const { id } = await ask('/v1/tasks', { text: 'name: real\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: -2, high: 2}\n  - {name: kind, type: categorical, choices: [a, b]}\n' });
  const opened = await open(link);
  const { page, watch } = opened;
  await go(page, `#/task/${id}/queue`);
  await until('the queue', async () => /None\./.test(await text(page)));
  await unlock(page, token);
  await until('the form', async () => (await fields(page)) === 2);
  await page.type('.fields input', '3');
  await press(page, 'Enqueue');
  await until('an error for each parameter', () => page.evaluate(() => [...document.querySelectorAll('.fields .warning')].every((e) => e.textContent.length > 5)));
  check(true, 'served: the node has an error for each parameter');
  watch.errors.length = 0; // the browser reports the refused requests
  await page.$eval('.fields input', (e) => { e.value = ''; });
  await page.type('.fields input', '1.5');
  await page.select('.fields select', 'b');
  await press(page, 'Enqueue');
  await until('the queued design', async () => /queued as design 1\./.test(await text(page)));
  const { trials } = await ask(`/v1/tasks/${id}/ask`, { client: 'a client' });
  check(trials[0].why.source === 'enqueued' && JSON.stringify(trials[0].parameters) === '{"x":1.5,"kind":"b"}', `served: the next client gets the design: ${JSON.stringify(trials[0].parameters)}`);
  await until('the empty queue, by events alone', async () => /None\./.test(await text(page)));
  await go(page, `#/task/${id}/trials/1`);
  await page.waitForSelector('textarea');
  await page.type('textarea', 'a note to keep');
  await press(page, 'Add the note');
  await until('the note', async () => /Stored\./.test(await text(page)));
  const second = await open(link);
  await go(second.page, `#/task/${id}/timeline/1`);
  await until('the note in another tab', async () => /a note to keep/.test(await text(second.page)) && /a client/.test(await text(second.page)));
  check((await fields(second.page)) === 0, 'served: another tab shows the note and the timeline, and no form');
  await quiet(second, 'served, another tab');
  await quiet(opened, 'served');
  await end(node.child);
  const web = start('web', '--data-dir', dir);
  const past = await open(await until('the page of the journal', () => {
    if (web.ended) throw new Error('web has ended: ' + web.out);
    return /page: (http\S+)/.exec(web.out)?.[1];
  }));
  await go(past.page, `#/task/${id}/timeline/1`);
  await until('the stopped node', async () => { const shown = await text(past.page); return /a note to keep/.test(shown) && /journal is shown/.test(shown) && /a client/.test(shown); });
  const names = await past.page.evaluate(() => [...document.querySelectorAll('nav a')].map((a) => a.textContent).join(', '));
  check(names === 'Progress, Trials, Timeline, Queue, Sites' && (await fields(past.page)) === 0 && !/Write …/.test(await text(past.page)), `served: the journal of the stopped node has timeline and note, and no form: ${names}`);
  for (const view of names.split(', ')) {
    await go(past.page, `#/task/${id}/${view.toLowerCase()}`);
    await pause(300);
    await settled(past.page);
    if (await wide(past.page) > 0 || (await accessible(past.page)).length > 0) check(false, `served: ${view} of the journal does not fit or is not accessible`);
  }
  past.watch.errors = past.watch.errors.filter((e) => !/status of 503/.test(e)); // what needs a running node
  await quiet(past, 'served, stopped');
  await end(web.child);
}

// permanent follows and copies the link of a trial in a view.
async function permanent(link, id) {
  const opened = await open(link);
  const { page } = opened;
  await page.browserContext().overridePermissions(new URL(link).origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
  const hash = `#/task/${encodeURIComponent(id)}/timeline/7`;
  await go(page, hash);
  await until('the trial', async () => /Trial 7: /.test(await text(page)));
  await page.bringToFront();
  await press(page, 'Copy link');
  await until('the copy', async () => /Copied\./.test(await text(page)));
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(copied === new URL(link).origin + '/' + hash && !/key|TOKEN|KEYOF/.test(copied), `link: it has task, view and trial, and no key: ${copied}`);
  await page.reload();
  await until('the trial after a reload', async () => page.url() === copied && /Trial 7: /.test(await text(page)));
  check(true, 'link: the view survives a reload');
  await quiet(opened, 'link');
  // In a tab without the key the page asks for the key, and goes on to what the link shows.
  const other = await open(copied);
  await until('the field', async () => /key is missing/.test(await text(other.page)));
  await other.page.type('input', link);
  await Promise.all([other.page.waitForNavigation(), other.page.keyboard.press('Enter')]);
  await until('the trial in another tab', async () => other.page.url() === copied && /Trial 7: /.test(await text(other.page)));
  check(true, 'link: a tab without the key asks for it, and then shows what the link names');
  await quiet(other, 'link');
}

// wholeTicks reads the labels that plots paint beside axes of whole numbers.
async function wholeTicks(link, id) {
  const opened = await open(link);
  const { page } = opened;
  await page.evaluateOnNewDocument(() => {
    window.painted = [];
    const paint = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { window.painted.push([text, this.textBaseline, this.canvas.closest?.('figure, .chart, section')?.innerText ?? '', at]); return paint.call(this, text, ...at); };
  });
  for (const view of ['progress', 'sites', 'constraints']) {
    await go(page, `#/task/${encodeURIComponent(id)}/${view}`);
    await page.reload();
    await until(view, () => page.evaluate(() => document.querySelectorAll('.plot canvas').length > 0));
    await pause(600);
    await settled(page);
    const across = await page.evaluate(() => window.painted.filter(([, base]) => base === 'top').map(([t]) => t).filter((t) => /^[\u2212\d.]/.test(t)));
    check(across.length > 1 && across.every((t) => /^\d+$/.test(t)), `ticks: ${view} has whole numbers below: ${[...new Set(across)].join(' ')}`);
  }
  const splits = await page.evaluate(async () => {
    const { axisOf } = await import('/page/model.js');
    const { placing } = await import('/page/plot.js');
    return [[1, 3], [20, 100], [1, 100000], [3, 7]].map(([low, high]) => {
      const p = { name: 'n', type: 'int', scale: 'log', low, high };
      return axisOf({}, p, placing(p)).splits();
    });
  });
  check(splits.every((all) => all.length > 0 && all.every(Number.isInteger)), `ticks: logarithmic axes of whole numbers have whole numbers: ${JSON.stringify(splits)}`);
  await quiet(opened, 'ticks');
}

// noise looks at the recommended design, which a node shows under noise alone.
async function noise(link, id) {
  const opened = await open(link);
  await go(opened.page, `#/task/${encodeURIComponent(id)}/progress`);
  await until('the recommended design', async () => /Recommended\s+predicted 0\.125\s+The noise of outcomes is larger/.test(await text(opened.page)));
  check(true, 'noise: the recommended design is shown with the reason');
  await quiet(opened, 'noise');
}

// overTime switches the outcomes to time with the keyboard, and asks which was the best so far
// where trials do not end in the order in which they began.
async function overTime(link, id) {
  const opened = await open(link, { width: 320 });
  const { page } = opened;
  await go(page, `#/task/${encodeURIComponent(id)}/progress`);
  const label = () => plotLabel(page);
  await until('the outcomes over trials', async () => / of 60 trials, /.test(await label()));
  await page.focus('.heading select');
  await page.keyboard.press('ArrowDown');
  await until('the outcomes over time', async () => / of 60 trials in 8\d(\.\d)? minutes, /.test(await label()));
  check((await wide(page)) === 0 && (await accessible(page)).length === 0, 'time: outcomes over time come by keyboard, and fit');
  await page.screenshot({ path: join(shots, 'every-progress-time-320-light.png'), fullPage: true });
  const { trials, times } = await page.evaluate(async () => {
    const { TaskStore } = await import('/page/store.js');
    const store = new TaskStore('none');
    store.close();
    [[30, 3], [10, 2], [20, 1]].forEach(([ended, value], i) => store.put({ id: i + 1, state: 'done', started: new Date(1000 * i).toISOString(), finished: new Date(1000 * ended).toISOString(), outcome: { value } }));
    return { trials: store.summary().bests, times: store.byTime().bests };
  });
  check(trials.join() === '3,2,1' && times.join() === '2,1,1', `time: the best so far follows the order of outcomes: ${times} over time, ${trials} over trials`);
  await quiet(opened, 'time');
}

// timeline checks which lane each trial is in, and that a bar opens its trial.
async function timeline(link, id) {
  const opened = await open(link);
  const { page } = opened;
  const at = `#/task/${encodeURIComponent(id)}/timeline`;
  await go(page, at);
  await until('the timeline', async () => /60 trials in \d+ lanes/.test(await plotLabel(page)));
  const lanes = await page.evaluate(async () => {
    const { lanesOf } = await import('/page/timeline.js');
    const trial = (id, client, from, to, state = 'done', source = 'own') => ({ id, client, state, why: { source }, started: new Date(1000 * from).toISOString(), finished: to && new Date(1000 * to).toISOString() });
    return lanesOf([
      trial(1, 'b', 0, 10), trial(2, '', 1, 4, 'failed'), trial(3, 'b', 5, 8), trial(4, 'b', 11, 0, 'running'),
      trial(5, '', 4, 6), trial(6, '', 7, 7, 'done', 'imported'), trial(7, 'b', 12, 0, 'waiting'),
    ]).lanes.map((lane) => `${lane.name}: ${lane.bars.map((bar) => bar.trial.id).join(' ')}`);
  });
  check(lanes.join(', ') === 'b #1: 1 4, this node: 2 5, b #2: 3', `timeline: trials at once have lanes of their own: ${lanes.join(', ')}`);
  const rows = await page.evaluate(() => [...document.querySelectorAll('#lanes ~ .scroll tbody tr')].map((row) => row.innerText.replace(/\s+/g, ' ')));
  check(rows.length > 1 && rows.some((row) => /^worker-3 /.test(row)) && rows.some((row) => /trial 5[09]/.test(row)), `timeline: the table has the lanes: ${rows.join('; ')}`);
  await page.focus('.plot');
  await page.keyboard.press('Home');
  await until('the first trial', async () => /^trial 1: 0\.\d+ · this node · .* to .*, \d+ s/.test(await hint(page)));
  await page.keyboard.press('Enter');
  await until('its details', async () => page.url().endsWith('/timeline/1') && /Trial 1: /.test(await text(page)));
  check(true, 'timeline: a bar shows trial, value, client and times, and opens its trial');
  await quiet(opened, 'timeline');
}

const plotLabel = (page) => page.evaluate(() => (document.querySelector('.chart .plot canvas') && document.querySelector('.chart .plot').getAttribute('aria-label')) ?? '');
const hint = (page) => page.evaluate(() => document.querySelector('.hint').innerText);

// selection selects marks of a plot by touch, by mouse and by keyboard.
async function selection(link, id) {
  const opened = await open(link, { width: 400 });
  const { page } = opened;
  await page.setViewport({ width: 400, height: 900, hasTouch: true, isMobile: true });
  const at = `#/task/${encodeURIComponent(id)}/progress`;
  await go(page, at);
  await until('the outcomes', async () => / of 60 trials, /.test(await plotLabel(page)));
  // places of marks, in pixels of the window: as the keyboard reaches them, the plot's cursor is there
  await page.focus('.plot');
  const seen = new Map();
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press(i === 0 ? 'Home' : 'ArrowRight');
    await until('a trial', async () => /^trial \d+: /.test(await hint(page)));
    seen.set(await hint(page), await page.evaluate(() => {
      const over = document.querySelector('.u-over').getBoundingClientRect();
      return { x: over.left + new DOMMatrix(getComputedStyle(document.querySelector('.u-cursor-x')).transform).e, top: over.top, height: over.height };
    }));
  }
  check(seen.size === 20 && /^trial 1: /.test([...seen.keys()][0]), 'selection: arrow keys go from mark to mark');
  await page.keyboard.press('Escape');
  await until('no selection', async () => !/trial/.test(await hint(page)));
  check(page.url().endsWith(at), 'selection: keys alone open nothing');
  // A touch at the place of a failed trial, whose cross is at the bottom.
  const [words, failed] = [...seen].find(([words]) => /^trial 9: failed/.test(words));
  const touch = [failed.x, failed.top + failed.height - 6];
  await page.touchscreen.tap(...touch);
  await until('the touched trial', async () => (await hint(page)) === words);
  check(page.url().endsWith(at), 'selection: a touch shows a trial and opens nothing');
  await page.touchscreen.tap(...touch);
  await until('the trial', () => page.url().endsWith('/trials/9'));
  check(true, 'selection: a second touch opens the trial');
  await go(page, at);
  await until('the outcomes', async () => / of 60 trials, /.test(await plotLabel(page)));
  const finger = await page.touchscreen.touchStart(touch[0] + 60, touch[1]);
  await finger.move(...touch);
  await until('the trial under the moved finger', async () => (await hint(page)) === words);
  check(true, 'selection: a moving finger shows what is under it');
  await finger.end();
  await quiet(opened, 'selection');
}

function start(...args) {
  const child = spawn(fboNode, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: work });
  const node = { child, out: '', ended: false };
  started.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (d) => { node.out += d; });
  node.end = new Promise((then) => child.on('exit', () => { node.ended = true; started.delete(child); then(); }));
  return node;
}

// (a) Three nodes on a task; the page is the first one's.
async function ofNode() {
  writeFileSync(join(work, 'task.yaml'), `name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: kind, type: categorical, choices: [plain, fancy]}
`);
  const script = join(work, 'measure');
  writeFileSync(script, `#!/bin/sh
if [ "$FBO_TRIAL" = 4 ] && [ "$1" = first ]; then echo "the <b>fourth</b> one has diverged" >&2; exit 3; fi
[ "$1" = first ] && [ "$FBO_TRIAL" -gt 15 ] && sleep 1
exec awk -v x="$FBO_PARAM_X" -v r="$FBO_PARAM_RATE" -v k="$FBO_PARAM_KIND" 'BEGIN { l = log(r) / log(10) + 1.5; print (x - 0.5) ^ 2 + l * l * 0.3 + (k == "plain" ? 0.2 : 0) }'
`);
  chmodSync(script, 0o755);
  const run = (name, ...more) => start('run', 'task.yaml', '--data-dir', join(work, name), '--evals', '30', '--keep-after', '--mdns=false', '--listen', '/ip4/127.0.0.1/tcp/0', ...more, '--', script, name);
  const printed = (node, pattern) => until(`${pattern} of a node, which prints:\n${node.out}`, () => {
    if (node.ended) throw new Error('a node has ended: ' + node.out);
    return pattern.exec(node.out)?.[1];
  });
  const first = run('first', '--web', '--wait-for-peers', '60s');
  const link = await printed(first, /page: (http\S+)/);
  const address = await printed(first, /(\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/\w+)/);
  const others = ['second', 'third'].map((name) => run(name, '--peer', address));
  const ids = await Promise.all(others.map((node) => printed(node, /\/p2p\/(\w+)/)));

  const opened = await open(link);
  const { page } = opened;
  await until('the page of the only task', () => /#\/task\/.*progress/.test(page.url()));
  const base = page.url().replace(/.*#/, '#').replace(/progress$/, '');
  await go(page, base + 'contributions');
  await until('both peers', async () => { const shown = await text(page); return ids.every((id) => shown.includes(id.slice(-8))); });
  check(true, 'node: both peers are shown');
  await until('both connected', () => page.evaluate(() => [...document.querySelectorAll('tbody td')].filter((cell) => cell.textContent.startsWith('direct')).length >= 2));
  check(true, 'node: both are connected directly');
  others[1].child.kill('SIGKILL');
  await until('that one is lost', async () => /disconnected: this node/.test(await text(page)));
  check(true, 'node: the loss of a peer is shown');
  await page.screenshot({ path: join(shots, 'node-loss-1280-light.png'), fullPage: true });

  await go(page, base + 'progress');
  await until('30 outcomes, by events alone', async () => /of 30 outcomes/.test(await text(page)), 4 * patience);
  check(true, 'node: 30 outcomes have come to the page that was opened before them');
  await go(page, base + 'trials');
  await until('the table', async () => /\bfailed\b/.test(await text(page)));
  check((await page.evaluate(() => document.querySelector('table.windowed').getAttribute('aria-rowcount'))) === '32', 'node: the table has 31 trials');
  await go(page, base + 'trials/4');
  await until('what the failed trial printed', async () => /the <b>fourth<\/b> one has diverged/.test(await text(page)));
  check(true, 'node: what the failed trial printed is shown, as text');
  for (const format of ['CSV', 'JSON']) {
    const answered = page.waitForResponse((r) => r.url().endsWith('/export?format=' + format.toLowerCase()));
    await page.evaluate((name) => [...document.querySelectorAll('button')].find((b) => b.textContent === name).click(), format);
    check((await answered).ok(), `node: the trials can be had as ${format}`);
  }
  await go(page, base + 'timeline');
  await until('the timeline', async () => /31 trials in 1 lane, /.test(await plotLabel(page)) && /this node 30 0 1 none/.test((await text(page)).replace(/\s+/g, ' ')));
  check(true, 'node: the timeline has the lane of the node');
  await go(page, base + 'model');
  await until('a slice for each parameter', async () => (await page.evaluate(() => document.querySelectorAll('figure .plot canvas').length)) === 3);
  await until('the contour', () => page.evaluate(() => document.querySelectorAll('#contour ~ .plot canvas').length === 1));
  check(true, 'node: slices and contour are shown');
  const [smooth, choices, steps] = await page.evaluate(async () => {
    const { between, wholeIncrs } = await import('/page/plot.js');
    const places = [-0.1, 0.25, 0.5, 0.8, 1.2]; // known ones are uneven, as values on another scale are, or descend
    return [between([1, 0.5, 0], places, true), between([0, 0.3, 1], places, false), wholeIncrs];
  });
  check(JSON.stringify(smooth) === '[[2,2,0],[2,1,0.5],[2,1,1],[1,0,0.6000000000000001],[0,0,0]]', `node: a surface is smooth between its values, where they stand: ${JSON.stringify(smooth)}`);
  check(choices.map(([a, b, t]) => (t < 0.5 ? a : b)).join() === '0,1,1,2,2', `node: a choice fills its place: ${JSON.stringify(choices)}`);
  check(steps.every(Number.isInteger) && steps[0] === 1, 'node: axes of trials have whole steps');
  const [ints, floats] = await page.evaluate(async () => {
    const { axisOf } = await import('/page/model.js');
    return ['int', 'float'].map((type) => axisOf({}, { name: 'n', type }, { low: 1, high: 3 }).incrs);
  });
  check(JSON.stringify(ints) === JSON.stringify(steps) && !floats, 'node: axes of whole numbers have whole steps');
  await quiet(opened, 'node');
  await pictures(link, 'node', { widths: [1280], add: ['trials/4'] });
}

// An answer that is older than an event changes no trial that the event has changed.
async function ofOrder() {
  const m = mock({ trials: 20 });
  const opened = await open(await m.listen(0));
  const { page } = opened;
  await go(page, `#/task/${encodeURIComponent(m.id)}/progress`);
  const outcomes = (count) => async () => (await plotLabel(page)).startsWith(`${count} outcomes of 20 trials`);
  const before = m.all.filter((t) => t.state === 'done').length;
  await until('the outcomes', outcomes(before));
  const release = m.hold();
  m.all.find((t) => t.state === 'done').outcome.value = -5; // shows that the answer has arrived
  m.missed();
  await until('the request', () => m.holding() > 0);
  m.end(20);
  await until('the event', outcomes(before + 1));
  release();
  await until('the answer', async () => /The best is \W5, /.test(await plotLabel(page)));
  check(await outcomes(before + 1)(), 'order: an older answer does not undo an event');
  await quiet(opened, 'order');
  await m.close();
}

async function many() {
  const m = mock({ trials: 10_000, curves: true });
  const link = await m.listen(0);
  const opened = await open(link);
  const { page } = opened;
  await go(page, `#/task/${encodeURIComponent(m.id)}/progress`);
  await until('10,000 trials', async () => /8,5\d\d/.test(await text(page)));
  const client = await page.createCDPSession();
  await client.send('Performance.enable');
  // The processor time of the page's thread, which other programs of the machine do not add to.
  const threadTime = async () => (await client.send('Performance.getMetrics')).metrics.find((x) => x.name === 'ThreadTime').value;
  // Updates are compared with sorting a million numbers on the same processor: machines differ.
  const sorting = async () => {
    const before = await threadTime();
    await page.evaluate(() => Float64Array.from({ length: 1e6 }, (_, i) => Math.sin(i * i)).sort()[0]);
    return 1000 * ((await threadTime()) - before);
  };
  for (const view of ['progress', 'trials', 'curves', 'timeline', 'model', 'constraints']) {
    await go(page, `#/task/${encodeURIComponent(m.id)}/${view}`);
    await pause(300);
    await settled(page);
    const updates = 10;
    const sorted = await sorting();
    const before = await threadTime();
    for (let i = 0; i < updates; i++) {
      m.burst(5);
      await pause(600); // one update each
    }
    const each = (1000 * ((await threadTime()) - before)) / updates;
    const most = Math.max(sorted, await sorting());
    check(each < most, `many ${view}: an update takes ${each.toFixed(0)} ms of the processor, expected less than sorting a million numbers, ${most.toFixed(0)} ms`);
    if (view === 'trials') {
      check((await page.evaluate(() => document.querySelectorAll('tbody tr').length)) < 100, 'many trials: only rows in sight are elements');
      await page.evaluate(() => { const s = document.querySelector('.trials'); s.scrollTop = s.scrollHeight; });
      await until('the first trial at the end', () => page.evaluate(() => [...document.querySelectorAll('.trials tbody th a')].some((a) => a.textContent === '1')));
      check(true, 'many trials: the table scrolls to its end');
    }
  }
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  check(usedSize < 200e6, `many: ${Math.round(usedSize / 1e6)} MB of the heap are used, expected less than 200`);
  await page.screenshot({ path: join(shots, 'many-constraints.png') });
  await quiet(opened, 'many');
  await m.close();
}

async function hostile() {
  await hostileTexts('hostile', { noisy: true, curves: true });
  await hostileTexts('hostile goals', { goals: true });
}

async function hostileTexts(name, options) {
  const m = mock({ trials: 60, hostile: true, ...options });
  const link = await m.listen(0);
  const opened = await open(link);
  const { page, watch } = opened;
  await until('the tasks', async () => /onerror/.test(await text(page)));
  await page.waitForSelector('tbody th a', { timeout: patience });
  await go(page, await page.evaluate(() => document.querySelector('tbody th a').getAttribute('href')));
  await until('the views', async () => (await views(page)).length > 6);
  const all = await views(page);
  for (const view of ['#/fleet', ...all, all[0].replace(/progress$/, 'trials/9'), all[0].replace(/progress$/, 'trials/13'), all[0].replace(/progress$/, 'trials/15'), ...(options.curves ? [all[0].replace(/progress$/, 'curves/37')] : []), 'token', all.find((v) => /queue$/.test(v)), all[0].replace(/progress$/, 'trials/9')]) {
    if (view === 'token') {
      await go(page, all[0]);
      await unlock(page, m.token);
      watch.errors.length = 0; // the browser reports the refused token
      continue;
    }
    await go(page, view);
    await pause(400);
    await settled(page);
    const found = await page.evaluate(() => ({
      owned: window.owned === 1,
      elements: document.querySelectorAll('img, .owned, #page script, iframe, object, embed, form, base, #page style').length,
      links: [...document.querySelectorAll('a')].filter((a) => !/^#/.test(a.getAttribute('href'))).length,
      control: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.textContent + document.title + [...document.querySelectorAll('*')].flatMap((e) => [...e.attributes].map((a) => a.value)).join('')),
      wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
      text: document.body.textContent.includes('onerror'),
    }));
    const bad = Object.entries(found).filter(([k, v]) => k !== 'text' && v).map(([k, v]) => `${k} ${v}`);
    check(bad.length === 0, `${name} ${view.replace(/^#\/(task\/[^/]+\/)?/, '')}: ${bad.length ? bad.join(', ') : found.text ? 'markup is shown as text' : 'nothing of it is shown'}`);
  }
  await quiet(opened, name);
  await m.close();
}

// The key: taken out of the address, kept for the tab, refused when it is wrong. The
// connection: the page shows its loss and its return.
async function ofKey() {
  const m = mock({ trials: 20 });
  const link = await m.listen(0);
  const port = Number(new URL(link).port);
  const opened = await open(link);
  const { page, watch } = opened;
  await page.waitForSelector('tbody th a', { timeout: patience });
  check(!page.url().includes('key='), 'key: it is not in the address any more');
  await page.reload();
  await page.waitForSelector('tbody th a', { timeout: patience });
  check(true, 'key: it holds over a reload');
  await page.keyboard.press('Tab');
  check(await page.evaluate(() => document.activeElement.className === 'skip'), 'key: the first Tab is at the skip link');
  await go(page, `#/task/${encodeURIComponent(m.id)}/progress`);
  await until('live', async () => /\blive\b/.test(await text(page)));
  await m.close();
  await until('that the connection is lost', async () => /connection lost/.test(await text(page)));
  check(true, 'connection: its loss is shown');
  const again = mock({ trials: 25 });
  await again.listen(port);
  await until('that it is back', async () => /\blive\b/.test(await text(page)) && /of 22 outcomes/.test(await text(page)));
  check(true, 'connection: it comes back, with what happened meanwhile');
  watch.errors.length = 0; // refused connections, which are what this is about
  await quiet(opened, 'key');
  const wrong = await open(link.replace(/key=.*/, 'key=WRONG'));
  await until('the refusal', async () => /not valid/.test(await text(wrong.page)) && /fbo-node web/.test(await text(wrong.page)));
  check(true, 'key: a wrong one is refused with words');
  await wrong.close();
  const none = await open(link.replace(/#.*/, ''));
  await until('the words', async () => /key is missing/.test(await text(none.page)));
  check(true, 'key: without one the page shows where to get it');
  check((await accessible(none.page)).length === 0, 'key: the text is accessible');
  await none.close();
  await again.close();
}

// end waits until a process has gone: it writes its last files as it ends.
function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return undefined;
  return new Promise((gone) => {
    child.once('exit', gone);
    child.kill();
    setTimeout(() => child.kill('SIGKILL'), 20000).unref();
  });
}

async function main() {
  mkdirSync(shots, { recursive: true });
  browser = await puppeteer.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  const steps = { node: ofNode, views: ofViews, order: ofOrder, curves: ofCurves, goals: ofGoals, every, many, hostile, key: ofKey };
  for (const name of wanted) {
    try {
      await steps[name]();
    } catch (error) {
      check(false, `${name}: ${error.stack}`);
      console.log(await text(shown).catch(String)); // what the last opened page shows
    }
  }
}

try {
  await main();
} finally {
  await Promise.all([...started].map(end));
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
}
console.log(failures === 0 ? 'the page is as it should be' : `${failures} checks of the page have failed`);
process.exit(failures === 0 ? 0 : 1);
