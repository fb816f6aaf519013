// SPDX-License-Identifier: MIT
// Branches of the drawn trees. Children are merged by function, and only once a branch is wide enough to be
// drawn: a first picture of half a million nodes needs some thousand branches.
class Branch {
  constructor(parent, fn) {
    this.parent = parent;
    this.fn = fn; // -1: all
    this.weight = 0;
    this.nodes = [];
    this.weights = null; // of the nodes, in trees of callers
    this.isInlined = true;
    this.children = null;
  }

  add(node, weight) {
    this.nodes.push(node);
    this.weight += weight;
    if (!(kindOf[node] & KIND_INLINED)) this.isInlined = false;
  }
}

function sortedBranches(byFunction) {
  return [...byFunction.values()].sort((a, b) => b.weight - a.weight || a.fn - b.fn);
}

function branchFor(byFunction, parent, node) {
  let branch = byFunction.get(functionOf[node]);
  if (!branch) byFunction.set(functionOf[node], branch = new Branch(parent, functionOf[node]));
  return branch;
}

// From the roots of threads, or from all calls of a function, to the leaves.
class CalleeTree {
  constructor(fn = -1) {
    this.root = new Branch(null, fn);
    this.root.isInlined = false;
    if (fn < 0) {
      this.root.nodes.push(-1);
      this.root.weight = sums.all;
      return;
    }
    for (let i = 0; i < nodeCount; i++)
      if (functionOf[i] === fn && isOutermost[i] && sums.total[i]) this.root.add(i, sums.total[i]);
  }

  childrenOf(branch) {
    if (branch.children) return branch.children;
    const byFunction = new Map();
    for (const node of branch.nodes)
      for (let i = childStart[node + 1]; i < childStart[node + 2]; i++) {
        const child = childList[i];
        if (sums.total[child]) branchFor(byFunction, branch, child).add(child, sums.total[child]);
      }
    return branch.children = sortedBranches(byFunction);
  }

  selfOf(branch) {
    return branch.fn < 0 ? 0 : branch.nodes.reduce((sum, node) => sum + sums.self[node], 0);
  }
}

// From the leaves, or from a function, to its callers.
class CallerTree {
  constructor(fn = -1) {
    this.root = new Branch(null, fn);
    this.root.isInlined = false;
    this.root.weights = [];
    if (fn < 0) {
      this.root.weight = sums.all;
      this.root.children = this.leaves();
      return;
    }
    for (let i = 0; i < nodeCount; i++)
      if (functionOf[i] === fn && isOutermost[i] && sums.total[i]) {
        this.root.add(i, sums.total[i]);
        this.root.weights.push(sums.total[i]);
      }
  }

  put(byFunction, parent, node, weight) {
    const branch = branchFor(byFunction, parent, node);
    branch.weights = branch.weights || [];
    branch.add(node, weight);
    branch.weights.push(weight);
  }

  leaves() {
    const byFunction = new Map();
    for (let i = 0; i < nodeCount; i++)
      if (sums.self[i]) this.put(byFunction, this.root, i, sums.self[i]);
    return sortedBranches(byFunction);
  }

  childrenOf(branch) {
    if (branch.children) return branch.children;
    const byFunction = new Map();
    for (let i = 0; i < branch.nodes.length; i++) {
      const caller = parents[branch.nodes[i]];
      if (caller >= 0) this.put(byFunction, branch, caller, branch.weights[i]);
    }
    return branch.children = sortedBranches(byFunction);
  }

  selfOf(branch) {
    return branch.parent && branch.parent.fn < 0 ? branch.weight : 0;
  }
}
