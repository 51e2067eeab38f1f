// The pages of lessons: the gallery, a lesson in parts, and scenarios of one's own.

import { make } from "./dom.js";
import { OwnScenario, linkTo } from "./own.js";
import { Player } from "./player.js";
import { paragraphs, pieces } from "./rich.js";

const root = document.getElementById("root"), data = JSON.parse(document.getElementById("data").textContent);
let player = null;

document.addEventListener("keydown", event => {
  const typing = event.target.closest?.("input:not([type=range]):not([type=checkbox]), select, textarea");
  const pressing = event.key === " " && event.target.closest?.("button, a, input, summary");
  if (player && !typing && !pressing && player.key(event)) event.preventDefault();
});

if (data.lesson) lesson(data.lesson);
else if (data.own) own();
else gallery();

function gallery() {
  const card = (href, title, text) => make("a", { class: "card-link", href }, make("h3", {}, title), make("p", {}, ...pieces(text)));
  root.replaceChildren(make("main", { class: "learn" }, make("h1", {}, "Learn"),
    make("p", { class: "lead" }, "Small scenarios that play step by step: who waits, who starts, the plan, and the reason of each decision. Nothing is drawn by hand: it is what the simulator decides."),
    make("div", { class: "gallery" },
      ...data.lessons.map(each => card(`/learn/lesson/${each.id}`, each.title, each.summary)),
      card("/learn/own", "Your own scenario", "Type in a few jobs and a machine, choose a policy or two, and see what happens. Share it as a link."))));
}

function lesson(found) {
  const stand = make("div", { class: "lesson-part" }), tabs = make("div", { class: "part-tabs", role: "tablist" });
  const show = (at, focus = false) => {
    const part = found.parts[at];
    player?.stop();
    player = new Player(part.plays, { notes: part.notes, colours: data.colours.jobs });
    const more = [];
    if (at + 1 < found.parts.length)
      more.push(make("button", { class: "plain onward", type: "button", onclick: () => show(at + 1, true) }, `Next part: ${found.parts[at + 1].title}`));
    if (part.typed) more.push(make("a", { class: "try", href: linkTo(part.typed) }, "Change the jobs and try"));
    stand.replaceChildren(make("h2", {}, part.title), ...paragraphs(part.text), player.element,
      ...(at + 1 === found.parts.length && found.closing ? paragraphs(found.closing) : []),
      make("p", { class: "onwards" }, ...more),
      ...commands(part.plays));
    player.draw();
    history.replaceState(null, "", `#${at + 1}`);
    [...tabs.children].forEach((tab, place) => tab.setAttribute("aria-selected", String(place === at)));
    if (focus) stand.scrollIntoView({ block: "start" });
  };
  if (found.parts.length > 1)
    tabs.append(...found.parts.map((part, at) => make("button", { type: "button", role: "tab", onclick: () => show(at) }, `${at + 1}. ${part.title}`)));
  const place = data.lessons.findIndex(each => each.id === found.id), following = data.lessons[place + 1];
  root.replaceChildren(make("main", { class: "learn" },
    make("p", { class: "trail" }, make("a", { href: "/learn" }, "Learn"), ` · lesson ${place + 1} of ${data.lessons.length}`),
    make("h1", {}, found.title), ...paragraphs(found.text), tabs, stand,
    make("p", { class: "following" }, ...(following
      ? ["Next lesson: ", make("a", { href: `/learn/lesson/${following.id}` }, following.title)]
      : ["Next: ", make("a", { href: "/learn/own" }, "a scenario of your own")]))));
  const asked = Number(location.hash.slice(1));
  show(asked >= 1 && asked <= found.parts.length ? asked - 1 : 0);
}

function own() {
  const stand = make("div", { class: "lesson-part" });
  const form = new OwnScenario(data.own, plays => {
    player?.stop();
    player = plays && new Player(plays, { colours: data.colours.jobs });
    stand.replaceChildren(...(player ? [player.element, ...commands(plays)] : []));
    player?.draw();
  });
  root.replaceChildren(make("main", { class: "learn" },
    make("p", { class: "trail" }, make("a", { href: "/learn" }, "Learn")), make("h1", {}, "Your own scenario"),
    make("p", { class: "lead" }, "A few jobs, a machine, and up to three policies side by side. Times are seconds, or such as 5m and 2h."), form.element, stand));
  form.play();
}

/** What plays the same in a terminal, where that is possible. */
function commands(plays) {
  const texts = [...new Set(plays.map(play => play.command))].filter(Boolean);
  if (!texts.length) return [];
  return [make("details", { class: "commands" }, make("summary", {}, "The same in a terminal"),
    make("p", {}, "With the jobs as a log, which the form of your own scenario saves:"), ...texts.map(text => make("pre", {}, text)))];
}
