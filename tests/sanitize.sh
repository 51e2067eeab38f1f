#!/usr/bin/env bash
# Builds the core with address and undefined-behaviour sanitizers in build/sanitize and runs the tests that exercise it.
set -euo pipefail
python=$(realpath -s "${1:-python3}")
bin=$(dirname "$python")
cd "$(dirname "$0")/.."
"$bin/cmake" -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DSCHEDLAB_SANITIZE=ON -DPython_EXECUTABLE="$python" >/dev/null
"$bin/cmake" --build build/sanitize
rm -rf build/sanitize/package
mkdir -p build/sanitize/package
cp -r src/schedlab build/sanitize/package/
cp build/sanitize/_core*.so build/sanitize/schedlab_batsim build/sanitize/package/schedlab/
# Python itself leaks at exit, so leaks are not looked for. The runtime has to be loaded before everything else.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
runtime="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libubsan.so)"
# -S: without it the editable install would give the ordinary core, whatever the path says.
PYTHONPATH=$PWD/build/sanitize/package:$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
export PYTHONPATH
# Only this process is looked at: programs that tests start get neither the runtime nor the core. The real Slurm is left
# out, which would be most of the time, and Batsim's medium_late, which is simulated in processes of its own. `exec`: who
# ends make ends the tests.
LD_PRELOAD=$runtime exec "$python" -S - -q -p no:cacheprovider -p no:xdist --ignore tests/golden/test_slurm_real.py \
  --ignore tests/golden/test_batsim_medium_late.py \
  tests/unit/test_{core_edges,decider,view,power,failures,check_whims,expression,swf_parser,swf_fuzz,swf_errors,web_block,web_pack,web_opened,plot_gantt}.py \
  tests/property tests/golden <<'PYTHON'
import os
import sys

import schedlab._core as core

del os.environ["LD_PRELOAD"], os.environ["PYTHONPATH"]
assert "build/sanitize" in core.__file__, core.__file__
import pytest

sys.exit(pytest.main(sys.argv[1:]))
PYTHON
