// The cluster at one moment: every node, who has its cores, and in detail the sockets, GPUs and memory of one node.

import { make, fitted, shade } from "./dom.js";
import { amount, plural } from "./format.js";
import { firstRows, nodeAt } from "./gantt.js";
import { css } from "./palette.js";
import { upTo } from "./schedule.js";

const MOST_HEIGHT = 330, LARGEST = 34, GAP = 2;

export class ClusterMap {
  constructor(facts, nodes, schedule, held, pick) {
    Object.assign(this, { facts, nodes, schedule, held, pick, node: null, there: [] });
    this.firsts = firstRows(facts.machine);
    this.canvas = make("canvas", { class: "map", tabindex: 0, role: "img", "aria-label": "cluster map" });
    this.detail = make("div", { class: "node" });
    this.element = make("div", {}, this.canvas, this.detail);
    this.canvas.addEventListener("click", event => {
      const node = this.nodeUnder(event);
      this.node = node === this.node ? null : node;
      this.redraw?.();
    });
    this.canvas.addEventListener("pointermove", event => {
      const node = this.nodeUnder(event);
      this.canvas.title = node === null ? "" : this.sentence(node);
    });
  }

  /** Cells as large as fit; groups one behind the other. */
  layout(width) {
    const number = this.firsts.length - 1;
    let size = Math.min(LARGEST, Math.floor(Math.sqrt(width * MOST_HEIGHT / number)));
    while (size > 3 && Math.ceil(number / Math.floor(width / size)) * size > MOST_HEIGHT) size--;
    const columns = Math.max(1, Math.min(number, Math.floor(width / Math.max(size, 2))));
    size = Math.min(LARGEST * 1.3, width / columns); // the whole width
    Object.assign(this, { size, columns, high: Math.ceil(number / columns) * size });
  }

