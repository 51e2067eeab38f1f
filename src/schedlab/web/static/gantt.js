// The Gantt chart of one run: who had which cores, from an hour to years. Few rectangles are drawn one by one, with
// names; more as points of an image; more still from tiles of cells that were counted beforehand.

import { css, mixed, packed } from "./palette.js";
import { fitted, shade } from "./dom.js";
import { Raster } from "./raster.js";
import { upTo, within } from "./schedule.js";
import { PASSED, SELF } from "./waiting.js";

const MOST_SHAPES = 2500; // with edges and names
const MOST_POINTS = 30_000; // as an image; as MOST_DRAWN of web/tiles.py
const LARGEST_ROW = 22; // pixels, where there are few
const FONT = "11px system-ui, sans-serif";

export class Gantt {
  constructor(canvas, axis, facts, nodes, schedule, gutter) {
    Object.assign(this, { canvas, axis, facts, nodes, schedule, gutter });
    this.raster = new Raster();
    this.top = 0; // the rows that are shown
    this.bottom = facts.machine.rows;
    this.firsts = firstRows(facts.machine);
    this.scratch = document.createElement("canvas");
    this.closed = null;
  }

  get rows() { return this.facts.machine.rows; }

  /** As high as it needs to be, at most `most`. */
  height(most) { return Math.max(70, Math.min(this.rows * LARGEST_ROW, most)); }

  panRows(pixels) {
    const shown = this.bottom - this.top, by = pixels / this.down * shown;
    const top = Math.min(Math.max(this.top + by, 0), this.rows - shown);
    this.showRows(top, top + shown);
  }

  zoomRows(place, factor) {
    const shown = this.bottom - this.top, wanted = Math.min(Math.max(shown / factor, Math.min(4, this.rows)), this.rows);
    const at = this.top + place / this.down * shown;
    const top = Math.min(Math.max(at - place / this.down * wanted, 0), this.rows - wanted);
    this.showRows(top, top + wanted);
  }

  showRows(top, bottom) { this.top = top; this.bottom = bottom; }

  /** `colours` of jobs; `marks`: the job that is looked at and those that have to do with it. */
  draw(colours, marks, moment) {
    const { canvas, axis } = this;
    this.wide = canvas.clientWidth - this.gutter;
    this.down = canvas.clientHeight;
    if (this.wide <= 0) return; // not on the page (yet)
    const pen = fitted(canvas, canvas.clientWidth, this.down);
    this.pen = pen;
    pen.fillStyle = shade("--plot");
    pen.fillRect(this.gutter, 0, this.wide, this.down);
    const shown = marks && !marks.bright ? dimmed(colours, marks) : colours;
    pen.save();
    pen.beginPath();
    pen.rect(this.gutter, 0, this.wide, this.down);
    pen.clip();
    this.lines();
    const { schedule } = this, few = !schedule.levels.length || schedule.bound(axis.begin, axis.end) <= MOST_POINTS;
    // Until all rectangles have come, cells are shown.
    const near = few && !(schedule.levels.length && schedule.between(axis.begin, axis.end).missing);
    this.drawn = near ? this.bars(shown) : this.cells(shown);
    this.complete &&= near || !few;
    this.shut();
    if (marks) this.mark(marks);
    if (moment !== null) this.line(moment);
    pen.restore();
    this.names();
  }

  x(time) { return this.gutter + this.axis.place(time, this.wide); }

  y(row) { return (row - this.top) / (this.bottom - this.top) * this.down; }

  bars(colours) {
    const { axis } = this, { found, missing } = this.schedule.between(axis.begin, axis.end);
    this.complete = missing === 0;
    const picked = [];
    let number = 0;
    for (const block of found) {
      const { low, size } = block, seen = new Uint32Array(block.row.length), { top, bottom } = this;
      let count = 0;
      within(block, axis.begin, axis.end, i => { if (low[i] < bottom && low[i] + size[i] > top) seen[count++] = i; });
      picked.push([block, seen, count]);
      number += count;
    }
    if (number > MOST_SHAPES) this.image(picked, colours); else this.shapes(picked, colours);
    return `${number} rectangles`;
  }

