// What pages ask the server. A refusal is an error whose message and hint are those of the command line.

export class Refused extends Error {
  constructor(text, hint) { super(text); this.hint = hint; }
}

export async function ask(path, body, method = body === undefined ? "GET" : "POST") {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused("the server does not answer", "is schedlab web still running?");
  }
  const found = await answer.json().catch(() => ({ error: `the server answered ${answer.status}`, hint: "" }));
  if (!answer.ok) throw new Refused(found.error ?? `the server answered ${answer.status}`, found.hint ?? "");
  return found;
}

/** A file into the browser's own space, with how far it is (0 to 1). */
export function upload(file, progress, replace = false) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `/api/files/${encodeURIComponent(file.name)}${replace ? "?replace" : ""}`);
    request.responseType = "json";
    request.upload.onprogress = event => { if (event.lengthComputable) progress(event.loaded / event.total); };
    request.onerror = () => failed(new Refused("the upload broke off", "try again; large logs can also be put into the folder itself"));
    request.onload = () => {
      const found = request.response ?? {};
      if (request.status < 300) done(found.name);
      else failed(new Refused(found.error ?? `the server answered ${request.status}`, found.hint ?? ""));
    };
    request.send(file);
  });
}

/** `/explore?run=a&run=b`. */
export function withRuns(path, names, more = {}) {
  const query = new URLSearchParams(names.map(name => ["run", name]));
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  return `${path}?${query}`;
}

/** A function that does `work` when nobody has called it for a while; of answers that overtake one another the last counts. */
export function settled(work, wait = 250) {
  let timer = 0, turn = 0;
  return (...given) => {
    clearTimeout(timer);
    const mine = ++turn;
    timer = setTimeout(() => work(() => mine === turn, ...given), wait);
  };
}
