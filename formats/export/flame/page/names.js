// SPDX-License-Identifier: MIT
// Figures, names and colours.
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
let isTime = true; // the unit of the event is ns

function formatWeight(weight) {
  if (!isTime) return number.format(weight);
  const ms = weight / 1e6;
  return ms > 0 && ms < 0.05 ? '<0.1 ms' : `${decimal.format(ms)} ms`;
}

function formatShare(part, whole) {
  const percent = whole ? 100 * part / whole : 0;
  if (percent > 0 && percent < 0.1) return '<0.1 %';
  return `${percent < 100 && percent >= 99.95 ? 99.9 : percent.toFixed(1)} %`;
}

function formatDuration(ms) {
  if (ms >= 1000) return `${decimal.format(ms / 1000)} s`;
  if (ms >= 1) return `${decimal.format(ms)} ms`;
  return `${decimal.format(ms * 1000)} µs`;
}

// Without the content of outermost <…> and (…), except in operator names.
function dropArguments(name) {
  let text = '', depth = 0;
  for (let i = 0; i < name.length; i++) {
    const letter = name[i];
    const isOperator = /operator[<>(-]*$/.test(text.slice(-11));
    if ((letter === '<' || letter === '(') && !isOperator) {
      if (depth++ === 0) text += letter === '<' ? '<…' : '(';
    } else if ((letter === '>' || letter === ')') && depth > 0) {
      if (--depth === 0) text += letter;
    } else if (depth === 0) {
      text += letter;
    }
  }
  return text.startsWith('(') || text.startsWith('<') ? name : text;
}

const shortNames = new Map();
function shortName(name) {
  let text = shortNames.get(name);
  if (text === undefined) shortNames.set(name, text = dropArguments(name));
  return text;
}

const isDark = () => document.documentElement.dataset.theme === 'dark';

function hash(text) {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return (value >>> 8 & 0xffff) / 0xffff; // 0 to 1
}

// Hue and saturation by kind; a module varies the hue, a function the lightness.
const HUES = [[30, 16, 88], [352, 8, 68], [196, 34, 55], [128, 20, 48], [220, 0, 8], [268, 10, 44]];
const colours = new Map();

function colourOf(fn, isInlined) {
  if (fn < 0) return isDark() ? '#3a4452' : '#d3d9e2';
  const key = fn * 2 + (isInlined ? 1 : 0);
  let colour = colours.get(key);
  if (colour) return colour;
  const [hue, range, saturation] = HUES[functionKind[fn]];
  const lightness = (isDark() ? 30 : 72) + 7 * hash(nameOf(fn)) + (isInlined ? (isDark() ? -9 : 11) : 0);
  const angle = (hue + range * hash(moduleOf(fn)) + 360) % 360;
  colours.set(key, colour = `hsl(${angle.toFixed(0)} ${isDark() ? saturation * 0.62 : saturation}% ${lightness.toFixed(0)}%)`);
  return colour;
}

function kindColour(kind) {
  const [hue, range, saturation] = HUES[kind];
  return `hsl(${hue + range / 2} ${isDark() ? saturation * 0.62 : saturation}% ${isDark() ? 34 : 74}%)`;
}
