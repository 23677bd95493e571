// What a database takes, what the server does, whether derived data is right, and what changes.

import { toDocument } from './documents.js';
import { alarm, bar, bytes, h, link, milliseconds, numbers, plural, say } from './elements.js';
import * as server from './server.js';
import { array, at, beginning, bool, doc, get, int, lines, number, parse, show, size, text } from './values.js';

const SAMPLE = 100;
const WAIT = 10_000;
const EVENTS = 500;

// The columns of numbers.
const NUMBERS = ['Documents', 'Findings', 'Mean', 'Size', 'Time'];

const heading = words => h('h1', { tabindex: '-1' }, words);

const wait = (time, signal) => new Promise(done => {
  const timer = setTimeout(done, time);
  signal.addEventListener('abort', () => { clearTimeout(timer); done(); }, { once: true });
});

const table = (heads, body, label) => h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
  h('table', {}, h('thead', {}, h('tr', {}, heads.map(head => h('th', { scope: 'col', class: NUMBERS.includes(head) && 'number' }, head)))), body));

// The size of a collection, as the server knows it, or by the mean of its first documents.
async function measured(db, name, signal) {
  const stats = await server.stats(db, name, signal);
  if (stats.size > 0 || stats.count === 0) return { ...stats, name };
  const reply = await server.run(db, [['find', text(name)], ['limit', int(SAMPLE)], ['batchSize', int(SAMPLE)], ['singleBatch', bool(true)]], signal);
  const sample = server.batch(reply);
  const mean = sample.reduce((sum, one) => sum + size(one), 0) / Math.max(1, sample.length);
  return { name, count: stats.count, size: mean * stats.count, isEstimate: stats.count > sample.length };
}

export async function sizes(main, state, signal) {
  const db = state.get('db');
  const place = h('div', { 'aria-busy': 'true' });
  main.replaceChildren(heading('Sizes'), place);
  try {
    const all = [];
    for (const name of await server.collections(db, signal)) all.push(await measured(db, name, signal));
    all.sort((a, b) => b.size - a.size);
    const most = { count: Math.max(1, ...all.map(one => one.count)), size: Math.max(1, ...all.map(one => one.size)) };
    const rows = all.map(one => h('tr', {},
      h('th', { scope: 'row' }, h('a', { href: link('documents', { db, in: one.name }) }, one.name)),
      h('td', { class: 'number' }, numbers.format(one.count)), h('td', { class: 'chart' }, bar(one.count / most.count)),
      h('td', { class: 'number' }, `${one.isEstimate ? '≈ ' : ''}${bytes(one.size)}`), h('td', { class: 'chart' }, bar(one.size / most.size)),
      h('td', { class: 'number' }, one.count > 0 ? bytes(one.size / one.count) : '–')));
    place.replaceChildren(
      table(['Collection', 'Documents', '', 'Size', '', 'Mean'], h('tbody', {}, rows), 'Sizes of the collections'),
      h('p', { class: 'note' }, `The size is that of the documents as BSON, without indexes and compression; ≈ is an estimate by the first ${SAMPLE} documents.`));
    say(plural(all.length, 'collection'));
  } catch (error) {
    if (!signal.aborted) place.replaceChildren(alarm(error));
  } finally {
    place.removeAttribute('aria-busy');
  }
}

// The shape of a slow command, without the parts that the table has.
function shape(command) {
  return command ? show(doc(command.fields.filter(([name]) => name !== '$db'))) : '';
}

