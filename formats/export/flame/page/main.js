// SPDX-License-Identifier: MIT
// Views, selection of threads, search, keys. The fragment of the address holds the view, so that a link or a
// bookmark opens the same: #view=functions&search=memcpy&process=2
const VIEWS = ['flame', 'inverted', 'callers', 'functions', 'recording'];
const state = { view: 'flame', event: data.main_event, process: -1, thread: -1, fn: -1, search: '' };
let matches = null; // by function, or no search
const flames = {
  graph: new Flame(element('view-graph'), 'Flame graph'),
  callers: new Flame(element('callers'), 'Callers', true),
  callees: new Flame(element('callees'), 'Callees'),
};

// Times since the page was opened, for programs that read the page.
function pictureDrawn() {
  const root = document.documentElement;
  if (!root.dataset.pictureMs) root.dataset.pictureMs = performance.now().toFixed(1);
}

function processText(index) {
  const { name, pid } = data.processes[index];
  return `${name} (${pid})`;
}

function threadText(index) {
  const { name, tid } = data.threads[index];
  return `${name} (${tid})`;
}

function scopeName() {
  if (state.thread >= 0) return threadText(state.thread);
  return state.process >= 0 ? processText(state.process) : 'all';
}

function selectedLists() {
  return data.lists.filter(({ event, thread }) => event === state.event &&
    (state.thread < 0 || thread === state.thread) &&
    (state.process < 0 || data.threads[thread].process === state.process));
}

function readFragment() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const index = (key, count) => {
    const value = Number.parseInt(fragment.get(key), 10);
    return value >= 0 && value < count ? value : -1;
  };
  if (VIEWS.includes(fragment.get('view'))) state.view = fragment.get('view');
  state.process = index('process', data.processes.length);
  state.thread = index('thread', data.threads.length);
  state.fn = index('function', functionCount);
  if (index('event', data.events.length) >= 0) state.event = index('event', data.events.length);
  state.search = fragment.get('search') || '';
}

function writeFragment() {
  const fragment = new URLSearchParams({ view: state.view });
  if (state.event !== data.main_event) fragment.set('event', state.event);
  if (state.process >= 0) fragment.set('process', state.process);
  if (state.thread >= 0) fragment.set('thread', state.thread);
  if (state.fn >= 0) fragment.set('function', state.fn);
  if (state.search) fragment.set('search', state.search);
  history.replaceState(null, '', `#${fragment}`);
}

// By weight: processes with their threads.
function fillScope() {
  const threads = new Map(), processes = new Map(), inside = new Map();
  for (const { event, thread, weight } of data.lists) {
    if (event !== state.event) continue;
    const { process } = data.threads[thread];
    threads.set(thread, weight + (threads.get(thread) || 0));
    processes.set(process, weight + (processes.get(process) || 0));
  }
  const byWeight = (map) => [...map].sort((a, b) => b[1] - a[1]);
  const options = [new Option(`All processes and threads (${threads.size})`, '')];
  for (const entry of byWeight(threads)) {
    const { process } = data.threads[entry[0]];
    if (!inside.has(process)) inside.set(process, []);
    inside.get(process).push(entry);
  }
  for (const [process, weight] of byWeight(processes)) {
    options.push(new Option(`${processText(process)}  ${formatWeight(weight)}`, `process=${process}`));
    if (inside.get(process).length > 1)
      for (const [thread, part] of inside.get(process))
        options.push(new Option(`\u00a0\u00a0\u00a0${threadText(thread)}  ${formatWeight(part)}`, `thread=${thread}`));
  }
  element('scope').replaceChildren(...options);
  element('scope').value = state.thread >= 0 ? `thread=${state.thread}` : state.process >= 0 ? `process=${state.process}` : '';
}

function fillEvents() {
  element('event').replaceChildren(...data.events.map(({ name }, i) => new Option(name || 'samples', i)));
  element('event').value = state.event;
  element('event').hidden = data.events.length < 2;
}

