// SPDX-License-Identifier: MIT
// Sums of the selected threads, by node and by function.

// A node below no node of the same function: the total of a recursive function counts each stack once.
const isOutermost = new Uint8Array(nodeCount);

function findOutermost() {
  const onPath = new Int32Array(functionCount);
  const next = childStart.slice();
  for (let node = -1; ;) {
    if (next[node + 1] < childStart[node + 2]) {
      node = childList[next[node + 1]++];
      isOutermost[node] = onPath[functionOf[node]]++ === 0 ? 1 : 0;
    } else if (node >= 0) {
      onPath[functionOf[node]]--;
      node = parents[node];
    } else {
      return;
    }
  }
}
findOutermost();

const sums = {
  self: new Float64Array(nodeCount), total: new Float64Array(nodeCount), all: 0, samples: 0,
  functionSelf: new Float64Array(functionCount), functionTotal: new Float64Array(functionCount),
  kindSelf: new Float64Array(KINDS.length), inlinedSelf: 0,
};

function addLists(lists) {
  sums.self.fill(0);
  sums.samples = 0;
  for (const { nodes, weights, samples } of lists) {
    for (let i = 0; i < nodes.length; i++) sums.self[nodes[i]] += weights[i];
    sums.samples += samples;
  }
}

function sumLists(lists) {
  addLists(lists);
  const { self, total, functionSelf, functionTotal, kindSelf } = sums;
  total.set(self);
  functionSelf.fill(0);
  functionTotal.fill(0);
  kindSelf.fill(0);
  sums.all = sums.inlinedSelf = 0;
  for (let i = nodeCount - 1; i >= 0; i--) {
    if (parents[i] >= 0) total[parents[i]] += total[i];
    else sums.all += total[i];
    if (isOutermost[i]) functionTotal[functionOf[i]] += total[i];
    functionSelf[functionOf[i]] += self[i];
    kindSelf[kindOf[i] & ~KIND_INLINED] += self[i];
    if (kindOf[i] & KIND_INLINED) sums.inlinedSelf += self[i];
  }
}

// Weight of the stacks with at least one matching function.
function sumMatches(matches) {
  const isBelow = new Uint8Array(nodeCount);
  let weight = 0;
  for (let i = 0; i < nodeCount; i++) {
    if (parents[i] >= 0 && isBelow[parents[i]]) {
      isBelow[i] = 1;
    } else if (matches[functionOf[i]]) {
      isBelow[i] = 1;
      weight += sums.total[i];
    }
  }
  return weight;
}
