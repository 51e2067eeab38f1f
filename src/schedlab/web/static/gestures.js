// Wheel, drag, pinch and keys on charts over time.

const STEP = 1.0015; // of zoom, for each pixel of the wheel

/**
 * Let the axis follow what is done on `element`, whose chart lies between `left()` and `left() + width()`.
 * `rows` (pan(pixels), zoom(place, factor)) is told of moves down, if there is any; `click` and `hover` get places.
 */
export function follow(element, axis, { left, width, rows = null, click = null, hover = null, leave = null, twice = null }) {
  const pointers = new Map();
  let moved = 0;
  const place = event => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left - left(), event.clientY - box.top];
  };

  element.addEventListener("wheel", event => {
    event.preventDefault();
    const [x, y] = place(event), unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey && rows) rows.zoom(y, STEP ** (-(event.deltaY || event.deltaX) * unit));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) axis.pan(event.deltaX * unit / width() * axis.length);
    else axis.zoomAt(axis.time(x, width()), STEP ** (-event.deltaY * unit));
  }, { passive: false });

  element.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
  });

  element.addEventListener("pointermove", event => {
    const now = place(event), before = pointers.get(event.pointerId);
    if (!before) { hover?.(...now, event); return; }
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (pointers.size === 2) {
      const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
      const factor = Math.max(Math.abs(now[0] - other[0]), 10) / Math.max(Math.abs(before[0] - other[0]), 10);
      axis.zoomAt(axis.time((now[0] + other[0]) / 2, width()), factor);
    } else if (moved > 3) {
      element.classList.add("dragged");
      axis.pan(-dx / width() * axis.length);
      if (event.pointerType === "mouse") rows?.pan(-dy);
    }
    pointers.set(event.pointerId, now);
  });

  const up = event => {
    const known = pointers.delete(event.pointerId);
    element.classList.remove("dragged");
    if (known && event.type === "pointerup" && pointers.size === 0 && moved <= 3) click?.(...place(event), event);
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", () => leave?.());
  element.addEventListener("dblclick", event => twice?.(...place(event)));
}

/** Arrows, + − and 0 move the axis wherever one is on the page, except in fields. */
export function keys(axis, others = {}) {
  document.addEventListener("keydown", event => {
    if (event.target.closest("input, select, textarea, [role=grid]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (axis.begin + axis.end) / 2, step = axis.length * (event.shiftKey ? 0.6 : 0.15);
    const done = {
      ArrowLeft: () => axis.pan(-step),
      ArrowRight: () => axis.pan(step),
      "+": () => axis.zoomAt(middle, 1.5),
      "=": () => axis.zoomAt(middle, 1.5),
      "-": () => axis.zoomAt(middle, 1 / 1.5),
      0: () => axis.all(),
      ...others,
    }[event.key];
    if (!done) return;
    event.preventDefault();
    done();
  });
}
