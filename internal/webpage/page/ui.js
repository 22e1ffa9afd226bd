// What all views use of preact.
import { h, render } from './vendor/preact.js';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor/preact-hooks.js';
import htm from './vendor/htm.js';

const html = htm.bind(h);

// useStore draws a component again whenever the store says that something has changed.
function useStore(store) {
  const [, set] = useState(0);
  useEffect(() => store.listen(() => set((n) => n + 1)), [store]);
}

// useAnswer asks for something, and again when any of what it depends on has changed, but not
// more often than it takes ten times as long to answer, and every pause milliseconds at most:
// some answers cost the node computations. It returns {data, error, asking}.
function useAnswer(ask, depends, pause = 3000) {
  const [state, set] = useState({ data: null, error: null, asking: true });
  const memory = useRef({ next: 0 });
  useEffect(() => {
    let over = false;
    const end = new AbortController();
    const wait = Math.max(0, memory.current.next - Date.now());
    const timer = setTimeout(async () => {
      set((s) => ({ ...s, asking: true }));
      const begin = Date.now();
      memory.current.next = begin + pause;
      try {
        const data = await ask(end.signal);
        if (!over) set({ data, error: null, asking: false });
      } catch (error) {
        if (!over) set((s) => ({ data: s.data, error, asking: false }));
      }
      memory.current.next = Date.now() + Math.max(pause, 10 * (Date.now() - begin));
    }, wait);
    return () => {
      over = true;
      clearTimeout(timer);
      end.abort();
    };
  }, depends);
  return state;
}

// useSlow follows a value, but changes at most once per given number of milliseconds, for what takes long to draw.
function useSlow(value, pause) {
  const [slow, set] = useState(value);
  const next = useRef(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      next.current = Date.now() + pause;
      set(value);
    }, Math.max(0, next.current - Date.now()));
    return () => clearTimeout(timer);
  }, [value]);
  return slow;
}

// useTheme draws a component again when the colours change, and returns them.
function useTheme() {
  const [colours, set] = useState(readColours);
  useEffect(() => {
    const again = () => set(readColours());
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', again);
    addEventListener('theme', again);
    return () => {
      system.removeEventListener('change', again);
      removeEventListener('theme', again);
    };
  }, []);
  return colours;
}

const names = ['text', 'muted', 'line', 'surface', 'own', 'peer', 'good', 'bad', 'band', 'faint'];

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colours = { dark: style.getPropertyValue('--dark').trim() === '1', size: parseFloat(style.fontSize), font: getComputedStyle(document.body).fontFamily };
  for (const name of names) colours[name] = style.getPropertyValue('--' + name).trim();
  return colours;
}

// useSize returns the width of an element in pixels, 0 before it is known.
function useSize(ref) {
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const measure = () => set(Math.floor(ref.current?.clientWidth ?? 0));
    const observer = new ResizeObserver(measure);
    observer.observe(ref.current);
    measure();
    return () => observer.disconnect();
  }, []);
  return width;
}

export { html, h, render, useAnswer, useEffect, useLayoutEffect, useMemo, useRef, useSize, useSlow, useState, useStore, useTheme };
