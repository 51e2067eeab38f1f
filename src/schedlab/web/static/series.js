// Charts over time below the Gantt charts: a line for each run, on the same axis.

import { fitted, shade } from "./dom.js";
import { bytes, number } from "./format.js";

const FONT = "11px system-ui, sans-serif";

/** One chart. `lines`: functions (begin, end, width) -> values of each pixel; `top`: the upper end, if it is fixed. */
export class Series {
  constructor(canvas, axis, gutter, { top = null, share = false, memory = false }) {
    Object.assign(this, { canvas, axis, gutter, fixed: top, share, memory });
  }

  draw(lines, moment, band) {
    const { canvas, axis, gutter } = this, wide = canvas.clientWidth - gutter, high = canvas.clientHeight;
    const pen = fitted(canvas, canvas.clientWidth, high), width = Math.max(1, Math.round(wide));
    const found = lines.map(line => ({ ...line, values: line.of(axis.begin, axis.end, width) }));
    this.complete = found.every(({ values }) => values);
    const top = this.fixed ?? roundUp(Math.max(...found.flatMap(({ values }) => values ? [largest(values)] : []), 0));
    const y = value => 4 + (high - 5) * (1 - value / top);
    pen.fillStyle = shade("--plot");
    pen.fillRect(gutter, 0, wide, high);
    this.scale(pen, y, top, wide, high);
    pen.save();
    pen.beginPath();
    pen.rect(gutter, 0, wide, high);
    pen.clip();
    if (band) {
      pen.fillStyle = shade("--wait");
      const left = gutter + axis.place(band[0], wide);
      pen.fillRect(left, 0, gutter + axis.place(band[1], wide) - left, high);
    }
    for (const { values, colour } of found) if (values) curve(pen, values, gutter, y, colour, found.length === 1 ? high : 0);
    if (moment !== null) {
      pen.fillStyle = shade("--moment");
      pen.fillRect(Math.round(gutter + axis.place(moment, wide)) - 0.5, 0, 1.5, high);
    }
    pen.restore();
  }

  scale(pen, y, top, wide, high) {
    pen.font = FONT;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const share of high > 60 ? [0.5, 1] : [1]) {
      const value = share * top;
      pen.fillStyle = shade("--faint");
      pen.fillRect(this.gutter, Math.round(y(value)), wide, 1);
      pen.fillStyle = shade("--grey");
      pen.fillText(this.text(value), this.gutter - 8, Math.max(y(value), 7));
    }
  }

  text(value) {
    if (this.share) return `${Math.round(100 * value)} %`;
    if (this.memory) return bytes(value);
    return value >= 10_000 ? `${number(value / 1000, value % 1000 ? 1 : 0)}k` : number(value, value < 10 && value % 1 ? 1 : 0);
  }
}

function curve(pen, values, left, y, colour, floor) {
  pen.beginPath();
  for (let x = 0; x < values.length; x++) {
    pen.lineTo(left + x, y(values[x]));
    pen.lineTo(left + x + 1, y(values[x]));
  }
  pen.strokeStyle = colour;
  pen.lineWidth = 1.4;
  pen.lineJoin = "round";
  pen.stroke();
  if (!floor) return;
  pen.lineTo(left + values.length, floor);
  pen.lineTo(left, floor);
  pen.globalAlpha = 0.18;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = 1;
}

function largest(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  return most;
}

function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map(factor => factor * power).find(each => each >= value);
}

/** The axis of time: ticks and what they leave out. */
export function drawAxis(canvas, axis, gutter) {
  const wide = canvas.clientWidth - gutter, pen = fitted(canvas, canvas.clientWidth, canvas.clientHeight);
  pen.font = FONT;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const [time, text, larger] of axis.ticks(wide)) {
    const x = gutter + axis.place(time, wide);
    pen.fillStyle = shade("--line");
    pen.fillRect(Math.round(x), 0, 1, larger ? 7 : 4);
    pen.fillStyle = larger ? shade("--ink") : shade("--grey");
    const half = pen.measureText(text).width / 2;
    if (x - half > gutter - 20 && x + half < gutter + wide) pen.fillText(text, x, 8);
  }
}
