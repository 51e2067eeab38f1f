// Which jobs: the sample, a file of the folder, one that is uploaded, or what a model makes; and what is in it.

import { ask, settled, upload } from "./api.js";
import { barChart } from "./bars.js";
import { make } from "./dom.js";
import { brief, bytes, number, percent, plural } from "./format.js";
import { Called } from "./parameters.js";
import { field, folderOf, lastPart, messages, select } from "./site.js";


export class WorkloadForm {
  constructor(kinds, logs, changed) {
    Object.assign(this, { kinds, logs, changed, way: "sample", sample: null });
    this.said = messages();
    this.body = make("div", { class: "way" });
    this.inside = make("div", { class: "inside", "aria-live": "polite" });
    const ways = { sample: "The sample", folder: "A file in the folder", upload: "Upload", model: "A model" };
    this.tabs = Object.entries(ways).map(([way, text]) => make("button", { type: "button", class: "choice", "aria-pressed": "false", "data-way": way, onclick: () => this.choose(way) }, text));
    this.file = select([["", "choose a log …"], ...logs.map(each => [each.name, `${[folderOf(each.name), lastPart(each.name)].filter(Boolean).join("/")} · ${bytes(each.size)}`])], "", () => this.tell());
    this.file.setAttribute("aria-label", "log in the folder");
    this.jobs = make("input", { type: "text", inputmode: "numeric", value: "1000", oninput: () => this.tell() });
    this.seed = make("input", { type: "text", inputmode: "numeric", value: "0", oninput: () => this.tell() });
    const models = kinds.model.filter(entry => entry.arguments);
    this.model = new Called(models[0], () => this.tell(), { processors: 256 });
    this.modelHost = make("div", {}, this.model.element);
    this.modelName = select(models.map(entry => entry.name), models[0].name, name => {
      this.model = new Called(models.find(entry => entry.name === name), () => this.tell());
      this.modelHost.replaceChildren(this.model.element);
      this.tell();
    });
    this.look = settled(latest => this.inspect(latest), 350);
    this.element = make("div", {}, make("div", { class: "choices", role: "group", "aria-label": "where the jobs come from" }, ...this.tabs), this.body, this.said.element, this.inside);
  }

  async choose(way, name = "") {
    this.way = way;
    this.said.clear();
    for (const tab of this.tabs) tab.setAttribute("aria-pressed", String(tab.dataset.way === way));
    if (way === "sample") {
      this.body.replaceChildren(make("p", { class: "hint" }, "Two weeks of an invented cluster of 64 nodes with 4 cores: 2,000 jobs of 40 users."));
      try { this.sample ??= (await ask("/api/sample", {})).name; } catch (error) { this.said.show(error); }
      if (this.way !== "sample") return;
    } else if (way === "folder") {
      if (name) {
        if (![...this.file.options].some(option => option.value === name)) this.file.append(make("option", { value: name }, lastPart(name)));
        this.file.value = name;
      }
      this.body.replaceChildren(field("log", this.file));
    } else if (way === "upload") this.body.replaceChildren(this.uploader());
    else {
      this.body.replaceChildren(make("div", { class: "composer" }, field("model", this.modelName), field("jobs", this.jobs), field("seed", this.seed)), this.modelHost);
    }
    this.tell();
  }

  uploader() {
    const bar = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "upload" });
    const input = make("input", { type: "file", "aria-label": "a log to upload" });
    const send = async file => {
      if (!file) return;
      this.said.clear();
      bar.hidden = false;
      try {
        const name = await upload(file, share => { bar.value = share; }, true);
        await this.choose("folder", name);
      } catch (error) { this.said.show(error); bar.hidden = true; }
    };
    input.addEventListener("change", () => send(input.files[0]));
    const drop = make("label", { class: "drop" }, make("span", {}, "Drop a log here, or choose a file"),
      make("small", {}, "SWF, sacct, CSV, Parquet, JSON …, compressed or not; it stays in a folder that only this browser sees"), input, bar);
    drop.addEventListener("dragover", event => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", event => { event.preventDefault(); drop.classList.remove("over"); send(event.dataTransfer.files[0]); });
    return drop;
  }

  /** The fields of the form that say it. */
  get fields() {
    if (this.way === "model") return { model: this.model.text, jobs: whole(this.jobs.value), seed: whole(this.seed.value) ?? 0 };
    return { log: this.way === "sample" ? this.sample ?? "" : this.way === "folder" ? this.file.value : "" };
  }

  tell() {
    this.changed();
    this.look();
  }

  async inspect(latest) {
    const fields = this.fields;
    if (!fields.log && !fields.model) { this.inside.replaceChildren(); return; }
    if (!this.inside.children.length) this.inside.replaceChildren(make("p", { class: "hint" }, "looking into it …"));
    try {
      const found = await ask("/api/inspect", { setup: { ...fields, ...this.machine?.() } });
      if (latest()) { this.said.clear(); this.show(found); }
    } catch (error) { if (latest()) { this.inside.replaceChildren(); this.said.show(error); } }
  }

  show(found) {
    const { arrivals, sizes, runtimes } = found.figures, steps = arrivals.counts.length;
    const cards = [[number(found.jobs), "jobs"], [brief(found.span), "from first to last"],
      [found.load === null ? "–" : found.load.toFixed(2), `offered load on ${number(found.processors)} cores`]];
    const times = runtimes.from.map(seconds => seconds ? brief(seconds) : "0");
    const table = all => make("table", { class: "facts" }, make("tbody", {}, ...all.map(([part, name, value]) =>
      make("tr", {}, make("th", {}, `${name}`, make("small", {}, ` ${part}`)), make("td", {}, value)))));
    const bad = found.bad_rows.length;
    this.inside.replaceChildren(
      make("div", { class: "cards" }, ...cards.map(([value, label]) => make("div", { class: "card" }, make("b", {}, value), make("span", {}, label)))),
      bad ? make("details", { class: "bad-rows" }, make("summary", {}, `${plural(bad + found.more_bad_rows, "row")} cannot be read and ${bad + found.more_bad_rows === 1 ? "is" : "are"} left out`),
        make("ul", {}, ...found.bad_rows.map(text => make("li", {}, text)))) : "",
      make("div", { class: "charts" },
        barChart("Arrivals", { values: arrivals.counts, labels: wholeTimes(steps, arrivals.seconds), tip: at => `${plural(arrivals.counts[at], "job")} within ${brief(arrivals.seconds)}` }),
        barChart("Sizes", { values: sizes.counts, labels: sizes.labels, second: sizes.work, note: "in cores; dots: share of the work", tip: at => `${sizes.labels[at]} cores: ${plural(sizes.counts[at], "job")}, ${percent(sizes.work[at])} of the work` }),
        barChart("Run times", { values: runtimes.counts, labels: times, note: "from", tip: at => `from ${times[at]}: ${plural(runtimes.counts[at], "job")}` })),
      make("details", { class: "more" }, make("summary", {}, "all that schedlab inspect tells"), table(found.rows)));
    this.found = found;
    this.inspected?.(found);
  }
}

/** At round times, at most seven of them. */
function wholeTimes(steps, seconds) {
  const length = [60, 600, 3600, 4 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 90 * 86400, 365 * 86400].find(each => steps * seconds / each <= 7) ?? 5 * 365 * 86400;
  const labels = new Array(steps).fill("");
  for (let time = 0; time < steps * seconds; time += length) labels[Math.floor(time / seconds)] = time ? brief(time) : "0";
  return labels;
}

function whole(text) {
  const value = Number(text.trim().replaceAll(",", ""));
  return text.trim() && Number.isInteger(value) ? value : null;
}
