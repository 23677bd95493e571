// The documents of a collection, and one document with what it follows from.

import * as server from './server.js';
import { alarm, h, link, milliseconds, numbers, plural, say } from './elements.js';
import { describe, idOf, idText, relationsOf, resolve, sourcesOf } from './relations.js';
import { at, bool, doc, filterOf, get, int, number, pathsOf, show, text, write } from './values.js';

const PAGE = 25;
const COLUMNS = 12;
const LONGEST = 80;
// A search that takes longer ends by itself.
const LIMIT = ['maxTimeMS', int(60_000)];
const NUMBERS = ['int32', 'int64', 'double', 'decimal'];

const toDocument = (db, name, id) => link('document', { db, in: name, id: idText(id) });
const toDocuments = (db, name, filter, sort) => link('documents', { db, in: name, filter: filter && write(filter), sort });

const shorten = line => line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;

function query(state) {
  return {
    filter: filterOf(state.get('filter') ?? ''),
    sort: pathsOf(state.get('sort') ?? '', -1),
    projection: pathsOf(state.get('projection') ?? '', 0),
    page: Math.max(0, Number(state.get('page')) || 0),
  };
}

function find(name, { filter, sort, projection, page }) {
  const fields = [['find', text(name)], ['filter', filter]];
  if (sort.fields.length > 0) fields.push(['sort', sort]);
  if (projection.fields.length > 0) fields.push(['projection', projection]);
  fields.push(['skip', int(page * PAGE)], ['limit', int(PAGE + 1)], ['batchSize', int(PAGE + 1)], LIMIT);
  return fields;
}

function form(db, name, state) {
  const field = (id, label, placeholder) => h('label', { for: id }, h('span', {}, label), h('input', {
    id, name: id, value: state.get(id) ?? '', placeholder, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
    'aria-keyshortcuts': id === 'filter' ? '/' : undefined,
  }));
  const submit = event => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.currentTarget));
    const to = link('documents', { db, in: name, ...values, explain: event.submitter?.value === 'explain' ? 1 : undefined });
    // The same question again is one for what is there now.
    if (location.hash === to) dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = to;
  };
  return h('form', { class: 'query', role: 'search', onsubmit: submit },
    field('filter', 'Filter', 'qty>=5 name=bolt, or {"qty": {"$gt": 5}}'),
    field('sort', 'Sort', '-published name'),
    field('projection', 'Fields', 'name price, or -text'),
    h('div', { class: 'buttons' }, h('button', { class: 'first' }, 'Find'), h('button', { value: 'explain' }, 'Explain')));
}

// A value in a cell of the list.
function cell(db, relations, name, path, value) {
  if (value === undefined) return h('td', { class: 'absent' }, '');
  const reference = relations.reference(name, path);
  const kind = `value ${reference ? 'reference' : value.t}`;
  if (reference && value.t !== 'array' && value.t !== 'null') {
    return h('td', { class: kind }, h('a', { href: toDocument(db, reference.to, value), title: `${reference.to} ${show(value)}` }, show(value)));
  }
  if (reference && value.t === 'array') {
    const links = value.items.slice(0, 6).map(one => h('a', { href: toDocument(db, reference.to, one), title: `${reference.to} ${show(one)}` }, show(one)));
    return h('td', { class: kind }, links.flatMap((one, index) => index > 0 ? [' ', one] : [one]), value.items.length > 6 ? ' …' : '');
  }
  return h('td', { class: kind, title: value.t }, shorten(value.t === 'string' ? value.v : show(value)));
}

