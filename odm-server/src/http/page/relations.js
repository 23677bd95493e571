// The relations of a database, by collection.

import * as server from './server.js';
import { array, at, doc, get, parse, show, write } from './values.js';

const WORDS = {
  copy: 'copied from',
  count: 'count of',
  exists: 'whether there are',
  sum: 'sum over',
  min: 'least of',
  max: 'greatest of',
  subset: 'subset of',
  sequence: 'number within',
  ancestors: 'ancestors in',
  computed: 'computed from',
};

export class Relations {
  constructor(document) {
    const list = name => (get(document, name)?.items ?? []).map(one => Object.fromEntries(one.fields.map(([key, value]) => [key, plain(value)])));
    this.collections = list('collections').map(one => one.name);
    this.references = list('references');
    this.derived = list('derived');
    this.splits = list('splits');
  }

  reference(collection, path) {
    return this.references.find(one => one.from === collection && one.path === path);
  }

  of(collection, path) {
    return this.derived.find(one => one.holder === collection && one.path === path);
  }

  into(collection) {
    return this.references.filter(one => one.to === collection);
  }
}

const plain = value => value.t === 'array' ? value.items.map(plain) : value.t === 'document' ? value : value.v;

const loaded = new Map();

// They are read once, and again if a page is loaded again.
export function relationsOf(db) {
  if (!loaded.has(db)) {
    const loading = server.relations(db).then(reply => new Relations(reply));
    loading.catch(() => loaded.delete(db));
    loaded.set(db, loading);
  }
  return loaded.get(db);
}

// What a derived field follows from, in words.
export function describe(field) {
  const read = field.read.map(path => field.kind === 'computed' ? path : `${field.source}.${path}`);
  const word = WORDS[field.kind] ?? `${field.kind} of`;
  const what = field.kind === 'count' || field.kind === 'exists' || field.kind === 'subset' || read.length === 0 ? field.source : read.join(', ');
  const condition = field.filter?.fields.length > 0 ? ` where ${show(field.filter)}` : '';
  return `${field.frozen ? 'frozen, ' : ''}${word} ${what}${condition}`;
}

// The filter of the documents that a field of a document is derived from.
export function sourcesOf(field, id) {
  const own = doc([[field.via, id]]);
  if (!field.filter || field.filter.fields.length === 0) return own;
  return doc([['$and', array([own, field.filter])]]);
}

// The value of a path that begins in one of the documents around a value; `around` has each with its path.
export function resolve(around, path) {
  for (const [prefix, value] of [...around].reverse()) {
    const rest = prefix === '' ? path : path.startsWith(`${prefix}.`) ? path.slice(prefix.length + 1) : undefined;
    if (rest !== undefined) return at(value, ...rest.split('.'));
  }
  return undefined;
}

export const idText = id => write(id);
export const idOf = source => parse(source);