  nodeUnder(event) {
    if (this.facts.machine.pool) return null;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.size), line = Math.floor((event.clientY - box.top) / this.size);
    const node = line * this.columns + column;
    return column < this.columns && node < this.nodes.length ? node : null;
  }

  draw(colours, marks, moment) {
    this.redraw = () => { this.drawn = null; this.draw(colours, marks, moment); };
    const width = this.canvas.parentElement.clientWidth, now = [colours, marks, moment, width, this.held, this.closed, this.schedule.came];
    const same = this.drawn?.every((each, at) => each === now[at]);
    if (same && !this.missing) return; // nothing of it has changed
    const { there, missing } = this.schedule.at(moment); // asks for those that are missing, too
    Object.assign(this, { there, missing, drawn: now });
    if (same) return;
    if (this.facts.machine.pool) { this.pool(colours, width); return; }
    this.layout(width);
    this.canvas.style.height = `${this.high}px`;
    const pen = fitted(this.canvas, width, this.high), { size, columns, firsts } = this, gap = size > 7 ? GAP : size > 3 ? 1 : 0;
    const corner = node => [node % columns * size, Math.floor(node / columns) * size];
    const inner = size - gap;
    pen.fillStyle = shade("--free");
    for (let node = 0; node < this.nodes.length; node++) pen.fillRect(...corner(node), inner, inner);
    for (const [row, low, high] of there) {
      pen.fillStyle = css(colours[row]);
      for (let node = nodeAt(firsts, low); node < this.nodes.length && firsts[node] < high; node++) {
        const cores = firsts[node + 1] - firsts[node], [x, y] = corner(node);
        this.fill(pen, x, y, inner, cores, Math.max(low, firsts[node]) - firsts[node], Math.min(high, firsts[node + 1]) - firsts[node]);
      }
    }
    pen.fillStyle = shade("--closed");
    for (const node of this.shut(moment)) pen.fillRect(...corner(node), inner, inner);
    pen.lineWidth = 2;
    if (marks) {
      pen.strokeStyle = shade("--ink");
      for (const [row, low, high] of there) {
        if (row !== marks.row) continue;
        for (let node = nodeAt(firsts, low); node < this.nodes.length && firsts[node] < high; node++) {
          const [x, y] = corner(node);
          pen.strokeRect(x, y, inner, inner);
        }
      }
    }
    if (this.node !== null) {
      pen.strokeStyle = shade("--moment");
      const [x, y] = corner(this.node);
      pen.strokeRect(x - 0.5, y - 0.5, inner + 1, inner + 1);
    }
    this.describe(colours, moment);
  }

  /** Cores of a node from `from` to `to`: squares where there is room for them, else a part of the cell. */
  fill(pen, x, y, inner, cores, from, to) {
    const side = Math.ceil(Math.sqrt(cores)), square = inner / side;
    if (cores === 1 || square < 4 || cores > 64) {
      pen.fillRect(x, y + inner * from / cores, inner, Math.max(inner * (to - from) / cores, 0.5));
      return;
    }
    const lines = Math.ceil(cores / side), high = inner / lines;
    for (let core = from; core < to; core++) {
      pen.fillRect(x + core % side * square, y + Math.floor(core / side) * high, square - 0.7, high - 0.7);
    }
  }

  /** A pool has no nodes: its cores in a row. */
  pool(colours, width) {
    const high = 40, pen = fitted(this.canvas, width, high), cores = Math.max(this.facts.machine.rows, 1);
    this.canvas.style.height = `${high}px`;
    pen.fillStyle = shade("--free");
    pen.fillRect(0, 0, width, high);
    for (const [row, low, size] of this.there) {
      pen.fillStyle = css(colours[row]);
      pen.fillRect(low / cores * width, 0, Math.max((size - low) / cores * width - 0.5, 0.5), high);
    }
  }

  shut(moment) {
    const found = new Set();
    const { begin, end, low, size } = this.closed ?? { begin: [] };
    for (let i = 0; i < begin.length; i++) {
      if (begin[i] > moment || end[i] <= moment) continue;
      for (let node = nodeAt(this.firsts, low[i]); this.firsts[node] < low[i] + size[i]; node++) found.add(node);
    }
    return found;
  }

  on(node) {
    return this.there.filter(([, low, high]) => low < this.firsts[node + 1] && high > this.firsts[node]);
  }

  sentence(node) {
    const jobs = new Set(this.on(node).map(([row]) => this.schedule.jobs.title(row)));
    return `${this.nodes[node]}: ${jobs.size ? plural(jobs.size, "job") : "free"}`;
  }

  /** One node: its sockets with their cores, its other resources, its jobs. */
  describe(colours, moment) {
    this.detail.replaceChildren();
    if (this.node === null) return;
    const { node, firsts, facts } = this, group = groupOf(facts.machine, node), first = firsts[node];
    const owner = new Array(firsts[node + 1] - first).fill(-1);
    for (const [row, low, high] of this.on(node)) {
      for (let core = Math.max(low, first); core < Math.min(high, firsts[node + 1]); core++) owner[core - first] = row;
    }
    const stays = this.heldOn(node, moment), devices = devicesOf(stays);
    for (const [core, row] of devices.cores ?? []) if (core < owner.length) owner[core] = row;
    const box = row => {
      const element = make("i", { title: row < 0 ? "free" : `job ${this.schedule.jobs.title(row)}` });
      if (row >= 0) { element.style.background = css(colours[row]); element.onclick = () => this.pick(row); }
      return element;
    };
    let core = 0;
    const sockets = group.sockets.map((cores, at) => make("div", { class: "socket" },
      make("span", {}, group.sockets.length > 1 ? `socket ${at}` : "cores"),
      make("div", { class: "boxes" }, ...owner.slice(core, core += cores).map(box))));
    const others = Object.keys(group.resources).filter(name => name !== "cores" && !name.endsWith("_milli"));
    const rest = others.map(name => this.resource(name, group, stays, devices, box, colours));
    const jobs = [...new Set(this.on(node).map(([row]) => row))];
    this.detail.append(
      make("h4", {}, this.nodes[node], make("small", {}, ` ${group.name}`)), ...sockets, ...rest.filter(Boolean),
      make("p", {}, jobs.length ? "jobs: " : "no job here at this moment",
        ...jobs.slice(0, 12).flatMap(row => [make("button", { class: "link", onclick: () => this.pick(row) }, this.schedule.jobs.title(row)), " "])));
  }

  /** Devices one by one where the run says which, else a bar. */
  resource(name, group, stays, devices, box, colours) {
    const total = group.resources[name], label = make("span", {}, name);
    if (!total) return null;
    if (total <= 16 && Number.isInteger(total)) {
      const owner = new Array(total).fill(-1), told = devices[name];
      if (told) for (const [device, row] of told) owner[device] = row;
      else {
        let next = 0;
        for (const stay of stays) for (let i = 0; i < (stay.has[name] ?? 0) && next < total; i++) owner[next++] = stay.row;
      }
      return make("div", { class: "socket" }, label, make("div", { class: "boxes large" }, ...owner.map(box)));
    }
    const bar = make("div", { class: "bar" });
    for (const stay of stays) {
      const part = make("i", { title: `job ${this.schedule.jobs.title(stay.row)}: ${amount(name, stay.has[name] ?? 0)}` });
      part.style.width = `${100 * (stay.has[name] ?? 0) / total}%`;
      part.style.background = css(colours[stay.row]);
      bar.append(part);
    }
    return make("div", { class: "socket" }, label, bar, make("small", {}, amount(name, total)));
  }

  heldOn(node, moment) {
    const held = this.held, found = [];
    if (!held) return found;
    const names = Object.keys(held).filter(name => name.startsWith("has_"));
    const last = upTo(held.begin, moment);
    for (let i = 0; i < last; i++) {
      if (held.node[i] !== node || held.end[i] <= moment) continue;
      const has = Object.fromEntries(names.map(name => [name.slice(4), held[name][i]]));
      found.push({ row: held.row[i], has, devices: held.devices && held.devices[i] >= 0 ? held.texts[held.devices[i]] : "" });
    }
    return found;
  }
}

function groupOf(machine, node) {
  let before = 0;
  for (const group of machine.groups) {
    if (node < before + group.count) return group;
    before += group.count;
  }
  return machine.groups[0];
}

/** `cores=0-7;gpus=0,3` of each stay, as [device, job] by resource. */
function devicesOf(stays) {
  const found = {};
  for (const { row, devices } of stays) {
    for (const part of devices ? devices.split(";") : []) {
      const [name, list] = part.split("=");
      for (const range of list.split(",")) {
        const [from, to] = range.split("-").map(Number);
        for (let device = from; device <= (to ?? from); device++) (found[name] ??= []).push([device, row]);
      }
    }
  }
  return found;
}
