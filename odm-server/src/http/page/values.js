// Values of BSON: read from extended JSON and from what people type, written as canonical extended JSON.
//
// A value is `{ t: type, v: .. }`; a document has `fields`, a list of names and values in their order, and an array `items`.

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;

export const text = v => ({ t: 'string', v });
export const int = v => ({ t: 'int32', v: String(v) });
export const bool = v => ({ t: 'bool', v });
export const array = items => ({ t: 'array', items });
export const doc = fields => ({ t: 'document', fields: Array.isArray(fields) ? fields : Object.entries(fields) });

export const get = (value, name) => value?.t === 'document' ? value.fields.find(([key]) => key === name)?.[1] : undefined;
export const number = value => value === undefined ? undefined : Number(value.v);

// The value at a path of names.
export const at = (value, ...names) => names.reduce(get, value);

class Reader {
  constructor(source) {
    this.source = source;
    this.at = 0;
  }

  fail(what) {
    throw new SyntaxError(`${what} at character ${this.at + 1}`);
  }

  space() {
    while (/\s/.test(this.source[this.at] ?? '')) this.at += 1;
  }

  takes(character) {
    this.space();
    if (this.source[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  expects(character) {
    if (!this.takes(character)) this.fail(`“${character}” expected`);
  }

  value(depth = 0) {
    if (depth > 120) this.fail('too many levels');
    this.space();
    const first = this.source[this.at];
    if (first === '{') return this.object(depth);
    if (first === '[') return this.list(depth);
    if (first === '"' || first === "'") return text(this.quoted());
    return this.word();
  }

  object(depth) {
    const fields = [];
    this.expects('{');
    while (!this.takes('}')) {
      if (fields.length > 0) this.expects(',');
      this.space();
      const name = this.name();
      this.expects(':');
      fields.push([name, this.value(depth + 1)]);
    }
    return typed(fields);
  }

  list(depth) {
    const items = [];
    this.expects('[');
    while (!this.takes(']')) {
      if (items.length > 0) this.expects(',');
      items.push(this.value(depth + 1));
    }
    return array(items);
  }

  name() {
    const first = this.source[this.at];
    if (first === '"' || first === "'") return this.quoted();
    const name = /^[\w$.]+/.exec(this.source.slice(this.at))?.[0];
    if (!name) this.fail('a name expected');
    this.at += name.length;
    return name;
  }

  quoted() {
    const quote = this.source[this.at];
    let end = this.at + 1;
    while (end < this.source.length && this.source[end] !== quote) end += this.source[end] === '\\' ? 2 : 1;
    if (end >= this.source.length) this.fail('the end of a text expected');
    const inner = this.source.slice(this.at + 1, end);
    try {
      const json = quote === '"' ? inner : inner.replaceAll("\\'", "'").replace(/(^|[^\\])"/g, '$1\\"');
      const read = JSON.parse(`"${json}"`);
      this.at = end + 1;
      return read;
    } catch {
      return this.fail('a text is malformed');
    }
  }

  word() {
    const word = /^[-+\w.]+/.exec(this.source.slice(this.at))?.[0];
    if (!word) this.fail('a value expected');
    this.at += word.length;
    if (word === 'true' || word === 'false') return bool(word === 'true');
    if (word === 'null') return { t: 'null' };
    if (NUMBER.test(word)) return ofNumber(word);
    if (this.takes('(')) {
      const inner = this.value();
      this.expects(')');
      if (word === 'ObjectId') return { t: 'objectId', v: inner.v };
      if (word === 'NumberLong' || word === 'Long') return { t: 'int64', v: inner.v };
      if (word === 'NumberDecimal') return { t: 'decimal', v: inner.v };
      if (word === 'ISODate' || word === 'Date') return { t: 'date', v: String(Date.parse(inner.v)) };
    }
    return this.fail(`“${word}” is no value`);
  }
}

function ofNumber(word) {
  if (!INTEGER.test(word)) return { t: 'double', v: word };
  const whole = BigInt(word);
  if (whole >= -(2n ** 31n) && whole < 2n ** 31n) return { t: 'int32', v: String(whole) };
  if (whole >= -(2n ** 63n) && whole < 2n ** 63n) return { t: 'int64', v: String(whole) };
  return { t: 'double', v: word };
}

const OF_TEXT = { $numberInt: 'int32', $numberLong: 'int64', $numberDouble: 'double', $numberDecimal: 'decimal', $oid: 'objectId' };
const ofDate = value => value.t === 'string' ? String(Date.parse(value.v)) : value.v;

// The value of an object of JSON, which may be a type of extended JSON. Other names that begin with `$` are those of documents.
function typed(fields) {
  const [name, value] = fields[0] ?? [];
  const inner = key => get(value, key)?.v;
  if (fields.length !== 1) return doc(fields);
  if (OF_TEXT[name] && value.t === 'string') return { t: OF_TEXT[name], v: value.v };
  if (name === '$date' && ['string', 'int32', 'int64'].includes(value.t)) return { t: 'date', v: ofDate(value) };
  if (name === '$binary' && inner('base64') !== undefined) return { t: 'binary', v: inner('base64'), subtype: inner('subType') };
  if (name === '$timestamp' && inner('t') !== undefined) return { t: 'timestamp', v: `${inner('t')}:${inner('i')}` };
  if (name === '$regularExpression' && inner('pattern') !== undefined) return { t: 'regex', v: inner('pattern'), options: inner('options') };
  if (name === '$minKey' || name === '$maxKey' || name === '$undefined') return { t: name.slice(1) };
  return doc(fields);
}

export function parse(source) {
  const reader = new Reader(source);
  const value = reader.value();
  reader.space();
  if (reader.at < source.length) reader.fail('the end expected');
  return value;
}

// The value that a text begins with, if it does.
export function beginning(source) {
  try {
    return new Reader(source).value();
  } catch {
    return undefined;
  }
}

const OPERATORS = { '=': null, '!=': '$ne', '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte', '~': '$regex' };

// The value of a word in a condition: one of JSON, the hexadecimal form of an ObjectId, or a text.
function ofWord(word) {
  if (/^[0-9a-f]{24}$/i.test(word)) return { t: 'objectId', v: word };
  try {
    return parse(word);
  } catch {
    return text(word);
  }
}

// A filter: a document, or conditions such as `qty>=5 name=bolt`.
export function filterOf(source) {
  const trimmed = source.trim();
  if (trimmed === '') return doc([]);
  if (trimmed.startsWith('{')) return parse(trimmed);
  const conditions = [];
  const pattern = /\s*([\w$.]+)(!=|>=|<=|=|>|<|~)("(?:[^"\\]|\\.)*"|[^\s]+)(?=\s|$)/y;
  while (pattern.lastIndex < trimmed.length) {
    const start = pattern.lastIndex;
    const found = pattern.exec(trimmed);
    if (!found) throw new SyntaxError(`a document or conditions such as qty>=5 expected at character ${start + 1}`);
    const [, name, operator, word] = found;
    const value = ofWord(word);
    conditions.push(doc([[name, OPERATORS[operator] ? doc([[OPERATORS[operator], value]]) : value]]));
  }
  return conditions.length === 1 ? conditions[0] : doc([['$and', array(conditions)]]);
}

// Paths, of a sort or of a projection: a document, or words such as `-published name`.
export function pathsOf(source, descending) {
  const trimmed = source.trim();
  if (trimmed.startsWith('{')) return parse(trimmed);
  const words = trimmed.split(/[\s,]+/).filter(word => word !== '');
  return doc(words.map(word => word.startsWith('-') ? [word.slice(1), int(descending)] : [word, int(1)]));
}

const quoted = JSON.stringify;

// Canonical extended JSON.
export function write(value) {
  switch (value.t) {
    case 'document': return `{${value.fields.map(([name, inner]) => `${quoted(name)}:${write(inner)}`).join(',')}}`;
    case 'array': return `[${value.items.map(write).join(',')}]`;
    case 'string': return quoted(value.v);
    case 'bool': return String(value.v);
    case 'null': return 'null';
    case 'int32': return `{"$numberInt":${quoted(value.v)}}`;
    case 'int64': return `{"$numberLong":${quoted(value.v)}}`;
    case 'double': return `{"$numberDouble":${quoted(value.v)}}`;
    case 'decimal': return `{"$numberDecimal":${quoted(value.v)}}`;
    case 'objectId': return `{"$oid":${quoted(value.v)}}`;
    case 'date': return `{"$date":{"$numberLong":${quoted(value.v)}}}`;
    case 'binary': return `{"$binary":{"base64":${quoted(value.v)},"subType":${quoted(value.subtype)}}}`;
    case 'timestamp': return `{"$timestamp":{"t":${value.v.split(':')[0]},"i":${value.v.split(':')[1]}}}`;
    case 'regex': return `{"$regularExpression":{"pattern":${quoted(value.v)},"options":${quoted(value.options)}}}`;
    case 'undefined': return '{"$undefined":true}';
    default: return `{"$${value.t}":1}`;
  }
}

function date(milliseconds) {
  const time = new Date(Number(milliseconds));
  return Number.isNaN(time.getTime()) ? `${milliseconds} ms` : time.toISOString().replace('.000Z', 'Z');
}

// A value for people, in one line.
export function show(value) {
  switch (value.t) {
    case 'document': return value.fields.length === 0 ? '{}' : `{ ${value.fields.map(([name, inner]) => `${name}: ${show(inner)}`).join(', ')} }`;
    case 'array': return value.items.length === 0 ? '[]' : `[${value.items.map(show).join(', ')}]`;
    case 'string': return quoted(value.v);
    case 'date': return date(value.v);
    case 'binary': return `${value.v.slice(0, 40)} (${Math.floor(value.v.length * 3 / 4)} bytes)`;
    case 'regex': return `/${value.v}/${value.options}`;
    case 'null': case 'undefined': case 'minKey': case 'maxKey': return value.t;
    default: return String(value.v);
  }
}

// A value for people, with a line for each field.
export function lines(value, indent = '') {
  const inner = `${indent}  `;
  const block = (open, parts, close) => `${open}\n${parts.map(part => `${inner}${part}`).join(',\n')}\n${indent}${close}`;
  if (value.t === 'document' && value.fields.length > 0) return block('{', value.fields.map(([name, one]) => `${name}: ${lines(one, inner)}`), '}');
  if (value.t === 'array' && value.items.length > 0) return block('[', value.items.map(one => lines(one, inner)), ']');
  return show(value);
}

const bytes = source => new TextEncoder().encode(source).length;

// The bytes that a value takes in BSON.
export function size(value) {
  switch (value.t) {
    case 'document': return 5 + value.fields.reduce((sum, [name, inner]) => sum + 2 + bytes(name) + size(inner), 0);
    case 'array': return 5 + value.items.reduce((sum, inner, index) => sum + 2 + String(index).length + size(inner), 0);
    case 'string': return 5 + bytes(value.v);
    case 'int32': return 4;
    case 'bool': return 1;
    case 'objectId': return 12;
    case 'decimal': return 16;
    case 'binary': return 5 + Math.floor(value.v.replaceAll('=', '').length * 3 / 4);
    case 'regex': return 2 + bytes(value.v) + bytes(value.options);
    case 'null': case 'undefined': case 'minKey': case 'maxKey': return 0;
    default: return 8;
  }
}