export async function operations(main, state, signal) {
  const running = h('tbody', {});
  const slow = h('tbody', {});
  const total = h('p', { class: 'note' });
  const trouble = h('div', {});
  main.replaceChildren(heading('Operations'), trouble,
    h('h2', {}, 'Running now'), table(['Time', 'Command', 'Namespace', 'Client'], running, 'Running commands'),
    h('h2', {}, 'Slow'), table(['When', 'Time', 'Namespace', 'Command'], slow, 'Slow commands'), total);
  while (!signal.aborted) {
    try {
      const now = await server.run('admin', [['currentOp', int(1)]], signal);
      const others = get(now, 'inprog').items.filter(one => !get(at(one, 'command'), 'currentOp'));
      running.replaceChildren(...others.map(one => h('tr', {},
        h('td', { class: 'number' }, milliseconds(number(get(one, 'microsecs_running')) / 1000)),
        h('td', {}, get(one, 'command').fields[0][0]), h('td', {}, get(one, 'ns').v), h('td', {}, get(one, 'client').v))));
      if (others.length === 0) running.replaceChildren(h('tr', {}, h('td', { colspan: 4, class: 'absent' }, 'Nothing but this question.')));
      const log = await server.run('admin', [['getLog', text('global')]], signal);
      const latest = get(log, 'log').items.map(line => parse(line.v)).reverse().slice(0, 200);
      slow.replaceChildren(...latest.map(line => {
        const attributes = get(line, 'attr');
        const code = get(attributes, 'errCode');
        return h('tr', {},
          h('td', { class: 'when' }, show(get(line, 't')).replace('T', ' ').slice(0, 19)),
          h('td', { class: 'number' }, milliseconds(number(get(attributes, 'durationMillis')))),
          h('td', {}, get(attributes, 'ns').v),
          h('td', {}, h('code', {}, shape(get(attributes, 'command'))), code && ` failed with the code ${code.v}`));
      }));
      if (latest.length === 0) slow.replaceChildren(h('tr', {}, h('td', { colspan: 4, class: 'absent' }, 'None since the start of the server.')));
      total.textContent = `${plural(number(get(log, 'totalLinesWritten')), 'slow command')} since the start of the server, without the values that they had.`;
      trouble.replaceChildren();
    } catch (error) {
      if (signal.aborted) return;
      trouble.replaceChildren(alarm(error));
    }
    await wait(2000, signal);
  }
}

const ID = ' with `_id` = ';

// A finding, with a link to its document.
function finding(db, name, words) {
  const start = words.indexOf(ID);
  const id = start < 0 ? undefined : beginning(words.slice(start + ID.length));
  return h('li', {}, words, ' ', id && h('a', { href: toDocument(db, name, id) }, 'Open'));
}

export async function audit(main, state, signal) {
  const db = state.get('db');
  const progress = h('progress', { max: 1, value: 0, 'aria-label': 'Progress of the audit' });
  const told = h('p', { id: 'audited', role: 'status' }, 'It compares all derived data with its sources, and all documents with their rules. It changes nothing.');
  const body = h('tbody', {});
  const found = h('ul', { class: 'findings' });
  const button = h('button', { class: 'first', id: 'audit' }, 'Audit');
  main.replaceChildren(heading('Audit'), told, h('p', { class: 'buttons' }, button, progress),
    table(['Collection', 'Documents', 'Findings', 'Time'], body, 'Audited collections'), found);
  button.addEventListener('click', async () => {
    button.disabled = true;
    body.replaceChildren();
    found.replaceChildren();
    progress.value = 0;
    let [documents, findings, failed] = [0, 0, 0];
    try {
      const names = await server.collections(db, signal);
      for (const [index, name] of names.entries()) {
        told.textContent = `Auditing ${name}, ${index + 1} of ${names.length} …`;
        const row = h('tr', {}, h('th', { scope: 'row' }, name), h('td', { class: 'number' }, '…'), h('td', {}), h('td', {}));
        body.append(row);
        const cells = row.querySelectorAll('td');
        const begun = performance.now();
        try {
          const reply = await server.run(db, [['validate', text(name)]], signal);
          const wrong = number(get(reply, 'nInvalidDocuments'));
          documents += number(get(reply, 'nrecords'));
          findings += wrong;
          cells[0].textContent = numbers.format(number(get(reply, 'nrecords')));
          cells[1].textContent = wrong > 0 ? numbers.format(wrong) : 'none';
          cells[1].className = wrong > 0 ? 'number wrong' : 'number';
          for (const one of get(reply, 'errors')?.items ?? []) found.append(finding(db, name, one.v));
        } catch (error) {
          if (signal.aborted) return;
          failed += 1;
          cells[1].textContent = error.message;
          cells[1].className = 'wrong';
        }
        cells[2].textContent = milliseconds(performance.now() - begun);
        cells[2].className = 'number';
        progress.value = (index + 1) / names.length;
      }
      const left = failed > 0 ? `, and ${plural(failed, 'collection')} not audited` : '';
      told.textContent = `${plural(documents, 'document')} audited: ${findings === 0 ? 'no findings' : plural(findings, 'finding')}${left}.`;
    } catch (error) {
      if (!signal.aborted) told.replaceChildren(alarm(error));
    } finally {
      button.disabled = false;
    }
  });
}

