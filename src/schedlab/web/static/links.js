// What is looked at as the end of the page's address: `#job=390`, `#run=1&job=390&at=86400`. A link can be sent, and the
// browser's "back" leads to what was seen before.

/** `{ run, job, at }` of the address; null where it does not say. */
export function fromAddress() {
  const told = new URLSearchParams(location.hash.slice(1)), at = told.get("at");
  return { job: told.get("job"), run: Number(told.get("run") ?? 0), at: at === null || at === "" || Number.isNaN(Number(at)) ? null : Number(at) };
}

/** Let the address say it; a `step` can be gone back from. */
export function toAddress({ job = null, run = 0, at = null }, step) {
  const told = new URLSearchParams();
  if (run) told.set("run", run);
  if (job !== null) told.set("job", job);
  if (at !== null) told.set("at", at);
  const address = `${location.pathname}${location.search}${job === null && at === null ? "" : `#${told}`}`;
  if (address === location.pathname + location.search + location.hash) return;
  history[step ? "pushState" : "replaceState"](null, "", address);
}
