# Everything that is done often has one word here; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps build check test test-all test-cpp test-fuzz test-python test-cpython test-cpython-threads test-debian test-races test-sanitize test-threads-sanitize soak fuzz-runs real-programs real-readers viewer test-viewer test-notebooks demo docs wheels release test-release bench lint format clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

deps: ## install the Debian packages that are missing, for all targets
	@scripts/install_deps.sh

# deps-build-test: those of the groups build and test.
deps-%:
	@scripts/install_deps.sh $(subst -, ,$*)

build: deps-build-test ## build the program and the C++ tests into build/release
	cmake --preset release
	cmake --build --preset release

check: deps-check ## check the layers, the format of the C++ code, the rules and types of the Python code, the page of the viewer
	python3 scripts/check_layers.py
	scripts/format.sh --check
	scripts/check_python.sh
	python3 scripts/viewer.py --check

test: check test-cpp test-python ## install, build, run the tests with every Python

test-all: deps ## run every test with every Python, sanitizers, fuzzers, CPython's tests: hours
	python3 scripts/test_all.py

test-cpp: build ## run the C++ tests, which replay the corpus of the fuzzers
	ctest --preset release

test-fuzz: deps-build-fuzz ## give the fuzzers random inputs; FUZZ_RUNS says how many
	scripts/fuzz.sh

test-python: deps-build-test ## run the Python tests; ARGS go to scripts/run_python_tests.py
	python3 scripts/run_python_tests.py $(ARGS)

test-cpython: deps-build-test ## run CPython's own tests under every instrumenter
	python3 scripts/run_python_tests.py -m cpython_suite $(ARGS)

test-cpython-threads: deps-build-test ## run CPython's tests of threads and asyncio under every instrumenter
	python3 scripts/run_python_tests.py -m cpython_threads $(ARGS)

test-debian: ## run the Python tests with the Pythons of Debian unstable, in a chroot of it; needs root
	scripts/test_in_debian.sh unstable 3.13,3.14,3.15 $(ARGS)

test-races: deps-build-test ## run each test of a race 50 times, with every Python
	RACE_ROUNDS=50 python3 scripts/run_python_tests.py -m race $(ARGS)

test-sanitize: deps-build-test ## run the C++ tests under sanitizers
	scripts/test_sanitize.sh

test-threads-sanitize: deps-build ## run the tests of threads under ThreadSanitizer, with the CPython that TIMELOOM_TSAN_PYTHON names
	python3 scripts/test_threads_sanitize.py $(ARGS)

fuzz-runs: deps-build ## open runs that were damaged at random; ARGS go to scripts/fuzz_runs.py
	python=$$(python3 scripts/environments.py --newest --werror) && $$python scripts/fuzz_runs.py $(ARGS)

soak: deps-build ## run random programs for 10 minutes and check their runs; ARGS go to scripts/soak.py
	python=$$(python3 scripts/environments.py --newest --werror) && $$python scripts/soak.py $(ARGS)

real-programs: deps-build ## compare profiles and traces of five programs from PyPI; writes docs/profiles.md
	python=$$(python3 scripts/environments.py --newest --werror) && $$python scripts/real_programs.py $(ARGS)

# Extra-P needs NumPy 1, which has no wheels for Python 3.13 and later.
real-readers: deps-build-readers ## compare what the readers of PyPI and Debian say of runs with what Timeloom says
	python=$$(python3 scripts/environments.py --newest --up-to 3.12 --werror --variant readers -r scripts/real_readers.txt) && $$python scripts/real_readers.py $(ARGS)

viewer: ## build the page of timeloom view into viewer/dist, which is committed; needs npm
	python3 scripts/viewer.py

test-viewer: deps-build-viewer ## use the page of timeloom view in Chromium and Firefox; needs npm
	python3 scripts/viewer.py --check --browser

test-notebooks: deps-build-viewer ## run the tests of notebooks with other versions of Jupyter and Python, and in JupyterLab; ARGS go to scripts/test_notebooks.py
	python3 scripts/test_notebooks.py $(ARGS)

demo: deps-build ## install, build, run the examples, show their reports
	@scripts/demo.sh

docs: ## build the site of the documentation into build/site
	python3 scripts/docs.py

wheels: deps-build-release ## build wheels for any Linux into build/dist; ARGS go to scripts/wheels.py
	python3 scripts/wheels.py $(ARGS)

release: deps-build-release ## build all that a release has into build/dist; ARGS go to scripts/release.py
	python3 scripts/release.py $(ARGS)

test-release: deps-debian-release ## try the release in bare systems of Debian: hours, needs root; ARGS name steps
	python3 scripts/test_release.py $(ARGS)

bench: deps-build-bench ## measure what Timeloom costs; writes bench/RESULTS.md
	scripts/bench.sh $(ARGS)

lint: deps-build-test-lint ## run clang-tidy over the C++ code
	scripts/lint.sh

format: deps-check ## format the C++ code
	scripts/format.sh

clean: ## remove what was built
	rm -rf build