function table(db, relations, name, documents) {
  const columns = [];
  for (const document of documents) {
    for (const [field] of document.fields) if (!columns.includes(field)) columns.push(field);
  }
  const shown = columns.slice(0, COLUMNS);
  const head = shown.map(path => {
    const derived = relations.of(name, path);
    const isNumber = NUMBERS.includes(documents.map(one => get(one, path)).find(Boolean)?.t) && path !== '_id' && !relations.reference(name, path);
    return h('th', { scope: 'col', class: `${derived ? 'derived' : ''} ${isNumber ? 'number' : ''}`, title: derived && describe(derived) }, path, derived && h('span', { class: 'mark' }, ' ƒ'));
  });
  const rows = documents.map(document => h('tr', {}, shown.map(path => {
    const value = get(document, path);
    if (path === '_id' && value) return h('th', { scope: 'row' }, h('a', { href: toDocument(db, name, value), 'data-row': true }, show(value)));
    return cell(db, relations, name, path, value);
  })));
  const left = columns.length - shown.length;
  return [
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Documents of ${name}` },
      h('table', { class: 'documents', 'data-list': true }, h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows))),
    left > 0 && h('p', { class: 'note' }, `${plural(left, 'field')} more: open a document to see all.`),
  ];
}

function plan(stage) {
  const steps = [];
  for (let at = stage; at; at = get(at, 'inputStage')) {
    const parts = [get(at, 'stage').v, get(at, 'indexName')?.v, get(at, 'indexBounds') && show(get(at, 'indexBounds')), get(at, 'sortPattern') && show(get(at, 'sortPattern'))];
    steps.push(parts.filter(Boolean).join(' '));
  }
  return steps.reverse();
}

async function explain(db, name, asked, signal) {
  const inner = doc([...find(name, asked), ['$db', text(db)]].filter(([field]) => field !== 'batchSize'));
  const reply = await server.run(db, [['explain', inner], ['verbosity', text('executionStats')]], signal);
  const stats = get(reply, 'executionStats');
  const facts = [
    ['Documents returned', numbers.format(number(get(stats, 'nReturned')))],
    ['Documents examined', numbers.format(number(get(stats, 'totalDocsExamined')))],
    ['Keys examined', numbers.format(number(get(stats, 'totalKeysExamined')))],
    ['Time', milliseconds(number(get(stats, 'executionTimeMillis')))],
  ];
  return h('section', { class: 'explain', 'aria-label': 'Explanation' },
    h('h2', {}, 'Explanation'),
    h('ol', {}, plan(at(reply, 'queryPlanner', 'winningPlan')).map(step => h('li', {}, step))),
    h('dl', {}, facts.map(([term, fact]) => h('div', {}, h('dt', {}, term), h('dd', {}, fact)))));
}

export async function documents(main, state, signal) {
  const [db, name] = [state.get('db'), state.get('in')];
  const place = h('div', { 'aria-busy': 'true' });
  main.replaceChildren(h('h1', { tabindex: '-1' }, name), form(db, name, state), place);
  try {
    const asked = query(state);
    const [relations, reply] = await Promise.all([relationsOf(db), server.run(db, find(name, asked), signal)]);
    const found = server.batch(reply);
    const shown = found.slice(0, PAGE);
    const first = asked.page * PAGE;
    const range = h('span', { id: 'range' }, shown.length === 0 ? 'No documents' : `${numbers.format(first + 1)}–${numbers.format(first + shown.length)}`);
    // It may take longer than the documents.
    const tell = total => {
      if (shown.length > 0) range.append(` of ${plural(total, 'document')}`);
      say(range.textContent);
    };
    server.run(db, [['count', text(name)], ['query', asked.filter], LIMIT], signal)
      .then(counted => tell(number(get(counted, 'n'))))
      .catch(error => { if (!signal.aborted) range.append(`, not counted: ${error.message}`); });
    const turn = (label, page, rel) => {
      const to = new URLSearchParams(state);
      to.set('page', String(page));
      return h('a', { href: `#documents?${to}`, rel }, label);
    };
    const pages = h('p', { class: 'pages' }, range,
      asked.page > 0 && turn('← Previous', asked.page - 1, 'prev'),
      found.length > PAGE && turn('Next →', asked.page + 1, 'next'));
    const explained = state.get('explain') ? await explain(db, name, asked, signal) : null;
    place.replaceChildren(...[explained, pages, ...(shown.length > 0 ? table(db, relations, name, shown) : [])].filter(Boolean));
  } catch (error) {
    if (signal.aborted) return;
    place.replaceChildren(alarm(error));
  } finally {
    place.removeAttribute('aria-busy');
  }
}

// The fields of a document as a tree, each with its type, its references and what it is derived from.
class Tree {
  constructor(db, name, relations, document) {
    this.db = db;
    this.name = name;
    this.relations = relations;
    this.id = get(document, '_id');
    this.root = document;
  }

  rows() {
    return this.fields(this.root, '', [['', this.root]], 0);
  }

  fields(value, path, around, depth) {
    return value.fields.flatMap(([name, inner]) => this.field(name, inner, path === '' ? name : `${path}.${name}`, around, depth));
  }

  field(label, value, path, around, depth) {
    const derived = this.relations.of(this.name, path);
    const reference = this.relations.reference(this.name, path);
    const isInner = (value.t === 'document' && value.fields.length > 0) || (value.t === 'array' && value.items.length > 0);
    const isList = reference && value.t === 'array';
    const row = h('div', { class: `field ${derived ? 'derived' : ''}`, role: 'listitem', 'data-path': path },
      h('span', { class: 'name' }, label),
      h('span', { class: 'type' }, value.t),
      h('span', { class: `value ${value.t}` }, isInner && !isList ? summary(value) : this.value(value, reference)),
      derived && h('span', { class: 'source' }, '← ', this.source(derived, value, around)));
    row.style.setProperty('--depth', String(depth));
    if (!isInner || isList) return [row];
    const inner = value.t === 'document'
      ? this.fields(value, path, [...around, [path, value]], depth + 1)
      : value.items.flatMap((one, index) => this.item(index, one, path, around, depth + 1, derived));
    return [row, ...inner];
  }

