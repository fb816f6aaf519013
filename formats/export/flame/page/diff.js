// SPDX-License-Identifier: MIT
// A difference of two sides, for each run: the shape of the new side, coloured by the change. data.diff:
//   before     nodes and weights of the base, as in a list
//   changes    by function: 0 within noise, 1 changed, 2 new
//   of_total   changes are of functions with their callees, else of self weights
//   removed    functions of the base only
const diff = data.diff || null;
const SAME = 0, GROWN = 1, SHRUNK = 2, NEW = 3;
const SHIFTS = ['within noise', 'grown', 'shrunk', 'new'];
const before = {
  self: new Float64Array(diff ? nodeCount : 0), total: null, all: 0,
  functionSelf: new Float64Array(functionCount), functionTotal: new Float64Array(functionCount),
};

function sumBefore() {
  decodeList(diff.before);
  const { nodes, weights } = diff.before;
  for (let i = 0; i < nodes.length; i++) before.self[nodes[i]] += weights[i];
  before.total = before.self.slice();
  for (let i = nodeCount - 1; i >= 0; i--) {
    if (parents[i] >= 0) before.total[parents[i]] += before.total[i];
    else before.all += before.total[i];
    if (isOutermost[i]) before.functionTotal[functionOf[i]] += before.total[i];
    before.functionSelf[functionOf[i]] += before.self[i];
  }
}
if (diff) sumBefore();

// The weights on both sides that the change of a box is about.
function sidesOf(branch) {
  const key = diff.of_total ? 'total' : 'self';
  const sum = (side) => branch.nodes.reduce((all, node) => all + (node < 0 ? 0 : side[key][node]), 0);
  return { old: sum(before), now: sum(sums) };
}

function shiftOf(fn, { old, now }) {
  if (fn < 0 || !diff.changes[fn] || old === now) return SAME;
  if (diff.changes[fn] === 2) return NEW;
  return now > old ? GROWN : SHRUNK;
}

// strength: 0 to 1, of the change relative to the larger side.
function shiftColour(shift, strength) {
  const step = strength < 0.15 ? 0 : strength < 0.4 ? 1 : 2;
  const lightness = isDark() ? 26 + 7 * step : 82 - 10 * step;
  if (shift === SAME) return isDark() ? '#37404c' : '#dfe3e8';
  if (shift === NEW) return isDark() ? 'hsl(50 75% 34%)' : 'hsl(50 91% 61%)';
  return `hsl(${shift === GROWN ? '6 75%' : '216 65%'} ${lightness}%)`;
}

function diffColour(branch) {
  const sides = branch.sides || (branch.sides = sidesOf(branch));
  const larger = Math.max(sides.old, sides.now);
  return shiftColour(shiftOf(branch.fn, sides), larger ? Math.abs(sides.now - sides.old) / larger : 0);
}

// Of the function in all stacks.
function changeOf(fn) {
  return diff.of_total ? sums.functionTotal[fn] - before.functionTotal[fn] : sums.functionSelf[fn] - before.functionSelf[fn];
}

function signed(weight) {
  if (isTime && Math.abs(weight) < 50000) return '±0.0 ms';
  return `${weight < 0 ? '−' : '+'}${formatWeight(Math.abs(weight))}`;
}

function changeText(fn, { old, now }) {
  return `${diff.of_total ? 'total' : 'self'} before ${formatWeight(old)}, ${signed(now - old)}: ${SHIFTS[shiftOf(fn, { old, now })]}`;
}

// Of a function in all stacks.
function functionShift(fn) {
  return shiftOf(fn, diff.of_total ? { old: before.functionTotal[fn], now: sums.functionTotal[fn] }
    : { old: before.functionSelf[fn], now: sums.functionSelf[fn] });
}

function changeCell(fn) {
  const cell = make('td', signed(changeOf(fn)), 'number'), shift = functionShift(fn);
  cell.dataset.weight = changeOf(fn);
  cell.title = SHIFTS[shift];
  if (shift !== SAME) cell.style.background = shiftColour(shift, 0.1);
  return cell;
}

function removedTable() {
  const table = make('table', undefined, 'table'), titles = make('tr');
  table.id = 'removed';
  titles.append(make('th', 'Before', 'number'), make('th', 'Removed function'), make('th', 'Module'));
  table.append(titles);
  for (const { name, module, weight } of diff.removed) {
    const row = make('tr');
    row.append(make('td', formatWeight(weight), 'number'), make('td', name, 'name'), make('td', module, 'place'));
    table.append(row);
  }
  return table;
}

function showShifts() {
  element('legend').replaceChildren(...SHIFTS.map((name, shift) => {
    const item = make('li'), mark = make('i');
    mark.style.background = shiftColour(shift, 1);
    item.append(mark, name);
    return item;
  }));
}
