// Set up: jobs, machine, policies, how time passes; beside it the command and the study file that the form stands for.

import { ask, settled, upload } from "./api.js";
import { make } from "./dom.js";
import { CalledList } from "./parameters.js";
import { Policies } from "./policies.js";
import { Racks } from "./racks.js";
import { copied, field, folderOf, heading, lastPart, messages, pageData, root, section, select } from "./site.js";
import { WorkloadForm } from "./workload_form.js";

const given = new URLSearchParams(location.search);
const PACES = [["", "as fast as it can"], ["604800", "7 d a second"], ["86400", "1 d a second"], ["21600", "6 h a second"], ["3600", "1 h a second"]];

class SetUp {
  constructor(choices, things) {
    Object.assign(this, { choices, kinds: choices.kinds });
    this.tell = () => this.refresh();
    this.workload = new WorkloadForm(this.kinds, things.logs, this.tell);
    this.workload.machine = () => this.machineOk ? { cluster: this.cluster.value.trim() } : {};
    this.workload.inspected = found => this.suggest(found);
    this.policies = new Policies(this.kinds, given.getAll("policy").length ? given.getAll("policy") : ["fcfs", "easy"], this.tell);
    this.observers = new CalledList(this.kinds.observer, "an observer", this.tell);
    this.buildMachine(things.machines);
    this.buildRules();
    this.buildStudy();
    this.refresh = settled(latest => this.check(latest), 200);
    root.className = "site two-columns";
    root.replaceChildren(heading("Set up", "Which jobs, on which machine, under which schedulers."),
      make("div", { class: "parts" },
        section("Jobs", "", this.workload.element),
        section("Machine", "64x4 is 64 nodes of 4 cores.", this.machinePart),
        section("Policies", "Order × backfill × placement; each line is one scheduler.", this.policies.element),
        this.rules, this.studyPart),
      this.side());
    const log = given.get("log");
    this.workload.choose(log ? "folder" : "sample", log ?? "");
  }

  buildMachine(machines) {
    this.racks = new Racks();
    this.machineSaid = messages();
    this.machineOk = false;
    this.cluster = make("input", { type: "text", class: "mono", value: given.get("cluster") ?? "64x4", spellcheck: "false", "aria-label": "machine", oninput: () => this.drawMachine() });
    const file = select([["", "or a file …"], ...machines.map(each => [each.name, [folderOf(each.name), lastPart(each.name)].filter(Boolean).join("/")])], "", name => {
      if (name) { this.cluster.value = name; this.drawMachine(); }
    });
    file.setAttribute("aria-label", "file of a machine");
    this.drawMachine = settled(async latest => {
      try {
        const text = this.cluster.value.trim(), found = text ? await ask("/api/machine", { cluster: text }) : null;
        if (!latest()) return;
        this.machineOk = true;
        this.machineSaid.clear();
        this.racks.show(found);
      } catch (error) { if (latest()) { this.machineOk = false; this.racks.show(null); this.machineSaid.show(error); } }
      this.workload.tell();
    }, 250);
    const own = make("input", { type: "file", "aria-label": "upload the file of a machine", onchange: async () => {
      try {
        this.cluster.value = await upload(own.files[0], () => {}, true);
        this.drawMachine();
      } catch (error) { this.machineSaid.show(error); }
    } });
    const bring = make("label", { class: "bring" }, make("span", {}, "or upload one …"), own);
    this.machinePart = make("div", {}, make("div", { class: "composer" }, this.cluster, file, bring), this.machineSaid.element, this.racks.element);
    this.drawMachine();
  }

  /** A log whose header tells the machine: its size, until somebody says otherwise. */
  suggest(found) {
    if (this.touched || this.cluster.value !== "64x4" || this.workload.way === "sample" || this.workload.way === "model") return;
    this.touched = true;
    if (found.processors && !given.get("cluster")) { this.cluster.value = `pool:${found.processors}`; this.drawMachine(); }
  }

