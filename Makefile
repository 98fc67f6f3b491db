# Two commands for a newcomer: `make demo` and `make test`. Each installs what is missing, builds, runs, and says how long that took.
# `make check` runs tests that take less than a minute together.
BUILD := build
JOBS  ?= $(shell nproc)
PYTHON := .venv/bin/python

.PHONY: fresh program build mpi demo check test bench fuzz sanitize coverage docs lint tidy clang odr wheel release-check clean bootstrap

# What fails says so; what works says nothing. CMAKE_FLAGS: for example -DREDOUBT_WERROR=ON.
configure = @cmake --preset $(1) $(CMAKE_FLAGS) > configure.log 2>&1 || { cat configure.log; exit 1; }; rm -f configure.log

bootstrap:
	@scripts/bootstrap

fresh:  # forgets times of earlier commands
	@rm -f $(BUILD)/times.txt

# The program alone, without Python and the packages of the tests; a build of everything is left as it is.
program:
	@scripts/bootstrap program
	@test -f $(BUILD)/build.ninja || { $(subst @,,$(call configure,program)); }
	@scripts/timed building cmake --build $(BUILD) -j $(JOBS) --target redoubt_app

build: bootstrap
	$(call configure,release)
	@scripts/timed building cmake --build $(BUILD) -j $(JOBS)

mpi:  # the program for mpirun, build/redoubt-mpi
	@scripts/bootstrap libopenmpi-dev libmetis-dev
	$(call configure,release -DREDOUBT_MPI=ON)
	@scripts/timed building cmake --build $(BUILD) -j $(JOBS) --target redoubt_mpi

demo: fresh program
	@scripts/timed solving scripts/demo
	@echo
	@scripts/timed

check: fresh bootstrap
	$(call configure,release)
	@scripts/timed building cmake --build $(BUILD) -j $(JOBS) --target redoubt_app _core $(CHECKED:%=test_%)
	@for test in $(CHECKED); do scripts/timed testing $(BUILD)/tests/test_$$test --gtest_brief=1 || exit 1; done
	@scripts/timed testing $(PYTHON) -m pytest -q -n $(JOBS) $(CHECKED_PYTHON:%=tests/python/test_%.py)
	@scripts/timed
CHECKED := bellman chance environments evaluation io model numerics parallel policy runtime sets support
CHECKED_PYTHON := api architecture cli problem reorder solve worst_case

test: fresh build mpi
	@scripts/bootstrap clang libclang-rt-dev
	scripts/timed testing ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
	scripts/timed testing $(PYTHON) -m pytest tests/python -q -n $(JOBS) --dist worksteal
	FUZZ_SECONDS=10 FUZZ_SEED=1 scripts/timed fuzzing scripts/fuzz $(READERS)
	@scripts/timed
READERS := $(filter-out kernels states,$(patsubst fuzz/%.cc,%,$(wildcard fuzz/*.cc)))

bench: build
	$(BUILD)/benchmarks/bench --json $(BUILD)/bench.json

fuzz:
	@scripts/fuzz

sanitize:
	@scripts/sanitize

coverage:
	@scripts/coverage

docs: build
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --quiet
	$(PYTHON) scripts/site_reports $(BUILD)/site/reports
	@echo "docs: $(BUILD)/site/index.html"

lint: bootstrap
	@scripts/lint

tidy: bootstrap
	@scripts/bootstrap clang-tidy libopenmpi-dev libmetis-dev
	$(call configure,release -B $(BUILD)-tidy -DREDOUBT_TOGETHER=OFF -DREDOUBT_MPI=ON)
	@scripts/tidy src apps mpi python

clang:  # the other compiler: no warning, and the tests in C++
	@scripts/bootstrap clang
	$(call configure,clang)
	@cmake --build $(BUILD)-clang -j $(JOBS)
	@ctest --test-dir $(BUILD)-clang --output-on-failure -j $(JOBS)

odr:  # no two types share a name: the linker looks at all sources together
	@scripts/bootstrap program
	$(call configure,odr)
	@cmake --build $(BUILD)-odr -j $(JOBS) --target redoubt_app

wheel:
	@scripts/wheel $(PYTHONS)

release-check: build
	@$(PYTHON) scripts/release_check

clean:
	rm -rf $(BUILD) $(BUILD)-*
