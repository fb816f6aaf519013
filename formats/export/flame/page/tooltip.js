// SPDX-License-Identifier: MIT
// What is known of a box: beside the pointer, and in the line at the bottom.
let detailed = null; // {flame, branch} of the line at the bottom

function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function kindText(branch) {
  const kind = KINDS[functionKind[branch.fn]];
  return branch.isInlined ? `${kind}, inlined` : kind;
}

function weightRow(table, label, weight, flame) {
  const row = make('tr');
  row.append(make('th', label), make('td', formatWeight(weight)), make('td', formatShare(weight, sums.all)));
  if (flame.zoom !== flame.tree.root) row.append(make('td', `${formatShare(weight, flame.zoom.weight)} of zoom`));
  table.append(row);
}

function fillTooltip(flame, box) {
  const { branch } = box, parts = [], table = make('table');
  if (!branch) {
    parts.push(make('strong', `${number.format(box.count)} narrow boxes`));
    weightRow(table, 'total', box.weight, flame);
    return [...parts, table];
  }
  parts.push(make('strong', flame.nameOf(branch)));
  if (branch.fn >= 0) {
    parts.push(make('p', [modulePathOf(branch.fn), kindText(branch)].filter(Boolean).join(' · ')));
    if (placeOf(branch.fn)) parts.push(make('p', placeOf(branch.fn)));
  }
  weightRow(table, 'total', branch.weight, flame);
  weightRow(table, 'self', flame.tree.selfOf(branch), flame);
  if (branch.fn >= 0 && sums.functionTotal[branch.fn] > branch.weight)
    weightRow(table, 'function', sums.functionTotal[branch.fn], flame);
  if (diff && branch.fn >= 0) parts.push(make('p', changeText(branch.fn, sidesOf(branch))));
  return [...parts, table];
}

function showTooltip(flame, box, event) {
  const tooltip = element('tooltip');
  if (tooltip.box !== box) tooltip.replaceChildren(...fillTooltip(flame, box));
  tooltip.box = box;
  tooltip.hidden = false;
  const { offsetWidth, offsetHeight } = tooltip;
  const x = event.clientX + 16 + offsetWidth > innerWidth ? event.clientX - offsetWidth - 12 : event.clientX + 16;
  const y = event.clientY + 20 + offsetHeight > innerHeight ? event.clientY - offsetHeight - 12 : event.clientY + 20;
  tooltip.style.left = `${Math.max(4, x)}px`;
  tooltip.style.top = `${Math.max(4, y)}px`;
}

function hideTooltip() {
  element('tooltip').hidden = true;
}

function showDetail(flame, branch) {
  detailed = { flame, branch };
  element('focus').hidden = branch.fn < 0;
  element('reset').hidden = flame.zoom === flame.tree.root;
  const parts = [flame.nameOf(branch)];
  if (branch.fn >= 0 && moduleOf(branch.fn)) parts.push(moduleOf(branch.fn));
  if (branch.fn >= 0 && placeOf(branch.fn)) parts.push(placeOf(branch.fn));
  parts.push(`total ${formatWeight(branch.weight)} (${formatShare(branch.weight, sums.all)})`);
  const self = flame.tree.selfOf(branch);
  if (branch.fn >= 0) parts.push(`self ${formatWeight(self)} (${formatShare(self, sums.all)})`);
  if (diff && branch.fn >= 0) parts.push(changeText(branch.fn, sidesOf(branch)));
  element('detail').textContent = parts.join('  ·  ');
}

function clearDetail() {
  detailed = null;
  element('detail').textContent = '';
  element('focus').hidden = element('reset').hidden = true;
}
