// Small bar charts: what is in a log, at a glance.

import { fitted, make, shade } from "./dom.js";

const FONT = "11px system-ui, sans-serif", BOTTOM = 18, TOP = 4;

/** `values` (numbers), `labels` below them (some may be empty), `second`: other values drawn as a line of dots. */
export function barChart(title, { values, labels, second = null, tip = null, note = "" }) {
  const canvas = make("canvas", { class: "bars", role: "img", "aria-label": title });
  const draw = () => paint(canvas, values, labels, second);
  if (tip) {
    canvas.addEventListener("pointermove", event => {
      const at = Math.floor((event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth * values.length);
      canvas.title = values[at] === undefined ? "" : tip(at);
    });
  }
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return make("figure", { class: "chart" }, make("figcaption", {}, title, note ? make("small", {}, ` ${note}`) : null), canvas);
}

function paint(canvas, values, labels, second) {
  const wide = canvas.clientWidth, high = canvas.clientHeight;
  if (!wide) return;
  const pen = fitted(canvas, wide, high), step = wide / values.length, most = Math.max(...values, 1e-9);
  const gap = step > 6 ? 2 : step > 3 ? 1 : 0, room = high - BOTTOM - TOP;
  pen.fillStyle = shade("--accent");
  values.forEach((value, at) => {
    const tall = value ? Math.max(room * value / most, 1) : 0;
    pen.fillRect(at * step, TOP + room - tall, Math.max(step - gap, 0.5), tall);
  });
  if (second) {
    const top = Math.max(...second, 1e-9);
    pen.fillStyle = shade("--passed");
    second.forEach((value, at) => {
      pen.beginPath();
      pen.arc((at + 0.5) * step - gap / 2, TOP + 3 + (room - 6) * (1 - value / top), 3, 0, 2 * Math.PI);
      pen.fill();
    });
  }
  pen.fillStyle = shade("--line");
  pen.fillRect(0, TOP + room, wide, 1);
  pen.fillStyle = shade("--grey");
  pen.font = FONT;
  pen.textBaseline = "bottom";
  let before = -Infinity;
  labels.forEach((label, at) => {
    if (!label) return;
    const half = pen.measureText(label).width / 2, middle = Math.min(Math.max((at + 0.5) * step, half), wide - half);
    if (middle - half < before + 8) return;
    before = middle + half;
    pen.textAlign = "center";
    pen.fillText(label, middle, high - 2);
  });
}
