// SPDX-License-Identifier: MIT
// The profile as typed arrays. Nodes are the call tree: a parent has a smaller index than its children.
const element = (id) => document.getElementById(id);
const data = JSON.parse(element('data').textContent);
element('data').remove();

const KINDS = ['program', 'kernel', 'library', 'JIT code', 'no code', 'off CPU'];
const KIND_INLINED = 8;
const KIND_KERNEL = 1, KIND_LIBRARY = 2, KIND_JIT = 3, KIND_SYNTHETIC = 4;

const nodeCount = data.nodes.up.length;
const functionCount = data.functions.name.length;
const parents = new Int32Array(nodeCount); // -1: none
const functionOf = new Int32Array(nodeCount);
const kindOf = new Uint8Array(nodeCount);
// Children of node n: childList[childStart[n + 1] .. childStart[n + 2]); of the root: n = -1.
const childStart = new Int32Array(nodeCount + 2);
const childList = new Int32Array(nodeCount);

function decodeNodes() {
  const { up, frame } = data.nodes;
  for (let i = 0; i < nodeCount; i++) {
    parents[i] = up[i] ? i - up[i] : -1;
    functionOf[i] = data.frames.function[frame[i]];
    kindOf[i] = data.frames.kind[frame[i]];
    childStart[parents[i] + 2]++;
  }
  for (let i = 1; i < childStart.length; i++) childStart[i] += childStart[i - 1];
  const next = childStart.slice();
  for (let i = 0; i < nodeCount; i++) childList[next[parents[i] + 1]++] = i;
}

function decodeList(list) {
  const nodes = new Int32Array(list.nodes.length);
  let node = 0;
  for (let i = 0; i < nodes.length; i++) nodes[i] = node += list.nodes[i];
  list.nodes = nodes;
  list.weight = list.weights.reduce((sum, weight) => sum + weight, 0);
}

decodeNodes();
data.lists.forEach(decodeList);
data.nodes = null;

const functionKind = new Uint8Array(functionCount);
for (let i = nodeCount - 1; i >= 0; i--) functionKind[functionOf[i]] = kindOf[i] & ~KIND_INLINED;

const nameOf = (fn) => data.strings[data.functions.name[fn]];
const moduleOf = (fn) => {
  const module = data.functions.module[fn];
  return module < 0 ? '' : data.strings[data.modules[module].name];
};
const modulePathOf = (fn) => {
  const module = data.functions.module[fn];
  return module < 0 ? '' : data.strings[data.modules[module].path];
};
const fileOf = (fn) => (data.functions.file[fn] < 0 ? '' : data.strings[data.functions.file[fn]]);
const placeOf = (fn) => {
  const line = data.functions.line[fn];
  return fileOf(fn) + (line && fileOf(fn) ? `:${line}` : '');
};
