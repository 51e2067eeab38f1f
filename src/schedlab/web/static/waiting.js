// Why a job waited: what the tables say it waited for, who passed it, who had the cores meanwhile, when it could first
// have started. Rows are looked up here as model/story.py does it, for a page without a server; a test compares them.

// What a job is to the one that is looked at.
export const PASSED = 1;
export const HELD = 2;
export const SELF = 3;
const YES = 1, UNSAID = 2;

/** The story of the job in `row`, as `schedlab why --json` gives it; jobs are rows instead of names. */
export async function findStory(source, run, facts, words, jobs, row) {
  const extra = await source.block(run, "story");
  const story = {
    row,
    submit: jobs.submit[row],
    eligible: known(jobs.eligible[row]),
    start: known(jobs.start[row]),
    end: jobs.end[row],
    told: facts.told,
    estimate: extra.estimate[row],
  };
  story.until = story.start ?? story.end;
  story.waited = await stretches(source, run, facts, jobs, row);
  story.passed_by = story.eligible === null ? [] : passers(extra, jobs, row, story);
  story.held_the_cores = await holders(source, run, facts, jobs, story);
  story.could_start = await couldStart(source, run, facts, words, jobs, story);
  return story;
}

async function stretches(source, run, facts, jobs, row) {
  const table = facts.told ? await source.waits(run, row) : null, found = [];
  if (!table) return found;
  const { row: rows } = table;
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1; else high = middle;
  }
  for (let i = low; i < rows.length && rows[i] === row; i++) {
    found.push({
      begin: table.from[i], end: table.until[i], why: facts.words.why[table.why[i]], code: table.why[i],
      who: table.who[i] >= 0 ? jobs.called(table.who[i]) : null, words: table.texts[table.words[i]] || null,
    });
  }
  return found;
}

/** Who came later and started while it waited, in the order of their starts. */
function passers(extra, jobs, row, story) {
  const { eligible, start } = jobs, found = [];
  for (let i = 0; i < start.length; i++) {
    if (!(start[i] >= story.eligible && start[i] < story.until)) continue;
    if (eligible[i] > story.eligible || (eligible[i] === story.eligible && i > row)) found.push(i);
  }
  found.sort((one, other) => start[one] - start[other] || one - other);
  return found.map(i => ({ row: i, start: start[i], cores: jobs.cores[i], right: right(extra, jobs, i, row) }));
}

function right(extra, jobs, i, row) {
  if (jobs.backfilled[i] === YES) return "backfilled: it was behind in the order, and there was room for it";
  if (jobs.backfilled[i] === UNSAID) return "as the policy decided";
  const key = extra.priority[i], own = extra.priority[row];
  if (key < own) return `ahead in the order: its key was ${six(key)}, this one's was ${six(own)} when it started`;
  return "ahead in the order when it started";
}

/** Six digits, as Python writes them. */
function six(value) {
  const [digits, power] = value.toExponential(5).split("e");
  if (value === 0 || (power >= -4 && power < 6)) return String(+value.toPrecision(6));
  return `${+digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Who had the cores while it waited, the largest part first; `share` is of all cores over that time. */
async function holders(source, run, facts, jobs, story) {
  const begin = story.eligible ?? story.submit, length = story.until - begin;
  if (!(length > 0)) return [];
  const whole = Math.max(facts.machine.cores, 1) * length, found = [];
  const add = (row, cores, from, to) => {
    const overlap = Math.min(to, story.until) - Math.max(from, begin);
    if (overlap > 0 && cores) found.push({ row, cores, begin: from, end: to, share: cores * overlap / whole });
  };
  let pieced = null;
  if (facts.pieces) {
    const pieces = await source.block(run, "pieces");
    pieced = new Set(pieces.row);
    for (let i = 0; i < pieces.row.length; i++) add(pieces.row[i], pieces.cores[i], pieces.begin[i], pieces.end[i]);
  }
  for (let i = 0; i < jobs.start.length; i++) {
    if (jobs.start[i] < story.until && jobs.end[i] > begin && !pieced?.has(i)) add(i, jobs.cores[i], jobs.start[i], jobs.end[i]);
  }
  return found.sort((one, other) => other.share - one.share || one.begin - other.begin
    || (jobs.title(one.row) < jobs.title(other.row) ? -1 : 1));
}

/** By the reasons, or by counting cores. */
async function couldStart(source, run, facts, words, jobs, story) {
  if (facts.told) return story.waited.find(each => words.fitted.includes(each.why))?.begin ?? story.until;
  if (story.eligible === null) return story.until;
  const spans = facts.over_time.changes, needed = facts.machine.cores - jobs.cores[story.row];
  for (let at = 0; at < spans.length; at++) {
    const last = at + 1 === spans.length;
    if (spans[at][0] > story.until || (!last && spans[at][1] < story.eligible)) continue;
    const { time, used_cores: used } = await source.block(run, `changes-${at}`);
    for (let i = 0; i < time.length; i++) {
      const begin = Math.max(time[i], story.eligible);
      const until = Math.min(i + 1 < time.length ? time[i + 1] : last ? Infinity : time[i], story.until);
      if (used[i] <= needed && until > begin) return begin;
    }
  }
  return story.until;
}

function known(time) { return Number.isNaN(time) ? null : time; }
