// Numbers, times and texts as people read them.

// What is not printable, hides or turns text around: it is shown as a sign of its own.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff0-\uffff]/g;
const sign = (c) => (c <= '\u001f' ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : '\ufffd');

// plain returns a text of others on one line, with at most this number of characters.
export function plain(text, most = 500) {
  let shown = String(text ?? '');
  if (shown.length > most) shown = shown.slice(0, most) + '…';
  return shown.replace(unprintable, sign);
}

// lines is plain that keeps line breaks and tabs, for what programs print.
export function lines(text) {
  return String(text ?? '').split('\n').map((line) => line.split('\t').map((part) => part.replace(unprintable, sign)).join('\t')).join('\n');
}

// number returns a text with the given significant digits and a true minus sign.
export function number(x, digits = 4) {
  if (typeof x !== 'number' || !Number.isFinite(x)) return '–';
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return minus(String(x));
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split('e');
    return minus(trim(mantissa)) + 'e' + minus(exponent.replace('+', ''));
  }
  return minus(trim(x.toPrecision(digits)));
}

const trim = (text) => (text.includes('.') && !text.includes('e') ? text.replace(/0+$/, '').replace(/\.$/, '') : text);
const minus = (text) => text.replace('-', '\u2212');

// value shows the value of a parameter or constraint.
export function value(v, digits = 4) {
  if (typeof v === 'number') return number(v, digits);
  if (typeof v === 'boolean') return v ? 'yes' : 'no';
  return v === undefined || v === null ? '–' : plain(v, 80);
}

// single reports whether a parameter of a task has one value only.
export const single = (p) => p.value !== undefined || p.choices?.length === 1;

// condition returns under which conditions a parameter is active, or nothing if it always is.
export function condition(p) {
  return Object.entries(p.when ?? {}).map(([parent, c]) => `${plain(parent, 40)} ${Array.isArray(c) ? c.map((v) => value(v)).join(' or ')
    : c.low === undefined ? `at most ${value(c.high)}` : c.high === undefined ? `at least ${value(c.low)}` : `${value(c.low)} to ${value(c.high)}`}`).join(' and ');
}

export const integer = (n) => whole.format(n ?? 0);

export const count = (n, one, many = one + 's') => `${integer(n)} ${n === 1 ? one : many}`;

export const percent = (share) => (share > 0 && share < 0.005 ? '< 1 %' : `${Math.round(100 * share)} %`);

export function bytes(n) {
  if (!(n >= 1000)) return `${n ?? 0} bytes`;
  return n < 1e6 ? `${number(n / 1e3, 3)} kB` : `${number(n / 1e6, 3)} MB`;
}

// duration returns a number of seconds as text.
export function duration(s) {
  if (!(s >= 0)) return '–';
  if (s < 10) return `${number(s, 2)} s`;
  if (s < 100) return `${Math.round(s)} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')}`;
  return `${Math.round(minutes / 1440)} days`;
}

export const ago = (time, now = Date.now()) => {
  const s = (now - time) / 1000;
  return Number.isNaN(s) ? 'never' : s < 2 ? 'just now' : `${duration(s)} ago`;
};

// Formats are kept: making one takes longer than using it a thousand times.
const atTime = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const onDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' });
const whole = new Intl.NumberFormat('en');

export function clock(time) {
  const d = new Date(time);
  if (Number.isNaN(d.getTime())) return '–';
  return (d.toDateString() === new Date().toDateString() ? atTime : onDay).format(d);
}

// withoutPeers lists the sources of designs that used no peer shares.
const withoutPeers = new Set(['enqueued', 'initial', 'remaining', 'imported', 'random']);
export const fromPeers = (why) => Boolean(why) && !withoutPeers.has(why.source) && Boolean(why.peer || why.peer_count > 0);

const sources = {
  enqueued: 'given by the user', initial: 'random start', own: 'own sample',
  remaining: 'random, since nearly all designs have been tried', imported: 'imported', random: 'random',
};

// because says how a design was chosen.
export function because(why) {
  if (!why) return '';
  let text = plain(why.phrase || sources[why.source] || why.source, 200);
  if (why.next_best) text += `, next best after trial ${why.next_best}`;
  else if (why.repeat_of) text += `, trial ${why.repeat_of} again`;
  return text;
}