  buildRules() {
    const { words } = this.choices, tell = this.tell;
    const entries = this.kinds.estimate.map(each => each.name).filter(name => !/[*(]/.test(name));
    this.estimate = make("input", { type: "text", class: "mono", value: "limit", list: "estimates", oninput: tell });
    const known = make("datalist", { id: "estimates" }, ...[...entries, "limit*0.5", "limit*2", "nearest(5)"].map(name => make("option", { value: name })));
    this.load = make("input", { type: "text", inputmode: "decimal", placeholder: "as it is", oninput: tell });
    this.words = Object.fromEntries(["overrun", "passes", "dependencies", "clean", "procs", "bad_rows"].map(name =>
      [name, select(words[name].map(word => [word, word || "as the policy says"]), this.choices.setup[name], tell)]));
    this.until = make("input", { type: "text", placeholder: "the end", oninput: tell });
    this.reasons = make("input", { type: "checkbox", checked: true, onchange: tell });
    this.places = make("input", { type: "checkbox", onchange: tell });
    const check = (control, text) => make("label", { class: "check" }, control, text);
    this.rules = section("Around the jobs", "",
      make("div", { class: "composer" }, field("estimate", this.estimate, "how long the scheduler believes a job will run"), known,
        field("offered load", this.load, "times between submittals are scaled to it")),
      make("h3", {}, "Observers"), make("p", { class: "hint" }, "Power, failures, maintenance: what happens around the jobs."), this.observers.element,
      make("div", { class: "checks" }, check(this.reasons, "record why jobs wait"), check(this.places, "record what each job had on each node")),
      make("details", { class: "rest" }, make("summary", {}, "how the log is read, and how time passes"),
        make("div", { class: "composer" }, ...Object.entries(this.words).map(([name, control]) => field(name.replace("_", " "), control)), field("until", this.until))));
  }

  buildStudy() {
    const tell = this.tell, { words } = this.choices;
    this.asStudy = make("input", { type: "checkbox", checked: given.has("study"), onchange: () => { this.studyFields.hidden = this.studyHint.hidden = !this.asStudy.checked; tell(); } });
    this.studyName = make("input", { type: "text", value: "study", oninput: tell });
    this.repetitions = make("input", { type: "text", inputmode: "numeric", value: "5", oninput: tell });
    this.vary = select(words.vary.map(word => [word, word || "nothing else"]), "", () => { this.values.disabled = !this.vary.value; tell(); });
    this.values = make("input", { type: "text", placeholder: "0.7, 0.8, 0.9", disabled: true, oninput: tell });
    this.baseline = make("select", { onchange: tell });
    this.studyFields = make("div", { class: "composer" }, field("name", this.studyName), field("repetitions", this.repetitions, "each with other random numbers"),
      field("compared with", this.baseline), field("also vary", this.vary), field("values", this.values, "with commas between them"));
    this.studyHint = make("p", { class: "hint" }, "Jobs of a model are drawn anew for each repetition. A log stays the same: {seed} in an observer, a policy or an order stands for the seed of the repetition.");
    this.studyFields.hidden = this.studyHint.hidden = !this.asStudy.checked;
    this.studyPart = section("Study", "", make("label", { class: "check" }, this.asStudy, "repeat it, vary a parameter, and judge the differences"), this.studyFields, this.studyHint);
  }

  side() {
    this.command = copied("the command", "");
    this.study = copied("the study file", "");
    this.said = messages();
    this.where = make("p", { class: "hint" });
    this.run = make("button", { class: "go", type: "button", id: "run", onclick: () => this.start() }, "Run");
    this.pace = select(PACES, "", () => {});
    this.paceField = field("pace", this.pace, "a slow one can be watched");
    return make("aside", { class: "stands-for" }, this.run, this.said.element, this.paceField, this.command.element, this.study.element, this.where);
  }

  /** The fields, as web/setup.py reads them. */
  get form() {
    const words = Object.fromEntries(Object.entries(this.words).map(([name, control]) => [name, control.value]));
    const load = this.load.value.trim();
    return {
      ...this.workload.fields, ...words, cluster: this.cluster.value.trim(), policies: this.policies.texts,
      estimate: this.estimate.value.trim() || "limit", observers: this.observers.texts, load: load ? Number(load) : null,
      until: this.until.value.trim(), reasons: this.reasons.checked, places: this.places.checked,
    };
  }

  get sweep() {
    return {
      setup: this.form, name: this.studyName.value.trim() || "study", repetitions: Number(this.repetitions.value) || 0,
      baseline: this.baseline.value, vary: this.vary.value,
      values: this.vary.value ? this.values.value.split(",").map(text => text.trim()).filter(Boolean) : [],
    };
  }

  async check(latest) {
    const { texts } = this.policies, before = this.baseline.value;
    this.baseline.replaceChildren(make("option", { value: "" }, "nothing"), ...texts.map(text => make("option", { value: text }, text)));
    this.baseline.value = texts.includes(before) ? before : "";
    this.paceField.hidden = this.asStudy.checked;
    this.run.textContent = this.asStudy.checked ? "Start the study" : texts.length > 1 ? `Run ${texts.length} policies` : "Run";
    try {
      const found = await ask("/api/command", this.asStudy.checked ? { study: this.sweep } : { setup: this.form });
      if (!latest()) return;
      this.command.words(found.command);
      this.study.set(found.study);
      this.where.textContent = `Files are named from the folder ${found.folder}.`;
      this.run.disabled = found.mistakes.length > 0;
      this.said.show(...found.mistakes);
    } catch (error) { if (latest()) { this.said.show(error); this.run.disabled = true; } }
  }

  async start() {
    this.run.disabled = true;
    try {
      const study = this.asStudy.checked, pace = study || !this.pace.value ? null : Number(this.pace.value);
      const work = await ask("/api/work", { setup: study ? this.sweep : this.form, pace });
      location.href = `/work${pace ? `?pace=${pace}` : ""}#${work.id}`;
    } catch (error) { this.said.show(error); this.run.disabled = false; }
  }
}

const things = await ask("/api/things");
new SetUp(pageData(), things);
