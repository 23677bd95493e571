// The page: which view is shown, by what stands behind the `#` of the address, and the keys.

import { diagram } from './diagram.js';
import { document as oneDocument, documents } from './documents.js';
import { alarm, h, link, numbers, say } from './elements.js';
import * as server from './server.js';
import { audit, changes, command, operations, sizes } from './state.js';

const VIEWS = { documents, document: oneDocument, diagram, sizes, operations, audit, changes, command };
const NAMED = [['diagram', 'Relations'], ['sizes', 'Sizes'], ['operations', 'Operations'], ['audit', 'Audit'], ['changes', 'Changes'], ['command', 'Command']];

const KEYS = [['/', 'filter'], ['↑ ↓', 'lists'], ['Esc', 'back']];

const main = document.getElementById('main');
const views = document.getElementById('views');
const collections = document.getElementById('collections');

let shown = { view: '', state: new URLSearchParams(), leave: new AbortController() };
let listed = [];

// The view and its state, as the address has them.
function address() {
  const [view, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { view, state: new URLSearchParams(query ?? '') };
}

function mark() {
  const db = shown.state.get('db') ?? listed[0];
  views.replaceChildren(...NAMED.map(([view, name]) => h('a', { href: link(view, { db }), 'aria-current': shown.view === view && 'page' }, name)));
  for (const one of collections.querySelectorAll('a')) {
    const own = new URLSearchParams(one.hash.split('?')[1]);
    const isShown = ['documents', 'document'].includes(shown.view) && own.get('db') === shown.state.get('db') && own.get('in') === shown.state.get('in');
    if (isShown) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
}

async function list() {
  try {
    listed = await server.databases();
    const parts = [];
    for (const db of listed) {
      const names = await server.collections(db);
      const items = names.map(name => {
        const count = h('span', { class: 'count' }, '');
        server.stats(db, name).then(stats => { count.textContent = numbers.format(stats.count); }).catch(() => { count.textContent = '–'; });
        return h('li', {}, h('a', { href: link('documents', { db, in: name }) }, h('span', {}, name), count));
      });
      parts.push(h('h2', {}, db), h('ul', { 'data-list': true }, items));
    }
    if (listed.length === 0) parts.push(h('p', { class: 'note' }, 'No database is served.'));
    parts.push(h('p', { class: 'keys' }, KEYS.map(([key, what]) => h('span', {}, h('kbd', {}, key), ` ${what}`))));
    collections.replaceChildren(...parts);
  } catch (error) {
    collections.replaceChildren(alarm(error));
  }
}

async function render() {
  const next = address();
  shown.leave.abort();
  const kept = next.view === shown.view && document.activeElement?.id;
  const position = document.activeElement?.selectionStart;
  shown = { ...next, leave: new AbortController() };
  const first = listed[0];
  if (!VIEWS[next.view]) {
    if (first) location.replace(link('diagram', { db: first }));
    return;
  }
  mark();
  document.title = [shown.state.get('in') ?? next.view, shown.state.get('db'), 'odm'].filter(Boolean).join(' · ');
  say('');
  const rendering = VIEWS[next.view](main, shown.state, shown.leave.signal);
  const again = kept && document.getElementById(kept);
  if (again && main.contains(again)) {
    again.focus();
    if (position !== undefined && position !== null) again.setSelectionRange?.(position, position);
  } else {
    main.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  await rendering;
}

// The arrows lead from link to link of a list, and from row to row of a table.
function step(event) {
  const links = [...(event.target.closest('[data-list]')?.querySelectorAll('a') ?? [])].filter(one => !event.target.closest('table') || one.dataset.row !== undefined);
  const at = links.indexOf(event.target);
  if (at < 0) return;
  event.preventDefault();
  links[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
}

document.addEventListener('keydown', event => {
  const isTyping = event.target.matches('input, textarea, select');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/' && !isTyping) {
    const filter = document.getElementById('filter') ?? collections.querySelector('a');
    if (filter) event.preventDefault();
    filter?.focus();
  } else if (event.key === 'Escape') {
    if (isTyping) main.focus();
    else if (shown.view === 'document') document.getElementById('back')?.click();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    step(event);
  }
});

document.getElementById('skip').addEventListener('click', event => {
  event.preventDefault();
  main.focus();
});

addEventListener('hashchange', render);
await list();
await render();
