// SPDX-License-Identifier: MIT
// The tables of functions and of the recording.
const ROWS_FIRST = 500;
let sortKey = 'self', sortsUp = false, rowsShown = ROWS_FIRST;

const COLUMNS = [
  { key: 'self', label: 'Self', isNumber: true, value: (fn) => sums.functionSelf[fn] },
  { key: 'total', label: 'Total', isNumber: true, value: (fn) => sums.functionTotal[fn] },
  { key: 'name', label: 'Function', value: nameOf },
  { key: 'module', label: 'Module', value: moduleOf },
  { key: 'place', label: 'Definition', value: placeOf },
];
if (diff) COLUMNS.unshift({ key: 'change', label: 'Change', isNumber: true, isSingle: true, value: changeOf });

function sortedFunctions() {
  const found = [];
  for (let fn = 0; fn < functionCount; fn++)
    if (sums.functionTotal[fn] && (!matches || matches[fn])) found.push(fn);
  const { value, isNumber } = COLUMNS.find(({ key }) => key === sortKey);
  const order = isNumber ? (a, b) => value(a) - value(b)
    : (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
  return found.sort((a, b) => (sortsUp ? order(a, b) : order(b, a)) || sums.functionTotal[b] - sums.functionTotal[a]);
}

function headerCell({ key, label, isNumber, isSingle }) {
  const cell = make('th', undefined, isNumber ? 'number' : '');
  const button = make('button', key === sortKey ? `${label} ${sortsUp ? '▲' : '▼'}` : label);
  if (isNumber && !isSingle) cell.colSpan = 2;
  cell.setAttribute('aria-sort', key !== sortKey ? 'none' : sortsUp ? 'ascending' : 'descending');
  button.addEventListener('click', () => {
    sortsUp = key === sortKey ? !sortsUp : !isNumber;
    sortKey = key;
    showFunctions();
  });
  cell.append(button);
  return cell;
}

// data-weight: the exact figure, for programs that read the page.
function weightCells(weight) {
  const cell = make('td', formatWeight(weight), 'number');
  cell.dataset.weight = weight;
  const percent = sums.all ? 100 * weight / sums.all : 0;
  cell.style.backgroundImage = `linear-gradient(to left, var(--bar) ${percent}%, transparent ${percent}%)`;
  return [cell, make('td', formatShare(weight, sums.all), 'number share')];
}

function functionRow(fn) {
  const row = make('tr'), name = make('td', undefined, 'name'), mark = make('i');
  const button = make('button', nameOf(fn).length > 90 ? shortName(nameOf(fn)) : nameOf(fn));
  mark.style.background = diff ? shiftColour(functionShift(fn), 1) : kindColour(functionKind[fn]);
  mark.title = diff ? SHIFTS[functionShift(fn)] : KINDS[functionKind[fn]];
  button.title = nameOf(fn);
  button.addEventListener('click', () => showCallers(fn));
  name.append(mark, button);
  const module = make('td', moduleOf(fn), 'place'), place = make('td', placeOf(fn).replace(/^.*\//, ''), 'place');
  module.title = modulePathOf(fn);
  place.title = placeOf(fn);
  if (diff) row.append(changeCell(fn));
  row.append(...weightCells(sums.functionSelf[fn]), ...weightCells(sums.functionTotal[fn]), name, module, place);
  return row;
}

function moreButton(left) {
  const more = make('button', `Show ${number.format(left)} more`, 'more');
  more.addEventListener('click', () => {
    rowsShown = Infinity;
    showFunctions();
  });
  return more;
}

function showFunctions() {
  const functions = sortedFunctions();
  const table = make('table', undefined, 'table'), head = make('thead'), body = make('tbody'), titles = make('tr');
  titles.append(...COLUMNS.map(headerCell));
  head.append(titles);
  body.append(...functions.slice(0, rowsShown).map(functionRow));
  table.append(head, body);
  element('view-functions').replaceChildren(table);
  if (functions.length > rowsShown) element('view-functions').append(moreButton(functions.length - rowsShown));
  if (diff && diff.removed.length) element('view-functions').append(removedTable());
  if (functions.length === 0) element('view-functions').append(make('p', 'No function', 'empty'));
}

function noteValue({ format, value }) {
  if (format === 'duration') return formatDuration(value);
  return format === 'integer' ? number.format(value) : value;
}

function recordingRows() {
  const rows = [['Program', data.program], ['Command', data.command]];
  if (data.start_ms) rows.push(['Start', new Date(data.start_ms).toLocaleString()]);
  rows.push(['System', data.os], ['Processor', data.cpus ? `${data.cpu} (${data.cpus} online)` : data.cpu]);
  for (const note of data.notes) rows.push([note.label, noteValue(note)]);
  return rows.filter(([, value]) => value !== '');
}

function showRecording() {
  const table = make('table', undefined, 'table');
  for (const [label, value] of recordingRows()) {
    const row = make('tr');
    row.append(make('th', label), make('td', value));
    table.append(row);
  }
  element('view-recording').replaceChildren(table);
}
