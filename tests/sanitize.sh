#!/usr/bin/env bash
# Builds the core with address and undefined-behaviour sanitizers in build/sanitize and runs the tests that exercise it.
set -euo pipefail
python=$(realpath -s "${1:-python3}")
cd "$(dirname "$0")/.."
ninja=$(dirname "$python")/ninja
cmake -S . -B build/sanitize ${ninja:+-G Ninja -DCMAKE_MAKE_PROGRAM="$ninja"} -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DSCHEDLAB_SANITIZE=ON -DPython_EXECUTABLE="$python" >/dev/null
cmake --build build/sanitize
rm -rf build/sanitize/package
mkdir -p build/sanitize/package
cp -r src/schedlab build/sanitize/package/
cp build/sanitize/_core*.so build/sanitize/package/schedlab/
# Python itself leaks at exit, so leaks are not looked for. The runtime has to be loaded before everything else.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
LD_PRELOAD="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libubsan.so)"
# -S: without it the editable install would give the ordinary core, whatever the path says.
PYTHONPATH=$PWD/build/sanitize/package:$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
export LD_PRELOAD PYTHONPATH
"$python" -S -c "import schedlab._core as core; assert 'build/sanitize' in core.__file__, core.__file__"
"$python" -S -m pytest -p no:cacheprovider -p no:xdist tests/unit/test_decider.py tests/unit/test_view.py tests/unit/test_power.py \
  tests/unit/test_failures.py tests/unit/test_check_whims.py tests/unit/test_swf_parser.py tests/unit/test_swf_fuzz.py \
  tests/unit/test_swf_errors.py tests/property tests/golden
