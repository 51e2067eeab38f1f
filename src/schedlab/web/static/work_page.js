// Work: everything that this browser has started; one of them is watched while it runs.

import { ask, withRuns } from "./api.js";
import { make } from "./dom.js";
import { duration, percent } from "./format.js";
import { Live } from "./live.js";
import { ago, copied, heading, link, messages, root } from "./site.js";

const OPEN = new Set(["queued", "running"]);
const PACES = [[0, "it waits"], [600, "10 min a second"], [3600, "1 h a second"], [6 * 3600, "6 h a second"], [86400, "1 d a second"], [7 * 86400, "7 d a second"], [null, "as fast as it can"]];
const said = messages(), list = make("div", { class: "works" }), cards = new Map();
let watched = null, stream = null;

class Card {
  constructor(work) {
    this.bar = make("progress", { max: 1, "aria-label": "progress" });
    this.title = make("h3");
    this.state = make("span", { class: "state" });
    this.text = make("p", { class: "hint" });
    this.said = messages();
    this.actions = make("div", { class: "actions" });
    this.host = make("div");
    this.element = make("section", { class: "part work", id: work.id, "data-state": work.state },
      make("div", { class: "part-head" }, this.title, this.state, this.actions), this.bar, this.text, this.said.element, this.host);
    this.command = copied("the command", work.command);
    this.element.append(make("details", { class: "rest" }, make("summary", {}, "the command"), this.command.element));
    this.update(work);
  }

  update(work) {
    const before = this.work?.state;
    this.work = work;
    const open = OPEN.has(work.state);
    this.element.dataset.state = work.state;
    this.title.textContent = work.title;
    this.state.textContent = work.state === "queued" && work.ahead ? `queued, ${work.ahead} before it` : work.state;
    this.bar.hidden = !open;
    if (work.share === null) this.bar.removeAttribute("value"); else this.bar.value = work.share;
    const left = work.left === null ? "" : ` · about ${duration(Math.max(Math.round(work.left), 1))} left`;
    this.text.textContent = open ? `${work.share === null ? "" : `${percent(work.share, 0)} · `}${work.text}${left}`
      : [work.ended ? ago(work.ended) : "", work.started && work.ended ? `took ${duration(Math.round((work.ended - work.started) * 10) / 10)}` : ""].filter(Boolean).join(" · ");
    if (work.error) this.said.show({ message: work.error, hint: work.hint }); else this.said.clear();
    if (before !== work.state) this.offer();
    if (!open && this.live) { this.host.replaceChildren(); this.live = null; }
  }

  /** What can be done with it now. */
  offer() {
    const { work } = this, open = OPEN.has(work.state), study = work.kind === "study";
    const button = (text, action, kind = "plain") => make("button", { class: kind, type: "button", onclick: action }, text);
    const act = what => async () => {
      try { const found = await ask(`/api/work/${work.id}/${what}`, {}); if (what === "again") { await refresh(); watch(cards.get(found.id)); } else this.update(found); }
      catch (error) { this.said.show(error); }
    };
    const done = work.state === "done" || work.there;
    this.actions.replaceChildren(...[
      open ? button("cancel", act("cancel")) : null,
      work.state === "running" && !study ? button("watch", () => watch(this), "plain watch") : null,
      !open && done && study ? link(`/studies?study=${encodeURIComponent(work.out)}`, "results", "go small") : null,
      !open && work.state === "done" && !study ? link(withRuns("/explore", [work.out]), "explore", "go small") : null,
      !open && work.state === "done" && !study ? link(`/compare?folder=${encodeURIComponent(work.out)}`, "compare", "button") : null,
      !open && work.state !== "done" ? button(study ? "go on" : "again", act("again")) : null,
    ].filter(Boolean));
  }

  picture(frame) {
    if (!this.live && OPEN.has(this.work.state)) this.open();
    this.live?.show(frame);
  }

  open() {
    this.live = new Live();
    const told = location.hash.slice(1) === this.work.id ? Number(new URLSearchParams(location.search).get("pace")) : 0;
    const at = PACES.findIndex(([pace]) => told && pace === told), first = at < 0 ? PACES.length - 1 : at;
    const label = make("output", {}, PACES[first][1]);
    const slider = make("input", { type: "range", min: 0, max: PACES.length - 1, value: first, "aria-label": "pace", oninput: async () => {
      const [pace, text] = PACES[slider.value];
      label.textContent = text;
      try { await ask(`/api/work/${this.work.id}/pace`, { pace }); } catch (error) { this.said.show(error); }
    } });
    this.host.replaceChildren(make("label", { class: "slider" }, "pace", slider, label), this.live.element);
  }
}

/** What becomes of everything that is open, and pictures of one: a single stream, for a browser has six connections. */
function follow(card) {
  stream?.close();
  stream = new EventSource(`/api/work/events${card ? `?frames=${card.work.id}` : ""}`);
  stream.addEventListener("status", event => {
    const work = JSON.parse(event.data);
    if (cards.has(work.id)) cards.get(work.id).update(work); else refresh();
  });
  stream.addEventListener("frame", event => card.picture(JSON.parse(event.data)));
}

function watch(card) {
  if (!card || card.work.kind === "study") return;
  if (watched && watched !== card) { watched.host.replaceChildren(); watched.live = null; }
  watched = card;
  follow(card);
  card.element.scrollIntoView({ block: "nearest" });
}

async function refresh() {
  const { work } = await ask("/api/work");
  for (const each of work) {
    if (cards.has(each.id)) { cards.get(each.id).update(each); continue; }
    cards.set(each.id, new Card(each));
  }
  list.replaceChildren(...work.map(each => cards.get(each.id).element));
  if (!work.length) list.replaceChildren(make("p", { class: "hint" }, "Nothing has been started in this browser yet. "), link("/setup", "Set up a run", "go"));
}

root.className = "site";
root.replaceChildren(heading("Work", "What this browser has started. It goes on when the page is closed."), said.element, list);
try {
  await refresh();
  const wanted = cards.get(location.hash.slice(1)) ?? [...cards.values()].find(card => card.work.state === "running");
  if (wanted && OPEN.has(wanted.work.state) && wanted.work.kind !== "study") watch(wanted); else follow(null);
} catch (error) { said.show(error); }
