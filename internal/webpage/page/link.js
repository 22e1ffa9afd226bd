// A link to what is shown: task, view and trial, never the key or the token.
import { html, useState } from './ui.js';

// linkOf returns the permanent link of an address. Its part behind the # has only the view.
export const linkOf = (place) => place.origin + place.pathname + (/^#\/(task|fleet)/.test(place.hash) ? place.hash : '#/');

export function CopyLink() {
  const [state, setState] = useState('');
  const copy = async () => {
    const link = linkOf(location);
    try {
      await navigator.clipboard.writeText(link);
      setState('Copied.');
    } catch {
      setState(link); // the browser does not permit it: the user can select the text
    }
  };
  return html`<button type="button" onClick=${copy}>Copy link</button><span role="status" class="muted">${state}</span>`;
}