function showFigures() {
  const event = data.events[state.event];
  const unit = event.is_off_cpu ? 'off CPU' : event.is_wall ? 'wall time'
    : event.is_time ? 'CPU' : event.name;
  const used = new Set(selectedLists().map(({ thread }) => data.threads[thread].process));
  const count = (n, noun) => `${number.format(n)} ${noun}${n === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
  element('figures').textContent = [
    `${isTime ? formatDuration(sums.all / 1e6) : number.format(sums.all)} ${unit}`,
    ...(diff ? [`before ${isTime ? formatDuration(before.all / 1e6) : number.format(before.all)}`, 'for each run',
      `${diff.base_runs} against ${diff.new_runs} runs`, `removed functions: ${diff.removed.length}`] : []),
    count(sums.samples, 'sample'), count(used.size, 'process'), count(selectedLists().length, 'thread'),
  ].join('  ·  ');
}

function showLegend() {
  if (diff) {
    showShifts();
    return;
  }
  const items = KINDS.map((name, kind) => ({ name, kind, weight: sums.kindSelf[kind] })).filter(({ weight }) => weight);
  element('legend').replaceChildren(...items.map(({ name, kind, weight }) => {
    const item = make('li'), mark = make('i');
    mark.style.background = kindColour(kind);
    item.append(mark, `${name} `, make('b', formatShare(weight, sums.all)));
    return item;
  }));
  if (sums.inlinedSelf) {
    const item = make('li');
    item.append(make('em', 'inlined '), make('b', formatShare(sums.inlinedSelf, sums.all)));
    element('legend').append(item);
  }
}

function busiestFunction() {
  let best = -1;
  for (let fn = 0; fn < functionCount; fn++)
    if (sums.functionSelf[fn] && (best < 0 || sums.functionSelf[fn] > sums.functionSelf[best])) best = fn;
  return best;
}

function showBothWays() {
  if (state.fn < 0 || !sums.functionTotal[state.fn]) state.fn = busiestFunction();
  if (state.fn < 0) return;
  const total = sums.functionTotal[state.fn], self = sums.functionSelf[state.fn];
  const figures = `total ${formatWeight(total)} (${formatShare(total, sums.all)})  ·  self ${formatWeight(self)} (${formatShare(self, sums.all)})`;
  element('callers-title').textContent = `Callers of ${shortName(nameOf(state.fn))}  ·  ${figures}`;
  element('callees-title').textContent = `Callees of ${shortName(nameOf(state.fn))}`;
  element('callers-title').title = element('callees-title').title = nameOf(state.fn);
  flames.callers.show(new CallerTree(state.fn));
  flames.callees.show(new CalleeTree(state.fn));
}

function showView() {
  for (const tab of element('tabs').children) tab.setAttribute('aria-selected', tab.dataset.view === state.view);
  const isGraph = state.view === 'flame' || state.view === 'inverted';
  element('view-graph').hidden = !isGraph;
  for (const name of ['callers', 'functions', 'recording']) element(`view-${name}`).hidden = state.view !== name;
  clearDetail();
  hideTooltip();
  if (isGraph) flames.graph.show(state.view === 'flame' ? new CalleeTree() : new CallerTree());
  else if (state.view === 'callers') showBothWays();
  else if (state.view === 'functions') showFunctions();
  else showRecording();
  writeFragment();
}

function showScope() {
  isTime = data.events[state.event].is_time;
  sumLists(selectedLists());
  showFigures();
  showLegend();
  search();
  showView();
}

function showCallers(fn) {
  state.fn = fn;
  state.view = 'callers';
  showView();
}

// "/text/": a regular expression, once it is complete and correct.
function matcherOf(text) {
  const expression = /^\/(.+)\/$/.exec(text);
  if (expression) {
    try {
      const compiled = new RegExp(expression[1], 'i');
      return (candidate) => compiled.test(candidate);
    } catch {
      return () => false;
    }
  }
  const lower = text.toLowerCase();
  return (candidate) => candidate.toLowerCase().includes(lower);
}

function search() {
  const began = performance.now();
  const text = state.search.trim();
  element('matched').textContent = '';
  matches = null;
  if (text) {
    const isFound = data.strings.map(matcherOf(text));
    const { name, file, module } = data.functions;
    matches = new Uint8Array(functionCount);
    for (let fn = 0; fn < functionCount; fn++)
      matches[fn] = isFound[name[fn]] || (file[fn] >= 0 && isFound[file[fn]]) ||
        (module[fn] >= 0 && isFound[data.modules[module[fn]].name]) ? 1 : 0;
    const weight = sumMatches(matches);
    element('matched').textContent = formatShare(weight, sums.all);
    element('matched').title = formatWeight(weight);
    element('matched').dataset.weight = weight;
  }
  document.documentElement.dataset.searchMs = (performance.now() - began).toFixed(1);
}

function searchChanged() {
  state.search = element('search').value;
  search();
  if (state.view === 'functions') showFunctions();
  for (const flame of Object.values(flames)) flame.requestDraw();
  writeFragment();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  colours.clear();
}

function toggleTheme() {
  setTheme(isDark() ? 'light' : 'dark');
  showLegend();
  if (state.view === 'functions') showFunctions();
  for (const flame of Object.values(flames)) flame.requestDraw();
}

function resetZoom() {
  const zoomed = Object.values(flames).filter((flame) => flame.tree && flame.zoom !== flame.tree.root);
  for (const flame of zoomed) flame.zoomTo(flame.tree.root);
  if (zoomed.length === 0 && state.search) {
    element('search').value = '';
    searchChanged();
  }
  clearDetail();
}

function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || element('keys').open) return;
  const isTyping = event.target === element('search');
  if (event.key === 'Escape') {
    if (isTyping) event.target.blur();
    resetZoom();
  } else if (isTyping || event.target.tagName === 'SELECT') {
    return;
  } else if (event.key === '/') {
    element('search').focus();
    element('search').select();
  } else if (event.key >= '1' && event.key <= '5') {
    state.view = VIEWS[event.key - 1];
    showView();
  } else if (event.key === 'd') {
    toggleTheme();
  } else if (event.key === '?') {
    element('keys').showModal();
  } else if (event.key === 'c' && detailed && detailed.branch.fn >= 0) {
    showCallers(detailed.branch.fn);
  } else {
    return;
  }
  event.preventDefault();
}

function listen() {
  element('tabs').addEventListener('click', ({ target }) => {
    if (!target.dataset.view) return;
    state.view = target.dataset.view;
    showView();
  });
  element('scope').addEventListener('change', ({ target }) => {
    const [what, index] = target.value.split('=');
    state.process = what === 'process' ? Number(index) : -1;
    state.thread = what === 'thread' ? Number(index) : -1;
    showScope();
  });
  element('event').addEventListener('change', ({ target }) => {
    Object.assign(state, { event: Number(target.value), process: -1, thread: -1 });
    isTime = data.events[state.event].is_time;
    fillScope();
    showScope();
  });
  element('search').addEventListener('input', searchChanged);
  element('theme').addEventListener('click', toggleTheme);
  element('help').addEventListener('click', () => element('keys').showModal());
  element('reset').addEventListener('click', resetZoom);
  element('focus').addEventListener('click', () => detailed && showCallers(detailed.branch.fn));
  document.addEventListener('keydown', key);
}

function start() {
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.title = `${data.program || 'profile'} – rec`;
  element('program').textContent = data.program || 'unknown program';
  element('program').title = data.command;
  readFragment();
  element('search').value = state.search;
  isTime = data.events[state.event].is_time;
  fillEvents();
  fillScope();
  element('scope').hidden = Boolean(diff);
  listen();
  showScope();
}
start();
