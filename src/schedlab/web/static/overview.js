// The whole run in a strip: how full the machine was, and which part of the time the charts show. Drag to move it.

import { fitted, shade } from "./dom.js";

export class Overview {
  constructor(canvas, axis, gutter) {
    Object.assign(this, { canvas, axis, gutter });
    let grip = null;
    const time = event => {
      const box = canvas.getBoundingClientRect(), width = this.width();
      return axis.first + Math.min(Math.max((event.clientX - box.left - gutter()) / width, 0), 1) * (axis.last - axis.first);
    };
    canvas.addEventListener("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      const at = time(event), near = (axis.last - axis.first) * 6 / this.width();
      const kind = axis.zoom < 1.001 ? "new" : Math.abs(at - axis.begin) < near ? "begin" : Math.abs(at - axis.end) < near ? "end"
        : at > axis.begin && at < axis.end ? "move" : "new";
      grip = { kind, from: at, begin: axis.begin, end: axis.end };
    });
    canvas.addEventListener("pointermove", event => {
      if (!grip) return;
      const at = time(event), moved = at - grip.from;
      if (grip.kind === "move") axis.show(grip.begin + moved, grip.end + moved);
      else if (grip.kind === "begin") axis.show(Math.min(at, axis.end - 1), axis.end);
      else if (grip.kind === "end") axis.show(axis.begin, Math.max(at, axis.begin + 1));
      else if (Math.abs(moved) > (axis.last - axis.first) * 3 / this.width()) axis.show(Math.min(at, grip.from), Math.max(at, grip.from));
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, event => {
        if (grip?.kind === "new" && Math.abs(time(event) - grip.from) * this.width() < 3 * (axis.last - axis.first)) {
          axis.show(grip.from - axis.length / 2, grip.from + axis.length / 2);
        }
        grip = null;
      });
    }
  }

  width() { return this.canvas.clientWidth - this.gutter(); }

  draw(lines, moment) {
    const { canvas, axis } = this, left = this.gutter(), wide = this.width(), high = canvas.clientHeight;
    const pen = fitted(canvas, canvas.clientWidth, high), whole = axis.last - axis.first;
    pen.fillStyle = shade("--plot");
    pen.fillRect(left, 0, wide, high);
    const x = time => left + (time - axis.first) / whole * wide;
    for (const { of, colour } of lines) {
      const values = of(axis.first, axis.last, Math.max(1, Math.round(wide)));
      if (!values) continue;
      pen.globalAlpha = lines.length === 1 ? 0.45 : 1;
      pen.fillStyle = pen.strokeStyle = colour;
      pen.beginPath();
      pen.moveTo(left, high);
      for (let i = 0; i < values.length; i++) pen.lineTo(left + i + 0.5, high - values[i] * (high - 3));
      pen.lineTo(left + wide, high);
      if (lines.length === 1) pen.fill(); else pen.stroke();
      pen.globalAlpha = 1;
    }
    pen.fillStyle = shade("--veil");
    pen.fillRect(left, 0, x(axis.begin) - left, high);
    pen.fillRect(x(axis.end), 0, left + wide - x(axis.end), high);
    if (axis.zoom > 1.001) {
      pen.fillStyle = shade("--accent");
      pen.fillRect(x(axis.begin) - 1, 0, 2, high);
      pen.fillRect(x(axis.end) - 1, 0, 2, high);
    }
    pen.fillStyle = shade("--moment");
    pen.fillRect(Math.round(x(moment)) - 0.5, 0, 1.5, high);
  }
}
