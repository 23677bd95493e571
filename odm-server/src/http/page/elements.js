// Elements. All data goes into text nodes and attributes.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// The address of a view.
export function link(view, parameters) {
  const filled = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '' && value !== null);
  return `#${view}?${new URLSearchParams(filled)}`;
}

export const numbers = new Intl.NumberFormat('en');

export const plural = (number, one, many = `${one}s`) => `${numbers.format(number)} ${number === 1 ? one : many}`;

export function bytes(number) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (number >= 1024 && at < units.length - 1) {
    number /= 1024;
    at += 1;
  }
  return `${at === 0 ? Math.round(number) : number.toPrecision(3)} ${units[at]}`;
}

export function milliseconds(number) {
  return number < 1000 ? `${Math.round(number)} ms` : `${(number / 1000).toFixed(1)} s`;
}

export function say(message) {
  document.getElementById('status').textContent = message;
}

export const alarm = error => h('p', { class: 'alarm', role: 'alert' }, error.message);

// A bar of a chart.
export function bar(share) {
  const element = h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', {}));
  element.firstChild.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element;
}
