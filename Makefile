# Two commands for a newcomer: `make demo` and `make test`. Each installs what is missing, builds, and runs.
BUILD := build
JOBS  ?= $(shell nproc)
PYTHON := .venv/bin/python

.PHONY: build mpi demo test bench fuzz sanitize coverage docs lint tidy wheel release-check clean bootstrap

bootstrap:
	@scripts/bootstrap

build: bootstrap
	@cmake --preset release > $(BUILD)-configure.log 2>&1 || { cat $(BUILD)-configure.log; exit 1; }
	@rm -f $(BUILD)-configure.log
	@cmake --build $(BUILD) -j $(JOBS)

mpi:
	@scripts/bootstrap libopenmpi-dev libmetis-dev
	@cmake --preset mpi > $(BUILD)-mpi-configure.log 2>&1 || { cat $(BUILD)-mpi-configure.log; exit 1; }
	@rm -f $(BUILD)-mpi-configure.log
	@cmake --build $(BUILD)-mpi -j $(JOBS)

demo: build
	@scripts/demo

test: build mpi
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
	$(PYTHON) -m pytest tests/python -q
	FUZZ_SECONDS=20 FUZZ_SEED=1 scripts/fuzz csv environment json simulator solution umb

bench: build
	$(BUILD)/benchmarks/bench --json $(BUILD)/bench.json

fuzz:
	@scripts/fuzz

sanitize:
	@scripts/sanitize

coverage:
	@scripts/coverage

docs: bootstrap
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --quiet
	@echo "docs: $(BUILD)/site/index.html"

lint: bootstrap
	@scripts/lint

tidy: bootstrap
	@scripts/bootstrap clang-tidy libopenmpi-dev libmetis-dev
	@for preset in release mpi; do \
	  cmake --preset $$preset > $(BUILD)-configure.log 2>&1 || { cat $(BUILD)-configure.log; exit 1; }; done
	@rm -f $(BUILD)-configure.log
	@scripts/tidy src apps mpi python

wheel:
	@scripts/wheel $(PYTHONS)

release-check: build
	@$(PYTHON) scripts/release_check

clean:
	rm -rf $(BUILD) $(BUILD)-*
