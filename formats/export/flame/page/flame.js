// SPDX-License-Identifier: MIT
// A flame graph on a canvas, drawn for the visible rows only. Boxes narrower than MIN_PX are left out, and
// together shown as one box without a name.
const ROW_PX = 20, MIN_PX = 0.3, TEXT_MIN_PX = 26;
const FONT = '12px system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif';

class Flame {
  // growsUp: the root at the bottom.
  constructor(place, label, growsUp = false) {
    this.scroller = document.createElement('div');
    this.scroller.className = 'flame';
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute('role', 'application');
    this.scroller.setAttribute('aria-label', label);
    this.canvas = document.createElement('canvas');
    this.space = document.createElement('div');
    this.space.className = 'space';
    this.scroller.append(this.canvas, this.space);
    place.append(this.scroller);
    this.growsUp = growsUp;
    this.rows = [];
    this.tree = this.zoom = this.hovered = this.selected = null;
    this.isDrawing = false;
    this.listen();
  }

  listen() {
    const { scroller } = this;
    scroller.addEventListener('scroll', () => this.requestDraw(), { passive: true });
    scroller.addEventListener('mousemove', (event) => this.hover(this.boxAt(event), event));
    scroller.addEventListener('mouseleave', () => this.hover(null));
    scroller.addEventListener('click', (event) => this.click(this.boxAt(event)));
    scroller.addEventListener('contextmenu', (event) => {
      const box = this.boxAt(event);
      if (!box || !box.branch || box.branch.fn < 0) return;
      event.preventDefault();
      showCallers(box.branch.fn);
    });
    scroller.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.layout()).observe(scroller);
  }

  show(tree) {
    this.tree = tree;
    this.zoom = tree.root;
    this.hovered = this.selected = null;
    this.layout();
    this.scroller.scrollTop = this.growsUp ? this.scroller.scrollHeight : 0;
    this.draw();
  }

  zoomTo(branch) {
    this.zoom = this.selected = branch;
    this.layout();
    this.reveal(branch);
    showDetail(this, branch);
  }

  // Rows of boxes from left to right: ancestors of the zoomed branch at full width, then its descendants.
  layout() {
    this.width = this.scroller.clientWidth;
    if (!this.tree || this.width === 0) return;
    this.rows = [];
    for (let branch = this.zoom; branch; branch = branch.parent)
      this.rows.unshift([{ branch, x: 0, width: this.width }]);
    const scale = this.zoom.weight ? this.width / this.zoom.weight : 0;
    for (let row = this.rows[this.rows.length - 1]; row.length; ) {
      const below = [];
      for (const box of row) if (box.branch) this.placeChildren(box, scale, below);
      if (below.length) this.rows.push(below);
      row = below;
    }
    this.space.style.height = `${this.rows.length * ROW_PX + 4}px`;
    this.requestDraw();
  }

  placeChildren(box, scale, below) {
    let { x } = box, left = 0, count = 0;
    for (const branch of this.tree.childrenOf(box.branch)) {
      const width = branch.weight * scale;
      if (width >= MIN_PX) {
        below.push({ branch, x, width });
        x += width;
      } else {
        left += branch.weight;
        count++;
      }
    }
    if (left * scale >= MIN_PX) below.push({ branch: null, x, width: left * scale, weight: left, count });
  }

  get height() { return Math.max(this.rows.length * ROW_PX + 4, this.scroller.clientHeight); }

  topOf(row) { return this.growsUp ? this.height - (row + 1) * ROW_PX - 2 : row * ROW_PX + 2; }

  rowAt(y) { return Math.floor((this.growsUp ? this.height - 2 - y : y - 2) / ROW_PX); }

  boxAt(event) {
    const bounds = this.scroller.getBoundingClientRect();
    const row = this.rows[this.rowAt(event.clientY - bounds.top + this.scroller.scrollTop)];
    const x = event.clientX - bounds.left;
    if (!row) return null;
    let low = 0, high = row.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (row[middle].x <= x) low = middle + 1;
      else high = middle;
    }
    const box = row[low - 1];
    return box && x < box.x + Math.max(box.width, 1) ? box : null;
  }

  requestDraw() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      this.draw();
    });
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const height = this.scroller.clientHeight;
    const pixels = [Math.round(this.width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixels[0] || this.canvas.height !== pixels[1]) {
      [this.canvas.width, this.canvas.height] = pixels;
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const context = this.canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, height);
    return context;
  }

  draw() {
    if (!this.tree || !this.width) return;
    const context = this.resize();
    context.font = FONT;
    context.textBaseline = 'middle';
    const zoomRow = this.rows.findIndex((row) => row[0].branch === this.zoom);
    for (let i = 0; i < this.rows.length; i++) {
      const y = this.topOf(i) - this.scroller.scrollTop;
      if (y < -ROW_PX || y > this.scroller.clientHeight) continue;
      for (const box of this.rows[i]) this.drawBox(context, box, y, i < zoomRow);
    }
    pictureDrawn();
  }

  drawBox(context, box, y, isAncestor) {
    const { branch, x } = box;
    const width = box.width > 2 ? box.width - 1 : box.width;
    const isMatch = branch && branch.fn >= 0 && matches && matches[branch.fn];
    if (!branch) context.fillStyle = isDark() ? '#2b333e' : '#e4e8ee';
    else context.fillStyle = isMatch ? (isDark() ? '#b32fd0' : '#e58af7') : diff ? diffColour(branch) : colourOf(branch.fn, branch.isInlined);
    context.globalAlpha = isAncestor ? 0.55 : matches && !isMatch ? 0.4 : 1;
    context.fillRect(x, y, width, ROW_PX - 1);
    context.globalAlpha = 1;
    if (branch && box.width >= TEXT_MIN_PX) this.drawName(context, box, y);
    const isHovered = branch && this.hovered && this.hovered.fn === branch.fn && branch.fn >= 0;
    if ((isHovered && width > 1) || (branch && branch === this.selected)) {
      context.strokeStyle = isDark() ? '#fff' : '#1c2430';
      context.lineWidth = branch === this.hovered || branch === this.selected ? 1.5 : 0.6;
      context.strokeRect(x + 0.75, y + 0.75, Math.max(width - 1.5, 0.5), ROW_PX - 2.5);
    }
  }

  drawName(context, { branch, x, width }, y) {
    const room = width - 9;
    context.font = branch.isInlined ? `italic ${FONT}` : FONT;
    let text = this.nameOf(branch);
    if (context.measureText(text.slice(0, 400)).width > room || text.length > 400) text = shortName(text);
    text = this.cut(context, text, room);
    context.fillStyle = isDark() ? '#f0f3f7' : '#14181f';
    if (text) context.fillText(text, x + 4, y + ROW_PX / 2);
  }

  cut(context, text, room) {
    const needed = context.measureText(text).width;
    if (needed <= room) return text;
    let length = Math.floor(text.length * room / needed);
    while (length > 0 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
    return length > 1 ? `${text.slice(0, length)}…` : '';
  }

  nameOf(branch) { return branch.fn < 0 ? scopeName() : nameOf(branch.fn); }

  hover(box, event) {
    const branch = box ? box.branch : null;
    if (branch !== this.hovered) {
      this.hovered = branch;
      this.requestDraw();
    }
    if (box) showTooltip(this, box, event);
    else hideTooltip();
  }

  click(box) {
    if (box && box.branch) this.zoomTo(box.branch);
  }

  reveal(branch) {
    const row = this.rows.findIndex((boxes) => boxes.some((box) => box.branch === branch));
    if (row < 0) return;
    const top = this.topOf(row), { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top - 2 * ROW_PX;
    else if (top + ROW_PX > scrollTop + clientHeight) this.scroller.scrollTop = top + 3 * ROW_PX - clientHeight;
  }

  select(branch) {
    if (!branch) return;
    this.selected = branch;
    this.reveal(branch);
    this.requestDraw();
    showDetail(this, branch);
  }

  sibling(step) {
    const { parent } = this.selected;
    if (!parent) return this.selected;
    const all = this.tree.childrenOf(parent);
    return all[all.indexOf(this.selected) + step];
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = this.selected || this.zoom;
    if (!at) return;
    const deeper = this.growsUp ? 'ArrowUp' : 'ArrowDown', higher = this.growsUp ? 'ArrowDown' : 'ArrowUp';
    if (event.key === 'Enter') this.zoomTo(at);
    else if (!this.selected && event.key.startsWith('Arrow')) this.select(at);
    else if (event.key === deeper) this.select(this.tree.childrenOf(at)[0]);
    else if (event.key === higher) this.select(at.parent);
    else if (event.key === 'ArrowLeft') this.select(this.sibling(-1));
    else if (event.key === 'ArrowRight') this.select(this.sibling(1));
    else return;
    event.preventDefault();
  }
}
