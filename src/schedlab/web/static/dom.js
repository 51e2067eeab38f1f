// Elements. Texts go in as texts: nothing that a log calls a job or a user can become markup.

/** An element with attributes (on…: listeners) and children (elements or texts). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/** A canvas of as many points as the screen has for it, ready to be drawn on in CSS pixels. */
export function fitted(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const across = Math.max(1, Math.round(width * ratio)), down = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== across || canvas.height !== down) { canvas.width = across; canvas.height = down; }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** A text, unless it stands there already: to write it again costs a layout. */
export function write(element, text) { if (element.textContent !== text) element.textContent = text; }

/** A function that does `work` once in the next frame, however often it is called. */
export function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; work(); });
  };
}

const shades = new Map();

/** The value of a colour of the style sheet. */
export function shade(name) {
  if (!shades.has(name)) shades.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return shades.get(name);
}

/** The style sheet has changed its colours. */
export function forgetShades() { shades.clear(); }
