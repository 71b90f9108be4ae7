# SPDX-License-Identifier: BSD-3-Clause
# The front door: every target is a line or two over the CMake presets and scripts/.

PREFIX ?= /usr/local
SECONDS ?= 60
STEPS ?=
FULL ?=
SEED ?= 1
ALL ?=
ARGS ?=

.PHONY: all setup demo test quick bench bench-check charts paths docs fault fuzz big-endian check coverage install clean

all: setup-build
	cmake --preset release
	cmake --build --preset release

# What is missing is installed; quick when nothing is.
setup:
	./scripts/setup

setup-%:
	./scripts/setup $*

# The samples listed, sliced and checked with this build.
demo: all
	@CIPPUS=build/release/cippus sh samples/demo.sh

# All tests; STEPS="dev check" for some of them. Sweeps try a sample that SEED draws, with FULL=1
# everything. The last line counts. The tests' Python environment is made while the first of them run.
test:
	@./scripts/setup build test
	@CIP_FULL=$(FULL) CIP_SEED=$(SEED) python3 scripts/test.py $(STEPS)

# The inner loop: unit tests of the modules that changed since HEAD, of all with ALL=1.
quick: setup
	@ALL=$(ALL) python3 scripts/test.py quick

# ARGS goes to the benchmark's own command line. The rows of Python measure the package of this tree.
# With --growth: how time and memory grow, by bench/growth.py, which needs no peers.
ifneq ($(filter --growth,$(ARGS)),)
bench: all
	python3 bench/growth.py $(filter-out --growth,$(ARGS))
else
bench: all setup-bench
	.venv-bench/bin/pip --disable-pip-version-check install -q --no-build-isolation --no-deps --force-reinstall . --config-settings build-dir=build/bench-python
	.venv-bench/bin/python bench/run.py --build build/release $(ARGS)
endif

# Instructions of small jobs, counted, against those in bench/counts.json: 2 % more fails. ARGS=--update accepts them.
bench-check: setup-build setup-paths
	cmake --preset release
	cmake --build --preset release --target cippus bench_worker
	@python3 bench/counts.py $(ARGS)

# The charts of the documentation, from new figures in bench/figures.json: ten minutes on a quiet machine.
charts:
	$(MAKE) bench ARGS="--rows set,window-lz4,lz4,python-open,python-read,python-slices,python-write --scale .5 --rounds 5 --cpu --json bench/figures.json"
	bench/chart.py

# What small changes cost, counted: functions that run, preads.
paths: setup-build setup-paths
	cmake --preset quick
	cmake --build --preset quick --target cippus
	@python3 bench/paths.py $(ARGS)

# The HTML of the guides, the manual page and the reference, build/docs/index.html, with the Python package of this tree. It needs the packages of docs/requirements.txt alone.
docs: setup-build setup-docs
	.venv-docs/bin/pip --disable-pip-version-check install -q --no-build-isolation --no-deps --force-reinstall . --config-settings build-dir=build/docs-python
	.venv-docs/bin/sphinx-build -q -W --keep-going docs build/docs

# Every way to change a file, cut off at every point: crash points and images tried.
fault: setup-build
	cmake -S . -B build/fault -G Ninja -DCMAKE_BUILD_TYPE=Release -DCIP_WERROR=ON -DCIP_EXAMPLES=OFF
	cmake --build build/fault --target test_fault
	@CIP_FULL=1 build/fault/tests/test_fault | grep -E 'old or new|FAILED|PASSED'

# SECONDS bounds the fuzzing of all targets together.
fuzz: setup-build setup-fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	./scripts/fuzz.sh $(SECONDS)

# Unit tests and a sample of the corpus on s390x, under qemu-user; root and build stay in build/cross.
big-endian: setup-cross
	./scripts/cross.sh s390x

check: setup all
	./scripts/check.sh

coverage: setup
	./scripts/coverage.sh

# DESTDIR is honoured.
install: all
	cmake --install build/release --prefix $(PREFIX)

clean:
	cmake -E rm -rf build