  prepare() {
    const ratio = this.canvas.width / this.canvas.clientWidth;
    const wide = Math.max(1, Math.round(this.wide * ratio)), down = Math.max(1, Math.round(this.down * ratio));
    this.raster.begin(wide, down);
    return [wide, down];
  }

  finish() {
    const { raster, scratch } = this;
    if (scratch.width !== raster.width || scratch.height !== raster.height) {
      scratch.width = raster.width;
      scratch.height = raster.height;
    }
    scratch.getContext("2d").putImageData(raster.image, 0, 0);
    this.pen.drawImage(scratch, this.gutter, 0, this.wide, this.down);
  }

  image(picked, colours) {
    const [wide, down] = this.prepare(), { axis, raster, top } = this;
    const across = wide / axis.length, along = down / (this.bottom - this.top), from = axis.begin;
    raster.beginShapes();
    for (const [{ row, begin, end, low, size }, seen, count] of picked) {
      for (let k = 0; k < count; k++) {
        const i = seen[k], upper = (low[i] - top) * along;
        raster.add(row[i], (begin[i] - from) * across, (end[i] - from) * across, upper, upper + size[i] * along);
      }
    }
    raster.paintShapes(colours);
    this.finish();
  }

  cells(colours) {
    const [wide, down] = this.prepare(), { axis, facts, raster } = this, { levels } = this.schedule;
    const [first, last] = facts.span, length = last - first, { bins } = facts.tile;
    // The coarsest level that has a cell for each point.
    const finer = levels.findIndex(tiles => length / (tiles * bins) <= axis.length / wide * 1.3);
    let level = finer < 0 ? levels.length - 1 : finer;
    const rows = this.bottom - this.top;
    const place = time => (time - axis.begin) / axis.length * wide;
    const upper = (0 - this.top) / rows * down, lower = (this.rows - this.top) / rows * down;
    const size = at => length / levels[at];
    const visible = at => {
      const from = Math.max(0, Math.floor((axis.begin - first) / size(at)));
      const to = Math.min(levels[at] - 1, Math.floor((axis.end - first) / size(at)));
      return Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i);
    };
    // Until the finer ones have come, the coarser ones are shown.
    while (level > 0 && visible(level).map(at => this.schedule.tile(level, at)).some(tile => !tile)) level--;
    for (const at of visible(level)) {
      const tile = this.schedule.tile(level, at);
      if (tile) raster.paintCells(tile, facts.tile, place(first + at * size(level)), place(first + (at + 1) * size(level)), upper, lower, colours);
    }
    this.complete = visible(level).every(at => this.schedule.tile(level, at));
    this.finish();
    return `tiles of level ${level}`;
  }

  shapes(picked, colours) {
    const { pen } = this, texts = [], ink = "rgba(0,0,0,.72)";
    for (const [{ row, begin, end, low, size }, seen, count] of picked) {
      for (let k = 0; k < count; k++) {
        const i = seen[k], left = Math.max(this.x(begin[i]), this.gutter - 2);
        const right = Math.min(this.x(end[i]), this.gutter + this.wide + 2);
        const upper = Math.max(this.y(low[i]), -2), lower = Math.min(this.y(low[i] + size[i]), this.down + 2);
        const gap = right - left > 3 ? 1 : 0, gapDown = lower - upper > 3 ? 1 : 0;
        pen.fillStyle = css(colours[row[i]]);
        pen.fillRect(left, upper, Math.max(right - left - gap, 0.6), Math.max(lower - upper - gapDown, 0.4));
        if (right - left > 34 && lower - upper > 13) texts.push([row[i], left, right, upper, lower]);
      }
    }
    pen.font = FONT;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [row, left, right, upper, lower] of texts) {
      const text = this.schedule.jobs.title(row);
      if (pen.measureText(text).width > right - left - 6) continue;
      pen.fillStyle = isDark(colours[row]) ? "rgba(255,255,255,.92)" : ink;
      pen.fillText(text, (left + right) / 2, (upper + lower) / 2 + 0.5);
    }
  }

  /** Faint lines between nodes, where there is room. */
  lines() {
    const { pen } = this, pixels = this.down / (this.bottom - this.top), nodes = this.firsts.length - 1;
    if (this.facts.machine.pool || pixels * this.rows / nodes < 5) return;
    pen.fillStyle = shade("--faint");
    for (let node = nodeAt(this.firsts, this.top); node < nodes && this.firsts[node] < this.bottom; node++) {
      pen.fillRect(this.gutter, Math.round(this.y(this.firsts[node])), this.wide, 1);
    }
  }

  /** Nodes that were not up. */
  shut() {
    if (!this.closed) return;
    const { begin, end, low, size } = this.closed, { pen, axis } = this;
    pen.fillStyle = shade("--closed");
    for (let i = 0; i < begin.length; i++) {
      if (begin[i] > axis.end || end[i] < axis.begin) continue;
      const left = this.x(begin[i]);
      pen.fillRect(left, this.y(low[i]), Math.max(this.x(end[i]) - left, 0.7), Math.max(this.y(low[i] + size[i]) - this.y(low[i]), 0.7));
    }
  }

  /** The wait of the job that is looked at, itself, and those who passed it. */
  mark(marks) {
    const { pen } = this;
    if (marks.since !== null && marks.until > marks.since) {
      const left = this.x(marks.since), right = this.x(marks.until);
      pen.fillStyle = shade("--wait");
      pen.fillRect(left, 0, right - left, this.down);
      pen.fillStyle = shade("--ink");
      pen.font = FONT;
      pen.textAlign = "left";
      pen.textBaseline = "top";
      const shown = Math.max(left, this.gutter);
      if (right - shown > 44) {
        pen.strokeStyle = shade("--halo");
        pen.lineWidth = 3;
        pen.strokeText("waits", shown + 5, 4);
        pen.fillText("waits", shown + 5, 4);
      }
    }
    this.outline(marks);
  }

  /** Those who passed it, then the job itself, in the part of the time that is shown. */
  outline(marks) {
    const { pen, axis } = this, own = [];
    pen.strokeStyle = shade("--passed");
    pen.lineWidth = 1.5;
    // They all began while it waited: of a large run, few blocks have to be looked at.
    const since = marks.since ?? -Infinity, until = Math.min(axis.end, marks.until);
    for (const block of until < since ? [] : this.schedule.between(since, until).found) {
      const { row, begin, end, low, size } = block;
      within(block, axis.begin, until, i => {
        const flag = marks.flags[row[i]];
        if (flag !== PASSED && flag !== SELF) return;
        const left = this.x(begin[i]), upper = this.y(low[i]);
        const box = [left, upper, Math.max(this.x(end[i]) - left, 2), Math.max(this.y(low[i] + size[i]) - upper, 2)];
        if (flag === SELF) own.push(box); else pen.strokeRect(...box);
      });
    }
    for (const [colour, width] of [["--halo", 5], ["--ink", 2]]) {
      pen.strokeStyle = shade(colour);
      pen.lineWidth = width;
      for (const box of own) pen.strokeRect(...box);
    }
  }

  line(moment) {
    const x = Math.round(this.x(moment));
    this.pen.fillStyle = shade("--halo");
    this.pen.fillRect(x - 2, 0, 4, this.down);
    this.pen.fillStyle = shade("--moment");
    this.pen.fillRect(x - 0.75, 0, 1.5, this.down);
  }

  /** Beside the rows: some names of nodes, or numbers of cores of a pool. */
  names() {
    const { pen } = this;
    pen.font = FONT;
    pen.fillStyle = shade("--grey");
    pen.textAlign = "right";
    const pool = this.facts.machine.pool, shown = this.bottom - this.top, nodes = this.firsts.length - 1;
    if (pool) {
      pen.textBaseline = "middle";
      const step = roundStep(shown / Math.max(this.down / 34, 1));
      for (let row = Math.ceil(this.top / step) * step; row <= this.bottom; row += step) {
        const y = this.y(row);
        if (y > 6 && y < this.down - 6) pen.fillText(row.toLocaleString("en-US"), this.gutter - 8, y);
      }
      return;
    }
    pen.textBaseline = "middle";
    const each = this.down / shown * this.rows / nodes, every = roundStep(Math.max(15 / each, 1));
    const from = nodeAt(this.firsts, this.top);
    for (let node = Math.ceil(from / every) * every; node < nodes && this.firsts[node] < this.bottom; node += every) {
      const y = this.y((this.firsts[node] + this.firsts[node + 1]) / 2);
      if (y > 5 && y < this.down - 4) pen.fillText(short(this.nodes[node], pen, this.gutter - 10), this.gutter - 8, y);
    }
  }

  /** The job at a place of the canvas, or -1; and the row of cores. */
  find(x, y) {
    const time = this.axis.time(x, this.wide), row = this.top + y / this.down * (this.bottom - this.top);
    const reach = this.axis.length / this.wide * 1.5; // a pixel or so: short jobs are hard to hit
    const { found } = this.schedule.between(time, time);
    let best = -1, nearest = Infinity;
    for (const block of found) {
      const { row: job, begin, end, low, size } = block;
      within(block, time - reach, time + reach, i => {
        if (low[i] > row || low[i] + size[i] <= row) return;
        const off = Math.max(begin[i] - time, time - end[i], 0);
        if (off < nearest || (off === nearest && end[i] - begin[i] < reach)) { nearest = off; best = job[i]; }
      });
    }
    return { job: best, time, row };
  }

  nodeName(row) {
    return this.facts.machine.pool ? `core ${Math.floor(row)}` : this.nodes[nodeAt(this.firsts, row)] ?? "";
  }
}

