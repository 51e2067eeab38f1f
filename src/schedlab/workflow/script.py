"""A shell script that submits jobs, `a=$(sbatch --parsable a.sh)`, `sbatch -d afterok:$a b.sh`, as a workflow."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from schedlab.model.arguments import LONGEST_NAME
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.units import parse_duration
from schedlab.model.workflow import Workflow
from schedlab.model.workload import JobBatch
from schedlab.workflow.chains import workflow_of_jobs
from schedlab.workflow.files import file_stem

_VARIABLE = re.compile(r"\$\{(\w++)[^}]{0,200}+\}|\$(\w+)")
_ASSIGNED = re.compile(r"(?:(?:export|local|readonly)\s+)?([A-Za-z_]\w*)=(.*)")
_SUBMITS = re.compile(r"""["']?(?:\$\(|`)?\s*(?:\S*/)?sbatch(?:\s+(.*))?""")
_MENTIONS = re.compile(r"(?:^|[\s;&|(`=/])sbatch\s")
_LOOP, _SAYS = re.compile(r"(?:for|while|until|select)\b"), re.compile(r"(?:echo|printf)\b")
_RUNTIME = re.compile(r"\bruntime=([^\s,;]+)")
_ENDS = "();|&<>`"  # where the words of a command end
_FIRST = 10**17  # numbers of jobs that no script has: the first one is this
_NUMBER = re.compile(r"10{12}[0-9]{5}")
_ONE_DASH = ("sim-walltime",)
_LIMIT = "give a limit (-t 10), or a run time as a comment (--comment=runtime=90, in seconds or with a unit)"


def looks_like(text: str) -> bool:
    return any(_MENTIONS.search(line) for line in text.splitlines() if not line.lstrip().startswith("#"))


def from_text(text: str, path: Path) -> Workflow:
    """All its jobs, tied together or not. Run times are limits unless a comment says them."""
    from schedlab.workload.options import ReadOptions
    from schedlab.workload.slurm.read import of_lines

    script = _Script(path)
    for number, line in _logical_lines(text):
        script.line(number, line)
    if script.mistakes:
        raise InputErrors(script.mistakes)
    found = of_lines(path, script.events, ReadOptions(bad_rows="drop"))
    if found.report.bad_rows:
        split = (row.removeprefix("line ").split(": ", 1) for row in found.report.bad_rows)
        raise InputErrors([InputError(problem, where=f"{path}:{number}") for number, problem in split])
    batch = JobBatch.joined(list(found.batches()))
    written = batch.names or [str(id) for id in batch.id.tolist()]
    ids = list(_ids(script.names[int(name.partition("_")[0])] + name[len(str(_FIRST)) :] for name in written))
    return workflow_of_jobs(file_stem(str(path)), found, batch, ids, range(len(batch)), str(path))


def _ids(names: Iterator[str]) -> Iterator[str]:
    """The same name again gets a number."""
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that a backslash continues are one; of each the number of its first."""
    whole, begin = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        begin = begin if whole else number
        whole += line
        if line.endswith("\\") and not whole.lstrip().startswith("#"):
            whole = whole[:-1] + " "
            continue
        if whole.strip() and not whole.lstrip().startswith("#"):
            yield begin, whole.strip()
        whole = ""
    if whole.strip():
        yield begin, whole.strip()


class _Script:
    """What has been read of it: jobs as lines of an event file, and what the variables stand for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._variables: dict[str, str] = {}
        self._loops = 0
        self.events: list[tuple[int, str]] = []
        self.names: dict[int, str] = {}
        self.mistakes: list[InputError] = []

    def line(self, number: int, line: str) -> None:
        self._loops += bool(_LOOP.match(line)) - bool(re.search(r"(?:^|;)\s*done\b", line))
        assigned = _ASSIGNED.fullmatch(line)
        name, command = assigned.groups() if assigned else ("", line)
        submits = _SUBMITS.fullmatch(command)
        try:
            if submits and not self._loops:
                self._submit(number, self._filled(submits[1] or ""))
                self._variables[name] = str(max(self.names))
            elif _MENTIONS.search(line) and not _SAYS.match(line):
                hint = "write each job as a line: a=$(sbatch --parsable …), sbatch --dependency=afterok:$a …"
                raise ValueError("sbatch is not understood here (in a loop, condition or pipe)", hint)
            elif assigned:
                value = self._filled(command).strip("\"'")
                jobs = _NUMBER.findall(value)  # also of b=$(echo $a | cut -d' ' -f4)
                self._variables[name] = jobs[0] if jobs else value
        except ValueError as error:
            message, hint = (*error.args, "")[:2]
            self.mistakes.append(InputError(message, where=f"{self._path}:{number}", hint=hint))
        except InputError as error:
            self.mistakes.append(error)

    def _filled(self, text: str) -> str:
        return _VARIABLE.sub(lambda found: self._variables.get(found[1] or found[2], found[0]), text)

    def _submit(self, number: int, rest: str) -> None:
        from schedlab.workload.slurm.sbatch import options_and_script

        words = _words(rest)
        _, _, program = options_and_script(words, _ONE_DASH)
        header = self._header(program[0]) if program else []
        values, unused, _ = options_and_script([*header, *words], _ONE_DASH)
        if found := _RUNTIME.search(unused.get("--comment", "")):
            values["sim-walltime"] = str(parse_duration(found[1], where=f"{self._path}:{number}"))
        self._check(values)
        job = _FIRST + len(self.names)
        self.names[job] = values.get("job-name") or (Path(program[0]).stem if program else f"job{len(self.names) + 1}")
        values["job-name"] = self.names[job]
        ran = f"-sim-walltime {values.pop('sim-walltime')}" if "sim-walltime" in values else ""
        said = " ".join(f'"--{option}={value}"' for option, value in values.items())
        self.events.append((number, f"-dt 0 -e submit_batch_job | -jid {job} {ran} {said} x.sh"))

    def _check(self, values: Mapping[str, str]) -> None:
        from schedlab.workload.slurm.dependency import parse_dependency
        from schedlab.workload.slurm.order import time_limit

        for option, value in values.items():
            if unset := _VARIABLE.search(value):
                raise ValueError(f"--{option} is '{value}', and {unset[0]} is not known here")
        for wait in parse_dependency(values.get("dependency", "")).waits:
            if wait.job not in self.names:
                raise ValueError(f"--dependency is on job {wait.job}, which this script does not submit")
        if "sim-walltime" not in values and time_limit(values.get("time", "0")) is None:
            raise ValueError("neither the run time of this job is known nor a limit", _LIMIT)

    def _header(self, program: str) -> list[str]:
        """The options in #SBATCH lines of a script that is there, which end where its commands begin."""
        file = self._path.parent / program
        if not program or len(file.name) > LONGEST_NAME or not file.is_file():
            return []
        found: list[str] = []
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("#SBATCH"):
                found += shlex.split(line.removeprefix("#SBATCH"), comments=True)
            elif line.strip() and not line.startswith("#"):
                break
        return found


def _words(text: str) -> list[str]:
    """Of a command, as a shell splits them; it ends at a bracket, a pipe, or a comment."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_ENDS)
    lexer.whitespace_split = True
    found: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set(_ENDS):
                break
            found.append(word)
    except ValueError:
        raise ValueError("a quotation mark is not closed") from None
    return found
