// The page in a browser. Driven over the DevTools protocol; see .ci/page, which starts it.
//
//   node check.mjs BROWSER FBO_NODE SCREENSHOTS
import puppeteer from 'puppeteer-core';
import axe from 'axe-core';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from './mock.mjs';

const [executablePath, fboNode, shots] = process.argv.slice(2);
const wanted = process.env.PAGE_CHECKS?.split(',') ?? ['node', 'many', 'hostile', 'key'];
const patience = 120_000;
const work = mkdtempSync(join(tmpdir(), 'page-'));
const started = new Set();
let browser;
let failures = 0;

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

// open opens a page of its own session, and watches what it says and asks for.
async function open(link, { dark = false, width = 1280, height = 900 } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const watch = { errors: [], away: [] };
  const host = new URL(link).host;
  // A browser reports each 404, and that a trial has printed nothing is said by one.
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
  await page.goto(link);
  return { page, watch, close: () => context.close() };
}

const text = (page) => page.evaluate(() => document.getElementById('page').innerText);
const views = (page) => page.evaluate(() => [...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href')));
const go = (page, hash) => page.evaluate((to) => { location.hash = to; }, hash);
// settled waits until nothing is asked of the node any more, and what was is drawn.
const settled = (page) => until('an answer to all', async () => !/Asking the node|Reading|not judged yet …/.test(await text(page))).then(() => pause(600));

async function accessible(page, name) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  const serious = found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
  check(serious.length === 0, `${name}: ${serious.length === 0 ? 'accessible' : serious.map((v) => `${v.id} (${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')})`).join('; ')}`);
}

const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function quiet({ page, watch, close }, name) {
  check(watch.errors.length === 0, `${name}: no error in the console${watch.errors.length ? ': ' + watch.errors.slice(0, 3).join(' | ') : ''}`);
  check(watch.away.length === 0, `${name}: no request leaves the machine${watch.away.length ? ': ' + watch.away.slice(0, 3).join(' ') : ''}`);
  await close();
}

// each view in both colours and three widths: looked at, kept as pictures.
async function pictures(link, name, add = []) {
  for (const dark of [false, true]) for (const width of [320, 1280, 3840]) {
    const opened = await open(link, { dark, width, height: width === 3840 ? 2160 : 900 });
    const { page } = opened;
    await until('the tasks', async () => (await text(page)).length > 100);
    const tasks = await page.evaluate(() => [...document.querySelectorAll('tbody th a')].map((a) => a.getAttribute('href')));
    if (tasks.length > 0) await go(page, tasks[0]);
    await page.waitForSelector('nav a');
    await until('the trials', async () => (await views(page)).length > 4 && /Outcomes/.test(await text(page)));
    const all = ['#/fleet', ...(await views(page))];
    for (const view of [...all, ...add.map((a) => all[1].replace(/progress$/, a))]) {
      const short = view.replace(/^#\/(task\/[^/]+\/)?/, '').replace(/\W+/g, '-');
      await go(page, view);
      await pause(300);
      await settled(page);
      const over = await wide(page);
      check(over <= 0, `${name} ${short} ${width} ${dark ? 'dark' : 'light'}: ${over <= 0 ? 'fits' : `is ${over} px too wide`}`);
      if (width !== 3840) await accessible(page, `${name} ${short} ${width} ${dark ? 'dark' : 'light'}`);
      await page.screenshot({ path: join(shots, `${name}-${short}-${width}-${dark ? 'dark' : 'light'}.png`), fullPage: true });
    }
    await quiet(opened, `${name} ${width} ${dark ? 'dark' : 'light'}`);
  }
}

function start(name, ...args) {
  const child = spawn(fboNode, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: work });
  const said = { child, out: '', ended: false };
  started.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (d) => { said.out += d; });
  said.end = new Promise((then) => child.on('exit', () => { said.ended = true; started.delete(child); then(); }));
  return said;
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
  const script = join(work, 'evaluate');
  writeFileSync(script, `#!/bin/sh
if [ "$FBO_TRIAL" = 4 ] && [ "$1" = first ]; then echo "the <b>fourth</b> one diverged" >&2; exit 3; fi
[ "$1" = first ] && [ "\${FBO_TRIAL:-0}" -gt 12 ] && sleep 0.4
exec awk -v x="$FBO_X" -v r="$FBO_RATE" -v k="$FBO_KIND" 'BEGIN { l = log(r) / log(10) + 1.5; print (x - 0.5) ^ 2 + l * l * 0.3 + (k == "plain" ? 0.2 : 0) }'
`);
  chmodSync(script, 0o755);
  const run = (name, ...more) => start(name, 'run', 'task.yaml', '--data-dir', join(work, name), '--trials', '30', '--allow-private', ...more, '--', script, name);
  const first = run('first', '--web', '--keep-open');
  const link = await until('the page\'s link', () => /page: (http\S+)/.exec(first.out)?.[1] ?? (first.ended && Promise.reject(new Error('the node has ended: ' + first.out))));
  return { first, run, link };
}

async function many() {
  const m = mock({ trials: 10_000 });
  const link = await m.listen(0);
  const opened = await open(link);
  const { page } = opened;
  await go(page, `#/task/${encodeURIComponent(m.id)}/progress`);
  await until('10,000 trials', async () => /9,4\d\d/.test(await text(page)));
  const client = await page.createCDPSession();
  await client.send('Performance.enable');
  for (const view of ['progress', 'trials', 'model', 'constraints']) {
    await go(page, `#/task/${encodeURIComponent(m.id)}/${view}`);
    await pause(300);
    await settled(page);
    // The processor time of the page's thread, which other programs of the machine do not add to.
    const threadTime = async () => (await client.send('Performance.getMetrics')).metrics.find((x) => x.name === 'ThreadTime').value;
    const updates = 10;
    const before = await threadTime();
    for (let i = 0; i < updates; i++) {
      m.burst(5);
      await pause(600); // one update each
    }
    const each = (1000 * ((await threadTime()) - before)) / updates;
    check(each < 100, `many ${view}: an update takes ${each.toFixed(0)} ms of the processor, accepted are less than 100`);
    if (view === 'trials') {
      check((await page.evaluate(() => document.querySelectorAll('tbody tr').length)) < 100, 'many trials: only rows in sight are elements');
      await page.evaluate(() => { const s = document.querySelector('.trials'); s.scrollTop = s.scrollHeight; });
      await until('the first trial at the end', () => page.evaluate(() => [...document.querySelectorAll('.trials tbody th a')].some((a) => a.textContent === '1')));
      check(true, 'many trials: the table scrolls to its end');
    }
  }
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  check(usedSize < 200e6, `many: ${Math.round(usedSize / 1e6)} MB of the heap are used, accepted are less than 200`);
  await page.screenshot({ path: join(shots, 'many-constraints.png') });
  await quiet(opened, 'many');
  await m.close();
}

async function hostile() {
  const m = mock({ trials: 60, hostile: true });
  const link = await m.listen(0);
  const opened = await open(link);
  const { page } = opened;
  await until('the tasks', async () => /onerror/.test(await text(page)));
  await page.waitForSelector('tbody th a');
  await go(page, await page.evaluate(() => document.querySelector('tbody th a').getAttribute('href')));
  await until('the views', async () => (await views(page)).length > 6);
  const all = await views(page);
  for (const view of ['#/fleet', ...all, all[0].replace(/progress$/, 'trials/9'), all[0].replace(/progress$/, 'trials/13')]) {
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
    check(bad.length === 0, `hostile ${view.replace(/^#\/(task\/[^/]+\/)?/, '')}: ${bad.length ? bad.join(', ') : found.text ? 'markup is shown as text' : 'nothing of it is shown'}`);
  }
  await quiet(opened, 'hostile');
  await m.close();
}

// The key: taken out of the address, kept for the tab, refused when it is wrong. The
// connection: its loss is said, and its return.
async function ofKey() {
  const m = mock({ trials: 20 });
  const link = await m.listen(0);
  const port = Number(new URL(link).port);
  const opened = await open(link);
  const { page, watch } = opened;
  await page.waitForSelector('tbody th a');
  check(!page.url().includes('key='), 'key: it is not in the address any more');
  await page.reload();
  await page.waitForSelector('tbody th a');
  check(true, 'key: it holds over a reload');
  await page.keyboard.press('Tab');
  check(await page.evaluate(() => document.activeElement.className === 'skip'), 'key: the first Tab is at the skip link');
  await go(page, `#/task/${encodeURIComponent(m.id)}/progress`);
  await until('live', async () => /\blive\b/.test(await text(page)));
  await m.close();
  await until('that the connection is lost', async () => /connection lost/.test(await text(page)));
  check(true, 'connection: its loss is said');
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
  check(true, 'key: without one the page says where to get it');
  await accessible(none.page, 'key: without one');
  await none.close();
  await again.close();
  const empty = mock({ empty: true });
  await pictures(await empty.listen(0), 'empty');
  await empty.close();
}

async function main() {
  mkdirSync(shots, { recursive: true });
  browser = await puppeteer.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  const steps = { node: ofNode, many, hostile, key: ofKey };
  for (const name of wanted) {
    try {
      await steps[name]();
    } catch (error) {
      check(false, `${name}: ${error.stack}`);
    }
  }
}

try {
  await main();
} finally {
  for (const child of started) child.kill();
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
}
console.log(failures === 0 ? 'the page is as it should be' : `${failures} checks of the page have failed`);
process.exit(failures === 0 ? 0 : 1);