/** The first row of each node, and the row after the last. */
export function firstRows(machine) {
  const firsts = [0];
  for (const { count, resources } of machine.groups) {
    for (let i = 0; i < count; i++) firsts.push(firsts[firsts.length - 1] + Math.max(resources.cores ?? 0, 1));
  }
  return firsts;
}

/** The node of a row. */
export function nodeAt(firsts, row) { return Math.max(0, upTo(firsts, row) - 1); }

/** Colours in which all but a few jobs step back. */
function dimmed(colours, marks) {
  if (marks.dimmed?.of === colours) return marks.dimmed.colours;
  const ground = packed(toHex(shade("--plot"))), faded = new Map(), found = new Uint32Array(colours.length);
  for (let row = 0; row < colours.length; row++) {
    let colour = faded.get(colours[row]);
    if (colour === undefined) faded.set(colours[row], colour = mixed(colours[row], ground, 0.72));
    found[row] = colour;
  }
  for (let row = 0; row < found.length; row++) if (marks.flags[row]) found[row] = colours[row];
  marks.dimmed = { of: colours, colours: found };
  return found;
}

function toHex(colour) { return colour.length === 4 ? `#${[...colour.slice(1)].map(c => c + c).join("")}` : colour; }

function isDark(colour) {
  return 0.3 * (colour & 0xff) + 0.59 * ((colour >> 8) & 0xff) + 0.11 * ((colour >> 16) & 0xff) < 120;
}

function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least - 1e-9);
}

function short(text, pen, width) {
  if (pen.measureText(text).width <= width) return text;
  let kept = text;
  while (kept.length > 2 && pen.measureText(`…${kept}`).width > width) kept = kept.slice(1);
  return `…${kept}`;
}
