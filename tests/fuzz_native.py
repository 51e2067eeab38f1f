"""Fuzz the native SWF parser with libFuzzer, guided by what each input reaches in it, under the sanitizers.

python -m tests.fuzz_native --seconds 600 --seed 1
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz_swf import ODD, valid_log

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "fuzz"
TARGET = [ROOT / "tests" / "native" / "fuzz_swf.cpp", *sorted((ROOT / "native").glob("swf*.cpp"))]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
COMPILE = ["-std=c++20", "-O2", "-g", f"-I{ROOT / 'native'}", "-c"]
LONGEST = 400  # bytes; a short input is a quick one


def lib_fuzzer() -> Path | None:
    """The library is part of atheris, a development dependency where there are wheels of it."""
    found = importlib.util.find_spec("atheris")
    if found is None or found.origin is None:
        return None
    library = Path(found.origin).parents[1] / "libclang_rt.fuzzer_no_main.a"
    return library if library.is_file() else None


def build(library: Path) -> Path:
    """The program, compiled anew: it takes seconds."""
    BUILD.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CXX", "c++")
    coverage = ROOT / "tests" / "native" / "coverage.cpp"
    commands = [[compiler, *COMPILE, str(coverage), "-o", str(BUILD / "coverage.o")]]
    instrumented = [*SANITIZERS, "-fsanitize-coverage=trace-pc,trace-cmp", *COMPILE]
    commands += [[compiler, *instrumented, str(one), "-o", str(BUILD / f"{one.stem}.o")] for one in TARGET]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: subprocess.run(command, check=True), commands))
    objects = [command[-1] for command in commands]
    program = BUILD / "fuzz_swf"
    wrap = "-Wl,--wrap=__sanitizer_cov_trace_pc"  # see coverage.cpp
    subprocess.run(
        [compiler, *SANITIZERS, wrap, *objects, str(library), "-lpthread", "-ldl", "-o", str(program)], check=True
    )
    return program


def write_corpus(folder: Path) -> None:
    """Logs to begin with; what libFuzzer finds is added, and is there the next time."""
    folder.mkdir(exist_ok=True)
    for number in range(50):
        chance = random.Random(number)
        (folder / f"log{number}").write_bytes(chance.randbytes(2) + valid_log(chance)[: LONGEST - 2])
    words = (word.encode() for word in ODD if word)
    texts = ("".join(f"\\x{byte:02x}" for byte in word) for word in words)
    (BUILD / "dictionary").write_text("".join(f'"{text}"\n' for text in texts))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=120)
    arguments.add_argument("--seed", type=int, default=0, help="by default another one every time")
    asked = arguments.parse_args()
    library = lib_fuzzer()
    if library is None:
        print("the native parser is not fuzzed: there is no libFuzzer (pip install atheris; wheels: Linux on x86-64)")
        return
    program, corpus = build(library), BUILD / "corpus"
    write_corpus(corpus)
    # A short memory of what was freed: most of the time would be malloc's.
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=0:quarantine_size_mb=1"}
    options = [f"-max_total_time={asked.seconds}", f"-max_len={LONGEST}", f"-dict={BUILD / 'dictionary'}"]
    options += ["-print_final_stats=1", f"-artifact_prefix={BUILD}/", "-verbosity=0"]
    count = os.cpu_count() or 1
    processes = [
        subprocess.Popen(
            [program, corpus, *options, f"-seed={asked.seed + number if asked.seed else 0}"],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    try:
        told = [process.communicate()[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, words in zip(processes, told, strict=True):
        if process.returncode:
            print(words, file=sys.stderr)
            sys.exit(f"the input is in {BUILD}; repeat it with {program} FILE")
    inputs = sum(int(number) for words in told for number in re.findall(r"number_of_executed_units: (\d+)", words))
    print(f"{inputs:,} inputs to the native parser in {asked.seconds} s, {inputs // asked.seconds:,} a second")


if __name__ == "__main__":
    main()
