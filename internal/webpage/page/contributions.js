// Contributions of peers: their connections, their shares, and the weight of each.
import { forceCollide, forceManyBody, forceRadial, forceSimulation } from './vendor/d3-force.js';
import { html, useMemo, useState } from './ui.js';
import { ago, clock, count, number, percent, plain } from './format.js';
import { sentence } from './progress.js';

const paths = {
  direct: 'direct', relayed: 'relayed, through a hub', disconnected: 'disconnected: this node keeps its shares', banned: 'banned',
};

export function Contributions({ store, contributions, go, now }) {
  const { data, error } = contributions;
  const [marked, mark] = useState(null);
  if (!data) return html`<section class="empty"><h2>Peer contributions</h2><p>${error ? 'The node answered: ' + plain(error.message) : 'Asking the node …'}</p></section>`;
  const peers = data.peers ?? [];
  if (peers.length === 0) {
    return html`<section class="empty"><h2>No peers yet</h2><p>${sentence(data.summary)}</p>
      <p>Each peer appears here after its first connection, with its path, its shares, the designs that used them, and its weight.</p></section>`;
  }
  const several = store.trials.filter((t) => t?.why?.peer_count > 0 && !t.why.peer);
  return html`
    <p class="lead">${sentence(data.summary)}</p>
    <div class="contributions">
      <section aria-labelledby="network">
        <h2 id="network">Network</h2>
        <${Network} peers=${peers} marked=${marked} />
        <ul class="legend" aria-label="Lines">
          ${['direct', 'relayed', 'disconnected', 'banned'].map((path) => html`<li><svg class="key wide" viewBox="0 0 32 16" aria-hidden="true"><line class=${'edge ' + path} x1="1" y1="8" x2="31" y2="8" />${path === 'banned' && html`<path class="edge banned-mark" d="M12 4l8 8M12 12l8-8" />`}</svg> ${path}</li>`)}
          <li>a wider disc: more designs used its shares</li><li>a fuller and nearer one: a larger weight</li>
        </ul>
      </section>
      <section aria-labelledby="peers">
        <h2 id="peers">Peers</h2>
        <div class="scroll" tabindex="0" role="region" aria-labelledby="peers">
        <table class="list">
          <thead><tr><th scope="col">peer</th><th scope="col">connected</th><th scope="col" class="n">shares</th><th scope="col" class="n">observations</th><th scope="col">last share</th><th scope="col">designs that used its shares</th><th scope="col">weight</th></tr></thead>
          <tbody>${peers.map((p) => html`
            <tr key=${p.id} onMouseEnter=${() => mark(p.id)} onMouseLeave=${() => mark(null)}>
              <th scope="row"><span class="mono cut" title=${plain(p.id, 120)}>${plain(p.name, 24)}</span>${p.present && html`<span class="muted small together">takes part</span>`}</th>
              <td>${paths[p.path] ?? plain(p.path, 40)}${p.address && html`<span class="muted small mono cut" title=${plain(p.address, 200)}>${plain(p.address, 200)}</span>`}</td>
              <td class="n">${p.shares ?? 0}</td>
              <td class="n">${p.observations ?? '–'}</td>
              <td class="together">${p.last_share ? html`<span title=${clock(p.last_share)}>${ago(Date.parse(p.last_share), now)}</span>` : 'never'}</td>
              <td><${Designs} ids=${p.designs ?? []} go=${go} /></td>
              <td><${Weight} of=${p} /></td>
            </tr>`)}
          </tbody>
        </table></div>
        ${several.length > 0 && html`<p class="muted">${count(several.length, 'design')} used shares of several peers; <a href=${go('trials') + '?peers=yes'}>the table of trials</a> lists them all.</p>`}
      </section>
    </div>`;
}

// The newest designs are linked, up to this number; the others are in the table of trials.
const most = 6;

function Designs({ ids, go }) {
  if (ids.length === 0) return 'none';
  const shown = ids.slice(-most);
  return html`${ids.length > most && html`<span>${ids.length}, the newest </span>`}${shown.map((id, i) => html`${i > 0 && ', '}<a href=${go('trials', id)} aria-label=${'trial ' + id}>${id}</a>`)}`;
}

