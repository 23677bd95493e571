// Calls of the server.

import { at, doc, get, int, number, parse, text, write } from './values.js';

export class ServerError extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

async function post(path, body, signal) {
  const response = await fetch(new URL(path, import.meta.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: write(body),
    signal,
  });
  const answer = await response.text();
  let reply;
  try {
    reply = parse(answer);
  } catch {
    throw new ServerError(`the server answers with the status ${response.status}`, response.status);
  }
  if (number(get(reply, 'ok')) !== 1) {
    throw new ServerError(get(reply, 'errmsg')?.v ?? `the server answers with the status ${response.status}`, number(get(reply, 'code')));
  }
  return reply;
}

// Runs a command, which is a list of names and values, and returns its reply.
export function run(db, fields, signal) {
  return post('api/command', doc([...fields, ['$db', text(db)]]), signal);
}

export function relations(db, signal) {
  return post('api/relations', doc([['$db', text(db)]]), signal);
}

export const batch = reply => (at(reply, 'cursor', 'firstBatch') ?? at(reply, 'cursor', 'nextBatch')).items;

export async function databases(signal) {
  // Sizes, which it does not show, take a read of all pages.
  const reply = await run('admin', [['listDatabases', int(1)], ['nameOnly', { t: 'bool', v: true }]], signal);
  const all = get(reply, 'databases').items.map(one => get(one, 'name').v);
  return all.filter(name => !['admin', 'config', 'local'].includes(name));
}

export async function collections(db, signal) {
  const reply = await run(db, [['listCollections', int(1)], ['filter', doc([['type', text('collection')]])], ['nameOnly', { t: 'bool', v: true }], ['cursor', doc([['batchSize', int(1000)]])]], signal);
  return batch(reply).map(one => get(one, 'name').v).filter(name => !name.startsWith('_odm')).sort();
}

export async function stats(db, name, signal) {
  const reply = await run(db, [['collStats', text(name)]], signal);
  return { count: number(get(reply, 'count')), size: number(get(reply, 'size')) };
}
