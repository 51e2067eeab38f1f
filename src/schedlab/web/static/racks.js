// A machine drawn as racks of nodes, a cell for each core where there is room for it.

import { fitted, make, shade } from "./dom.js";
import { number, plural } from "./format.js";

const NODE = 13, GAP = 3, RACK_GAP = 14, HEAD = 16;
const HUES = ["--accent", "--passed", "--good", "--bad"];

export class Racks {
  constructor() {
    this.canvas = make("canvas", { class: "racks", role: "img", "aria-label": "the machine as racks of nodes" });
    this.words = make("p", { class: "hint" });
    this.element = make("div", { class: "machine" }, this.words, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(machine) {
    this.machine = machine;
    this.canvas.hidden = !machine;
    if (!machine) { this.words.textContent = ""; return; }
    const rest = machine.totals.filter(each => each.name !== "cores").map(each => `${each.total} ${each.name}`);
    const kinds = machine.groups.length > 1 ? `${plural(machine.groups.length, "kind")} of nodes` : "";
    const sockets = machine.groups[0]?.sockets ?? [];
    const inside = machine.groups.length === 1 && !machine.pool ? `${machine.groups[0].cores} cores each${sockets.length > 1 ? ` in ${sockets.length} sockets` : ""}` : "";
    this.words.textContent = machine.pool ? `A pool of ${number(machine.cores)} cores: nodes do not matter.`
      : [plural(machine.nodes, "node"), inside, `${number(machine.cores)} cores`, ...rest, kinds].filter(Boolean).join(" · ");
    this.draw();
  }

  draw() {
    const { machine, canvas } = this, wide = this.element.clientWidth;
    if (!machine || !wide) return;
    if (machine.pool || !machine.drawn) { this.plain(wide); return; }
    const columns = racksOf(machine), across = columnsOf(machine), width = across * (NODE + GAP) + RACK_GAP - GAP;
    const perLine = Math.max(1, Math.floor((wide + RACK_GAP) / width));
    const tall = Math.max(...columns.map(rack => Math.ceil(rack.nodes.length / across))) * (NODE + GAP) + HEAD + RACK_GAP;
    const lines = Math.ceil(columns.length / perLine), high = Math.min(lines * tall, 100000);
    canvas.style.height = `${high}px`;
    const pen = fitted(canvas, wide, high);
    pen.font = "10.5px system-ui, sans-serif";
    pen.textBaseline = "top";
    columns.forEach((rack, at) => {
      const left = at % perLine * width, top = Math.floor(at / perLine) * tall;
      pen.fillStyle = shade("--grey");
      pen.fillText(rack.name, left, top, width - RACK_GAP);
      rack.nodes.forEach((group, place) => {
        const x = left + place % across * (NODE + GAP), y = top + HEAD + Math.floor(place / across) * (NODE + GAP);
        this.node(pen, x, y, machine.groups[group], group);
      });
    });
  }

  node(pen, x, y, group, at) {
    pen.fillStyle = shade("--free");
    pen.fillRect(x, y, NODE, NODE);
    pen.fillStyle = shade(HUES[at % HUES.length]);
    const cores = group.cores, side = Math.ceil(Math.sqrt(cores)), cell = NODE / side;
    if (cell < 2.5) { pen.globalAlpha = 0.75; pen.fillRect(x + 1.5, y + 1.5, NODE - 3, NODE - 3); pen.globalAlpha = 1; return; }
    for (let core = 0; core < cores; core++) {
      pen.fillRect(x + core % side * cell + 0.5, y + Math.floor(core / side) * cell + 0.5, cell - 1, cell - 1);
    }
  }

  plain(wide) {
    this.canvas.style.height = "34px";
    const pen = fitted(this.canvas, wide, 34);
    pen.fillStyle = shade("--accent");
    pen.globalAlpha = 0.8;
    pen.fillRect(0, 0, wide, 34);
    pen.globalAlpha = 1;
  }
}

/** Nodes (by the number of their group) rack by rack. */
function racksOf(machine) {
  const found = [];
  machine.groups.forEach((group, at) => {
    for (let first = 0; first < group.count; first += machine.rack) {
      const several = machine.groups.length > 1 ? group.name : "rack";
      const name = group.count > machine.rack ? `${several} ${Math.floor(first / machine.rack) + 1}` : machine.groups.length > 1 ? group.name : "rack 1";
      found.push({ name, nodes: new Array(Math.min(machine.rack, group.count - first)).fill(at) });
    }
  });
  return found;
}

function columnsOf(machine) { return machine.nodes > 2000 ? 16 : 4; }