  // An element of a list has the path of the list.
  item(index, value, path, around, depth, derived) {
    const of = derived?.kind === 'ancestors' ? { to: derived.source } : undefined;
    const isInner = value.t === 'document' && value.fields.length > 0;
    const row = h('div', { class: 'field', role: 'listitem' },
      h('span', { class: 'name index' }, String(index)),
      h('span', { class: 'type' }, value.t),
      h('span', { class: `value ${value.t}` }, isInner ? summary(value) : this.value(value, of)));
    row.style.setProperty('--depth', String(depth));
    return isInner ? [row, ...this.fields(value, path, [...around, [path, value]], depth + 1)] : [row];
  }

  value(value, reference) {
    if (!reference || value.t === 'null') return show(value);
    const to = one => h('a', { href: toDocument(this.db, reference.to, one) }, show(one));
    const links = value.t === 'array' ? value.items.flatMap((one, index) => index > 0 ? [', ', to(one)] : [to(one)]) : [to(value)];
    return [...links, h('span', { class: 'to' }, ` in ${reference.to}`)];
  }

  source(field, value, around) {
    const words = describe(field);
    if (!field.via || !this.id) return words;
    if (field.reverse) return h('a', { href: toDocuments(this.db, field.source, sourcesOf(field, this.id)) }, words);
    const id = resolve(around, field.via);
    const isOne = id && id.t !== 'null' && id.t !== 'array';
    return isOne ? h('a', { href: toDocument(this.db, field.source, id) }, `${words}, ${field.via} = ${show(id)}`) : words;
  }
}

const summary = value => value.t === 'document' ? `{${plural(value.fields.length, 'field')}}` : `[${plural(value.items.length, 'element')}]`;

// The documents that refer to this one, and its cold parts, with their numbers.
function referrers(db, name, relations, id, signal) {
  const asked = relations.into(name).map(one => [one.from, one.path]);
  for (const split of relations.splits.filter(one => one.hot === name)) asked.push([split.cold, split.key]);
  const items = asked.map(([from, path]) => {
    const filter = doc([[path, id]]);
    const count = h('span', { class: 'count' }, '…');
    server.run(db, [['count', text(from)], ['query', filter], LIMIT], signal)
      .then(reply => { count.textContent = numbers.format(number(get(reply, 'n'))); })
      .catch(error => { if (!signal.aborted) count.textContent = error.message; });
    return h('li', {}, h('a', { href: toDocuments(db, from, filter) }, `${from}.${path}`), ' ', count);
  });
  return items.length > 0 && h('section', { class: 'referrers' }, h('h2', {}, 'Referred to by'), h('ul', { 'data-list': true }, items));
}

export async function document(main, state, signal) {
  const [db, name] = [state.get('db'), state.get('in')];
  const place = h('div', { 'aria-busy': 'true' });
  const back = h('a', { href: toDocuments(db, name), id: 'back' }, name);
  main.replaceChildren(h('h1', { tabindex: '-1' }, back, ' ', h('span', { class: 'id' }, '')), place);
  try {
    const id = idOf(state.get('id'));
    main.querySelector('.id').textContent = show(id);
    const [relations, reply] = await Promise.all([
      relationsOf(db),
      server.run(db, [['find', text(name)], ['filter', doc([['_id', doc([['$eq', id]])]])], ['limit', int(1)], ['singleBatch', bool(true)]], signal),
    ]);
    const [found] = server.batch(reply);
    if (!found) {
      place.replaceChildren(h('p', {}, `There is no such document in ${name}.`), ...[referrers(db, name, relations, id, signal)].filter(Boolean));
      return;
    }
    const raw = h('details', {}, h('summary', {}, 'Canonical extended JSON'), h('pre', { tabindex: '0' }, write(found)));
    const tree = h('div', { class: 'tree', role: 'list', 'aria-label': 'Fields' }, new Tree(db, name, relations, found).rows());
    place.replaceChildren(...[tree, referrers(db, name, relations, id, signal), raw].filter(Boolean));
    say(`${name} ${show(id)}`);
  } catch (error) {
    if (signal.aborted) return;
    place.replaceChildren(alarm(error));
  } finally {
    place.removeAttribute('aria-busy');
  }
}

export { toDocument };
