// The relations as a diagram: a box for each collection with the fields that refer or are derived, and an arrow for each.

import { alarm, h, link, svg } from './elements.js';
import { describe, relationsOf } from './relations.js';

const WIDTH = 276;
const LONGEST = 38;
const ROW = 20;
const HEAD = 26;
const GAP = { x: 90, y: 26 };

function boxes(relations) {
  const names = new Set(relations.collections);
  for (const one of relations.references) names.add(one.from).add(one.to);
  for (const one of relations.splits) names.add(one.hot).add(one.cold);
  const rows = name => [
    ...relations.references.filter(one => one.from === name).map(one => ({ path: one.path, text: `${one.path} → ${one.to}${one.many ? ' …' : ''}`, to: one.to, kind: 'reference' })),
    ...relations.derived.filter(one => one.holder === name).map(one => ({ path: one.path, text: `${one.path} ƒ ${describe(one)}`, to: one.source, kind: 'derivation' })),
    ...relations.splits.filter(one => one.hot === name).map(one => ({ path: one.path, text: `${one.path} ⇒ ${one.cold}`, to: one.cold, kind: 'split' })),
  ];
  return [...names].sort().map(name => ({ name, rows: rows(name) }));
}

// The layers from those that refer to those that are referred to: the longest way, rings cut where they are met.
function layers(all, relations) {
  const out = new Map(all.map(box => [box.name, new Set()]));
  for (const one of relations.references) if (one.from !== one.to) out.get(one.from).add(one.to);
  for (const one of relations.splits) out.get(one.hot).add(one.cold);
  const depth = new Map();
  const visit = (name, open) => {
    if (depth.has(name)) return depth.get(name);
    if (open.has(name)) return -1;
    open.add(name);
    const below = [...out.get(name)].map(next => visit(next, open));
    open.delete(name);
    const own = Math.max(-1, ...below) + 1;
    depth.set(name, own);
    return own;
  };
  all.forEach(box => visit(box.name, new Set()));
  const deepest = Math.max(0, ...depth.values());
  const columns = Array.from({ length: deepest + 1 }, () => []);
  for (const box of all) columns[deepest - depth.get(box.name)].push(box);
  // Each box comes near the middle of those that it has arrows to.
  const near = name => new Set([...out.get(name), ...all.filter(box => out.get(box.name).has(name)).map(box => box.name)]);
  const place = box => columns.flatMap(column => column.map((one, index) => [one.name, index / column.length])).filter(([name]) => near(box.name).has(name)).map(([, at]) => at);
  const middle = box => { const at = place(box); return at.length === 0 ? 0.5 : at.reduce((sum, one) => sum + one, 0) / at.length; };
  for (let round = 0; round < 4; round += 1) {
    columns.forEach((column, index) => {
      const sorted = column.map(box => [middle(box), box]).sort(([a], [b]) => a - b).map(([, box]) => box);
      columns[index] = sorted;
    });
  }
  return columns;
}

function lay(columns) {
  const height = box => HEAD + box.rows.length * ROW + 6;
  const total = column => column.reduce((sum, box) => sum + height(box) + GAP.y, -GAP.y);
  const tallest = Math.max(...columns.map(total));
  columns.forEach((column, index) => {
    let y = 10 + (tallest - total(column)) / 2;
    for (const box of column) {
      Object.assign(box, { x: 30 + index * (WIDTH + GAP.x), y, height: height(box) });
      y += box.height + GAP.y;
    }
  });
  return { width: 60 + columns.length * (WIDTH + GAP.x) - GAP.x, height: tallest + 20 };
}

// The curve between a row of one box and the head of another. A derivation leads from its source to the row.
function arrow(box, index, row, target) {
  const y = box.y + HEAD + index * ROW + ROW / 2;
  const to = target.y + HEAD / 2;
  let [from, end, out, into] = target.x > box.x ? [box.x + WIDTH, target.x, 45, -45] : [box.x, target.x + WIDTH, -45, 45];
  if (target.x === box.x) [from, end, out, into] = [box.x + WIDTH, target.x + WIDTH, 40, 40];
  const points = row.kind === 'derivation'
    ? `M${end},${to} C${end + into},${to} ${from + out},${y} ${from},${y}`
    : `M${from},${y} C${from + out},${y} ${end + into},${to} ${end},${to}`;
  return svg('path', { class: `arrow ${row.kind}`, d: points, 'marker-end': `url(#head-${row.kind})` });
}

function draw(db, relations) {
  const all = boxes(relations);
  const size = lay(layers(all, relations));
  const byName = new Map(all.map(box => [box.name, box]));
  const arrows = all.flatMap(box => box.rows.flatMap((row, index) => byName.has(row.to) && !(row.kind === 'derivation' && row.to === box.name) ? [arrow(box, index, row, byName.get(row.to))] : []));
  const shorten = line => line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
  const drawn = all.map(box => svg('g', { transform: `translate(${box.x},${box.y})` },
    svg('rect', { class: 'box', width: WIDTH, height: box.height, rx: 4 }),
    svg('a', { href: link('documents', { db, in: box.name }) }, svg('text', { class: 'title', x: 10, y: 18 }, box.name)),
    box.rows.map((row, index) => svg('text', { class: `row ${row.kind}`, x: 10, y: HEAD + index * ROW + 14 }, svg('title', {}, row.text), shorten(row.text)))));
  const heads = ['reference', 'derivation', 'split'].map(kind => svg('marker', { id: `head-${kind}`, class: `head ${kind}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { d: 'M0,0 L8,4 L0,8 z' })));
  return svg('svg', { class: 'diagram', role: 'group', 'aria-label': 'Relations of the collections', width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}` },
    svg('defs', {}, heads), arrows, drawn);
}

function list(db, relations) {
  const rows = [
    ...relations.references.map(one => [one.from, one.path, `refers to ${one.to}`]),
    ...relations.derived.map(one => [one.holder, one.path, `${describe(one)}${one.via ? `, by ${one.reverse ? `${one.source}.` : ''}${one.via}` : ''}${one.deferred ? ', refreshed later' : ''}`]),
    ...relations.splits.map(one => [one.hot, one.path, `cold part in ${one.cold}`]),
  ].sort(([a, b], [c, d]) => `${a}.${b}`.localeCompare(`${c}.${d}`));
  return h('div', { class: 'scroll' }, h('table', {},
    h('thead', {}, h('tr', {}, ['Collection', 'Field', 'Relation'].map(head => h('th', { scope: 'col' }, head)))),
    h('tbody', {}, rows.map(([name, path, words]) => h('tr', {}, h('td', {}, h('a', { href: link('documents', { db, in: name }) }, name)), h('td', {}, path), h('td', {}, words))))));
}

export async function diagram(main, state, signal) {
  const db = state.get('db');
  main.replaceChildren(h('h1', { tabindex: '-1' }, 'Relations'));
  try {
    const relations = await relationsOf(db);
    if (signal.aborted) return;
    if (relations.collections.length === 0) {
      main.append(h('p', {}, 'No models are declared in this store, so there are no relations.'));
      return;
    }
    main.append(
      h('p', { class: 'legend' }, h('span', { class: 'reference' }, '→ a reference'), h('span', { class: 'derivation' }, 'ƒ a derived field'), h('span', { class: 'split' }, '⇒ a cold part')),
      h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Diagram' }, draw(db, relations)),
      h('h2', {}, 'As a list'), list(db, relations));
  } catch (error) {
    if (!signal.aborted) main.append(alarm(error));
  }
}
