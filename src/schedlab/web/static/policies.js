// Policies: order × backfill × placement beside the one-line text; either edits the other.

import { ask, settled } from "./api.js";
import { make } from "./dom.js";
import { field, problem, select } from "./site.js";

const KNOWN = { order: "order", scan: "order", place: "placement" };
const FIRST = ["order", "place"];

export class Policies {
  constructor(kinds, texts, changed) {
    Object.assign(this, { kinds, changed });
    this.list = make("div", { class: "policies" });
    const add = make("button", { class: "plain", type: "button", onclick: () => this.add(this.next(), true) }, "+ another policy");
    this.element = make("div", {}, this.list, add);
    this.rows = [];
    this.set(texts);
  }

  get texts() { return this.rows.map(row => row.text.value.trim()).filter(Boolean); }

  set(texts) {
    this.rows = [];
    this.list.replaceChildren();
    for (const text of texts) this.add(text, false);
  }

  /** A policy that is not there yet. */
  next() {
    const wanted = ["easy", "fcfs", "conservative", "easy:order=sjf", "sjf"];
    return wanted.find(text => !this.texts.includes(text)) ?? "easy:order=saf";
  }

  add(text, tell) {
    const row = new PolicyRow(this.kinds, text, () => this.changed(), () => {
      if (this.rows.length < 2) return;
      this.rows = this.rows.filter(each => each !== row);
      row.element.remove();
      this.changed();
    });
    this.rows.push(row);
    this.list.append(row.element);
    if (tell) { row.element.open = true; row.text.focus(); this.changed(); }
  }
}

class PolicyRow {
  constructor(kinds, text, changed, remove) {
    Object.assign(this, { kinds, changed });
    this.text = make("input", { type: "text", class: "mono", value: text, "aria-label": "policy in one line", spellcheck: "false", autocomplete: "off" });
    this.text.addEventListener("input", () => { this.understand(); this.changed(); });
    this.said = make("div", { "aria-live": "polite" });
    this.parts = make("div", { class: "composer" });
    const bin = make("button", { class: "plain small", type: "button", title: "remove this policy", "aria-label": "remove this policy", onclick: event => { event.preventDefault(); remove(); } }, "✕");
    const more = make("button", { class: "plain small compose", type: "button", "aria-expanded": "false", onclick: () => this.toggle(more) }, "compose");
    this.element = make("div", { class: "policy" }, make("div", { class: "policy-line" }, this.text, more, bin), this.said, this.parts);
    this.parts.hidden = true;
    this.understand = settled(async latest => {
      try {
        const found = await ask("/api/policy", { text: this.text.value });
        if (latest()) { this.said.replaceChildren(); this.show(found); }
      } catch (error) { if (latest()) this.said.replaceChildren(problem(error)); }
    });
    this.compose = settled(async (latest, backfill, keys) => {
      try {
        const found = await ask("/api/policy", { backfill, keys });
        if (!latest()) return;
        this.said.replaceChildren();
        this.text.value = found.text;
        this.show(found);
        this.changed();
      } catch (error) { if (latest()) this.said.replaceChildren(problem(error)); }
    }, 0);
  }

  toggle(button) {
    this.parts.hidden = !this.parts.hidden;
    button.setAttribute("aria-expanded", String(!this.parts.hidden));
    if (!this.parts.hidden) this.understand();
  }

  /** The parts of what the text says. */
  show(found) {
    if (this.parts.hidden) return;
    if (!found.composed) { this.parts.replaceChildren(make("p", { class: "hint" }, "A policy of its own: there is nothing to put together.")); return; }
    const focused = document.activeElement?.dataset?.key;
    const { backfill, keys } = found, entry = this.kinds.backfill.find(each => each.name === backfill);
    const given = { ...keys };
    const change = (name, value) => { given[name] = value; this.compose(backfill, given); };
    const first = field("backfill", select(this.kinds.backfill.map(each => each.name), backfill, value => this.compose(value, given)), entry.summary);
    first.querySelector("select").dataset.key = "backfill";
    const names = entry.parameters.map(key => key.name).filter(name => name in keys);
    const control = name => {
      const key = entry.parameters.find(each => each.name === name), kind = KNOWN[name];
      let element, hint = key.meaning;
      if (kind) {
        const entries = this.kinds[kind].map(each => each.name).filter(each => !each.includes("("));
        const options = [...(name === "scan" ? [["", key.default]] : []), ...entries.map(each => [each, each])];
        if (keys[name] && !entries.includes(keys[name])) options.push([keys[name], keys[name]]);
        element = select(options, keys[name], value => change(name, value));
        hint = this.kinds[kind].find(each => each.name === keys[name])?.summary ?? key.meaning;
      } else if (name === "nodes") element = select(["shared", "exclusive"], keys[name], value => change(name, value));
      else element = make("input", { type: "text", inputmode: "numeric", value: keys[name], placeholder: key.default, onchange: () => change(name, element.value) });
      element.dataset.key = name;
      return field(name, element, hint);
    };
    const rest = names.filter(name => !FIRST.includes(name));
    this.parts.replaceChildren(first, ...names.filter(name => FIRST.includes(name)).map(control),
      rest.length ? make("details", { class: "rest", open: Boolean(this.restOpen), ontoggle: event => { this.restOpen = event.target.open; } },
        make("summary", {}, "more keys"), make("div", { class: "composer" }, ...rest.map(control))) : "");
    if (focused) this.parts.querySelector(`[data-key="${focused}"]`)?.focus();
  }
}