function Weight({ of }) {
  if (typeof of.weight !== 'number') return html`<span class="muted">${of.explanation ? plain(of.explanation, 200) : 'no weight yet'}</span>`;
  const share = Math.min(1, Math.max(0, of.weight));
  return html`<span class="weight"><span class="bar" aria-hidden="true"><span style=${{ width: 100 * share + '%' }}></span></span><span class="n">${percent(share)}</span></span>
    ${of.explanation && html`<span class="muted small">${plain(of.explanation, 200)}</span>`}`;
}

const wide = 480;
const high = 360;

// layout puts the node in the middle and the peers around it, those with larger weights nearer. The places
// are computed at once, without movement, and stay while the peers are the same.
function layout(peers) {
  const nodes = peers.map((p, i) => ({
    peer: p, r: 9 + Math.min(12, 2.2 * Math.sqrt(p.designs?.length ?? 0)),
    x: 100 * Math.cos((2 * Math.PI * i) / peers.length), y: 100 * Math.sin((2 * Math.PI * i) / peers.length),
  }));
  const far = (n) => (typeof n.peer.weight === 'number' ? 85 + 70 * (1 - n.peer.weight) : 145);
  const simulation = forceSimulation(nodes)
    .force('away', forceManyBody().strength(peers.length > 60 ? -20 : -160))
    .force('near', forceRadial(far, 0, 0).strength(0.9))
    .force('apart', forceCollide((n) => n.r + 14))
    .stop();
  simulation.tick(Math.min(200, Math.ceil(20_000 / Math.max(1, nodes.length))));
  const most = (of) => Math.max(60, ...nodes.map(of));
  const fit = Math.min(1.5, (wide / 2 - 40) / most((n) => Math.abs(n.x)), (high / 2 - 32) / most((n) => Math.abs(n.y)));
  for (const n of nodes) {
    n.x = wide / 2 + n.x * fit;
    n.y = high / 2 + n.y * fit;
  }
  return nodes;
}

function Network({ peers, marked }) {
  const shape = peers.map((p) => `${p.id} ${p.designs?.length} ${typeof p.weight === 'number' ? number(p.weight, 1) : ''}`).join('\n');
  const nodes = useMemo(() => layout(peers), [shape]);
  const by = new Map(peers.map((p) => [p.id, p]));
  const counts = Object.keys(paths).map((path) => [path, peers.filter((p) => p.path === path).length]).filter(([, n]) => n > 0);
  return html`<svg class="network" viewBox=${`0 0 ${wide} ${high}`} role="img" aria-label=${`This node in the middle of ${count(peers.length, 'peer')}: ${counts.map(([path, n]) => `${n} ${path}`).join(', ')}. The table has them all.`}>
    ${nodes.map((n) => {
      const path = by.get(n.peer.id)?.path ?? 'disconnected';
      const x = (n.x + wide / 2) / 2, y = (n.y + high / 2) / 2;
      return html`<g key=${'e' + n.peer.id}><line class=${'edge ' + (paths[path] ? path : 'disconnected')} x1=${wide / 2} y1=${high / 2} x2=${n.x} y2=${n.y} />
        ${path === 'banned' && html`<path class="edge banned-mark" d=${`M${x - 6} ${y - 6}l12 12M${x - 6} ${y + 6}l12 -12`} />`}</g>`;
    })}
    ${nodes.map((n) => {
      const p = by.get(n.peer.id) ?? n.peer;
      const opacity = typeof p.weight === 'number' ? 0.25 + 0.75 * Math.min(1, Math.max(0, p.weight)) : 0.25;
      return html`<g key=${'n' + p.id} class=${'peer ' + (paths[p.path] ? p.path : 'disconnected') + (marked === p.id ? ' marked' : '')}>
        <circle class="under" cx=${n.x} cy=${n.y} r=${n.r} /><circle class="disc" cx=${n.x} cy=${n.y} r=${n.r} fill-opacity=${opacity} />
        <text x=${n.x} y=${n.y + n.r + 13}>${plain(p.name, 14)}</text></g>`;
    })}
    <circle class="self" cx=${wide / 2} cy=${high / 2} r="15" /><text class="self-name" x=${wide / 2} y=${high / 2 + 30}>this node</text>
  </svg>`;
}
