// Things with parameters, `failures(mtbf=2e6)`: chosen from a list, filled in, written as one text.

import { make } from "./dom.js";
import { field, select } from "./site.js";

/** A value as the one-line syntax writes it; null where it is left at its default. */
function written(argument, control) {
  if (argument.kind === "flag") return control.checked === argument.default ? null : control.checked ? "True" : "False";
  const text = control.value.trim();
  if (!text) return null;
  if (argument.kind === "text") return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && argument.default !== text ? text : JSON.stringify(text);
  return text;
}

function controlOf(argument, changed) {
  if (argument.kind === "flag") return make("input", { type: "checkbox", checked: argument.default, onchange: changed });
  return make("input", { type: "text", inputmode: argument.kind === "text" ? "text" : "decimal", placeholder: argument.default ?? (argument.needed ? "needed" : "–"), oninput: changed });
}

/** One thing: its summary and a field for each parameter. `text` is what it stands for. */
export class Called {
  constructor(entry, changed, given = {}) {
    this.entry = entry;
    this.controls = (entry.arguments ?? []).map(argument => {
      const control = controlOf(argument, changed);
      if (given[argument.name] !== undefined) control.value = given[argument.name];
      return [argument, control];
    });
    this.element = make("div", { class: "called" }, make("p", { class: "hint" }, entry.summary.replaceAll("`", "")),
      make("div", { class: "composer" }, ...this.controls.map(([argument, control]) => field(argument.name, control))));
  }

  get text() {
    const parts = this.controls.map(([argument, control]) => [argument.name, written(argument, control)]).filter(([, value]) => value !== null);
    return parts.length ? `${this.entry.name}(${parts.map(([name, value]) => `${name}=${value}`).join(", ")})` : this.entry.name;
  }
}

/** Several of them, each of which can be removed. */
export class CalledList {
  constructor(entries, noun, changed) {
    Object.assign(this, { changed, rows: [] });
    this.list = make("div", { class: "policies" });
    const names = entries.filter(entry => entry.arguments !== null).map(entry => entry.name);
    const chooser = select([["", `+ ${noun} …`], ...names.map(name => [name, name])], "", name => {
      if (name) this.add(entries.find(entry => entry.name === name));
      chooser.value = "";
    });
    chooser.setAttribute("aria-label", `add ${noun}`);
    this.element = make("div", {}, this.list, chooser);
  }

  get texts() { return this.rows.map(row => row.text); }

  add(entry) {
    const called = new Called(entry, this.changed);
    const box = make("div", { class: "policy" }, make("div", { class: "policy-line" }, make("b", {}, entry.name),
      make("button", { class: "plain small", type: "button", title: `remove ${entry.name}`, onclick: () => {
        this.rows = this.rows.filter(each => each !== called);
        box.remove();
        this.changed();
      } }, "✕")), called.element);
    this.rows.push(called);
    this.list.append(box);
    this.changed();
  }
}
