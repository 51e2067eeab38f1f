# Everything starts here: `make demo`, `make test`, `make bench`. Needs Python >= 3.11 with venv and headers, a C++20 compiler and the package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(wildcard $(addprefix native/,*.cpp *.hpp batsim/*.cpp batsim/*.hpp virtual_clock/*.c virtual_clock/*.h))
STYLED := $(SOURCES) $(wildcard tests/native/*.cpp)
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) # one more than cores: many tests wait for other processes
# Batsim's schedulers and tools, to be tried out. What they need is in the group dev, because their own pins are of their time;
# they are beside the environment, because they install modules with names like `tests`.
BATSIM_TOOLS := pybatsim==3.2.1 batsim-py==1.0.5 evalys==4.0.7
unexport PYTHONDONTWRITEBYTECODE # compiling the package anew in every process would be half of what many tests take

.PHONY: demo test check-style unit again kube-others bench fuzz sanitize stubs format clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

# The build tools live in the environment (no build isolation), so that a rebuild after an edit takes seconds.
$(VENV)/.built: $(SOURCES) CMakeLists.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --group dev
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/batsim-tools $(BATSIM_TOOLS)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

demo: $(VENV)/.built
	$(BIN)/schedlab run examples/demo.swf --cluster 64x4 --policy fcfs --policy easy --policy conservative \
	  --policy easy:order=sjf,place=best-fit --reasons --out demo-results --force
	@echo "Next: $(BIN)/schedlab web demo-results   $(BIN)/schedlab compare demo-results/*   $(BIN)/schedlab check demo-results/easy   $(BIN)/schedlab --help"

test: $(VENV)/.built check-style unit

check-style: $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(STYLED)
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.built
	$(BIN)/python -m tests.kube_programs # the kube-scheduler, where Go is there: some minutes, once
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal || { [ $$? = 1 ] && $(MAKE) again; }

# What has failed, once more and one by one: many tests run programs beside each other, and a machine may be too busy for that.
again:
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none

# Schedulers of others, whose tests are skipped where they are not built: some minutes, once.
kube-others: $(VENV)/.built
	$(BIN)/python -m tests.kube_programs others
	SCHEDLAB_REAL_TIME=1 $(BIN)/python -m pytest tests/system/test_kube_yunikorn.py

bench: $(VENV)/.built
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.built
	$(BIN)/python -m tests.fuzz_native --seconds 120
	for reader in swf sacct slurm tables others batsim batsim_program kube web disk; do $(BIN)/python -m tests.fuzz_$$reader --seconds 60 || exit 1; done

# The core once more, with address and undefined-behaviour sanitizers, under the tests that exercise it.
sanitize: $(VENV)/.built
	tests/sanitize.sh $(BIN)/python

stubs: $(VENV)/.built
	$(BIN)/python -m nanobind.stubgen -m schedlab._core -o src/schedlab/_core.pyi
	$(BIN)/ruff format --quiet src/schedlab/_core.pyi

format: $(VENV)/.built
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format --quiet .
	$(BIN)/clang-format -i $(STYLED)

clean:
	rm -rf build $(VENV) .bench-venv demo-results
