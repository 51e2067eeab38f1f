// One play at one moment, drawn: machine × time. What has been is filled, what is believed is pale, the plan is dashed.

const SPACE = "http://www.w3.org/2000/svg";
const LEFT = 42, RIGHT = 12, TOP = 18, BOTTOM = 24;

/** A time or an amount: whole numbers as they are, others to the hundredth. */
export function figure(value) { return String(Math.round(100 * value) / 100); }

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Times at which an axis of that width has a mark. */
function marks(until, width) {
  const least = until / Math.max(2, width / 70), power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map(times => times * power).find(each => each >= least);
  return Array.from({ length: Math.floor(until / step + 1e-9) + 1 }, (_, at) => at * step);
}

/** Black or white, whichever is read better on a colour. */
export function inkOn(colour) {
  const value = parseInt(colour.slice(1), 16);
  const light = [16, 8, 0].map(shift => ((value >> shift) & 255) / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.22 ? "#111" : "#fff";
}

/** How far the time of a play goes: to its last end, believed or not. */
export function horizon(play) {
  let last = 1;
  for (const bar of play.bars) last = Math.max(last, bar.end);
  for (const step of play.steps)
    for (const each of [...step.plan, ...step.running]) last = Math.max(last, each.end);
  return last;
}

/** The picture at `time`; `step` is the last one that has happened, before its decisions if `open`. */
export function stage(play, step, time, until, width, colourOf, open) {
  const rows = play.nodes.reduce((sum, node) => sum + node.rows, 0);
  const row = Math.max(5, Math.min(26, Math.round(230 / rows))), height = rows * row;
  const inside = Math.max(120, width - LEFT - RIGHT), x = when => LEFT + when / until * inside, y = at => TOP + at * row;
  const picture = svg("svg", { class: "stage", width, height: height + TOP + BOTTOM, role: "img" });
  const label = new Map(play.jobs.map(job => [job.id, short(job.label)]));
  picture.append(svg("rect", { x: LEFT, y: TOP, width: inside, height, class: "ground" }));
  for (const node of play.nodes) {
    if (play.nodes.length > 1) {
      picture.append(svg("line", { x1: LEFT, x2: LEFT + inside, y1: y(node.first), y2: y(node.first), class: "node" }));
      picture.append(svg("text", { x: LEFT - 6, y: y(node.first + node.rows / 2) + 4, class: "side" }, node.name));
    } else {
      for (let at = 1; at <= node.rows; at++)
        if (row >= 11 || at % 4 === 0 || at === 1)
          picture.append(svg("text", { x: LEFT - 6, y: y(at - 0.5) + 4, class: "side" }, String(at)));
    }
  }
  for (let at = 1; at < rows; at++)
    if (row >= 8) picture.append(svg("line", { x1: LEFT, x2: LEFT + inside, y1: y(at), y2: y(at), class: "core-line" }));
  for (const mark of marks(until, inside)) {
    picture.append(svg("line", { x1: x(mark), x2: x(mark), y1: TOP, y2: TOP + height, class: "mark" }));
    picture.append(svg("text", { x: x(mark), y: TOP + height + 16, class: "below" }, figure(mark)));
  }
  let named = false; // whether the last box had room for its name
  const box = (kind, job, begin, end, low, high, more = "") => {
    const wide = Math.max(1, x(end) - x(begin)), tall = (high - low) * row;
    const colour = colourOf(job), group = svg("g", { class: `bar ${kind}`, "data-job": job });
    const title = `${play.jobs.find(each => each.id === job).label}: ${kind}, ${figure(begin)} to ${figure(end)}${more}`;
    group.append(svg("title", {}, title));
    group.append(svg("rect", { x: x(begin) + 0.5, y: y(low) + 0.5, width: Math.max(1, wide - 1), height: tall - 1,
      rx: 2, fill: colour, stroke: colour }));
    const text = label.get(job);
    const room = wide > 7 + 6 * text.length && tall >= 10;
    if (room && (kind !== "believed" || !named)) {
      const ink = kind === "ran" ? inkOn(colour) : "currentColor";
      group.append(svg("text", { x: x(begin) + wide / 2, y: y(low) + tall / 2 + 4, class: "name", fill: ink }, text));
    }
    named = room;
    picture.append(group);
  };
  const before = open ? play.steps.filter(each => each.time < time).at(-1) : null; // the plan as it was until now
  const shown = (open ? before : step)?.plan ?? [];
  for (const bar of play.bars) {
    if (bar.begin > time || (open && bar.begin === time)) continue;
    box("ran", bar.job, bar.begin, Math.min(bar.end, time), bar.low, bar.high);
    const running = step?.running.find(each => each.job === bar.job);
    const believed = running ? running.end : beforeEnd(play, bar, time, open);
    if (bar.end > time && believed > time)
      box("believed", bar.job, time, believed, bar.low, bar.high);
  }
  for (const each of shown)
    for (const [low, high] of each.rows)
      box("reserved", each.job, each.start, each.end, low, high, each.spare === null ? "" : `, ${each.spare} cores left over`);
  const head = shown[0];
  if (head) {
    picture.append(svg("line", { x1: x(head.start), x2: x(head.start), y1: TOP - 4, y2: TOP + height, class: "shadow-time" }));
    if (Math.abs(x(head.start) - x(time)) > 74)
      picture.append(svg("text", { x: x(head.start), y: TOP - 6, class: "shadow-name" }, `reserved ${figure(head.start)}`));
  }
  picture.append(svg("line", { x1: x(time), x2: x(time), y1: TOP - 4, y2: TOP + height + 4, class: "now" }));
  const side = x(time) > LEFT + inside - 40 ? "end" : x(time) < LEFT + 40 ? "start" : "middle";
  picture.append(svg("text", { x: x(time), y: TOP - 6, class: "now-name", "text-anchor": side }, `now ${figure(time)}`));
  picture.setAttribute("aria-label", `${play.policy}: the machine until ${figure(time)}, and the plan`);
  return picture;
}

/** What was believed of a job that runs, when the decisions of a step are not shown yet. */
function beforeEnd(play, bar, time, open) {
  if (!open) return 0;
  const before = play.steps.filter(step => step.time < time).at(-1);
  return before?.running.find(each => each.job === bar.job)?.end ?? 0;
}

/** As it is written on a bar. */
export function short(label) { return label.replace(/^(job|task) /, "").replace(/^the pilot of .*/, "pilot"); }