function event(db, change) {
  const kind = get(change, 'operationType').v;
  const name = at(change, 'ns', 'coll')?.v ?? '';
  const id = at(change, 'documentKey', '_id');
  const updated = at(change, 'updateDescription', 'updatedFields');
  const removed = at(change, 'updateDescription', 'removedFields')?.items ?? [];
  const what = updated
    ? [...updated.fields.map(([path, value]) => `${path}: ${show(value)}`), ...removed.map(path => `without ${path.v}`)].join(', ')
    : get(change, 'fullDocument') ? show(get(change, 'fullDocument')) : '';
  return h('tr', {},
    h('td', {}, get(change, 'wallTime') ? show(get(change, 'wallTime')).slice(11, 19) : ''),
    h('td', {}, h('span', { class: `operation ${kind}` }, kind)),
    h('td', {}, id && name ? h('a', { href: toDocument(db, name, id) }, `${name} ${show(id)}`) : name),
    h('td', {}, h('code', {}, what.length > 300 ? `${what.slice(0, 299)}…` : what)));
}

export async function changes(main, state, signal) {
  const [db, only] = [state.get('db'), state.get('in')];
  const told = h('p', { id: 'watching', role: 'status' }, 'Begins …');
  const body = h('tbody', {});
  const choice = h('select', { id: 'watched', onchange: chosen => { location.hash = link('changes', { db, in: chosen.target.value }); } }, h('option', { value: '' }, 'all collections'));
  main.replaceChildren(heading('Changes'), h('p', {}, h('label', { for: 'watched' }, 'Watch '), choice), told, table(['At', 'Change', 'Document', 'Values'], body, 'Changes, the newest first'));
  let id;
  const name = only ? text(only) : int(1);
  const cursorOf = text(only || '$cmd.aggregate');
  try {
    const names = await server.collections(db, signal);
    choice.append(...names.map(one => h('option', { value: one, selected: one === only }, one)));
    const pipeline = array([doc([['$changeStream', doc([])]])]);
    let reply = await server.run(db, [['aggregate', name], ['pipeline', pipeline], ['cursor', doc([])]], signal);
    let seen = 0;
    told.textContent = 'Waiting for changes.';
    while (!signal.aborted) {
      id = at(reply, 'cursor', 'id');
      for (const change of server.batch(reply)) {
        body.prepend(event(db, change));
        seen += 1;
        if (body.children.length > EVENTS) body.lastChild.remove();
      }
      if (seen > 0) told.textContent = `${plural(seen, 'change')} so far.`;
      if (number(id) === 0) {
        told.textContent = 'The stream has ended, since its collection was dropped or renamed.';
        return;
      }
      const more = [['getMore', { t: 'int64', v: id.v }], ['collection', cursorOf], ['maxTimeMS', int(WAIT)]];
      reply = await server.run(db, more, signal);
    }
  } catch (error) {
    if (!signal.aborted) told.replaceChildren(alarm(error));
  }
}

export async function command(main, state, signal) {
  const db = state.get('db');
  const area = h('textarea', { id: 'command', rows: 6, spellcheck: 'false' }, state.get('run') ?? '{ "find": "", "filter": {}, "limit": 10 }');
  const answer = h('pre', { id: 'answer', tabindex: '0', 'aria-label': 'Reply', role: 'region' });
  const submit = async submitted => {
    submitted.preventDefault();
    answer.textContent = '…';
    try {
      const read = parse(area.value);
      if (read.t !== 'document') throw new SyntaxError('a document expected');
      const reply = await server.run(db, read.fields.filter(([name]) => name !== '$db'), signal);
      const hidden = ['$clusterTime', 'operationTime'];
      answer.textContent = lines(doc(reply.fields.filter(([name]) => !hidden.includes(name))));
    } catch (error) {
      if (!signal.aborted) answer.textContent = error.message;
    }
  };
  main.replaceChildren(heading('Command'),
    h('p', { class: 'note' }, `A command of MongoDB for the database ${db}, in extended JSON. Commands that change something are refused, unless the program lets the page write.`),
    h('form', { onsubmit: submit }, h('label', { for: 'command', class: 'hidden' }, 'Command'), area, h('p', { class: 'buttons' }, h('button', { class: 'first' }, 'Run'))), answer);
}
