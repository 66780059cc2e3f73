# Everything that is done often has one word here; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps build check test test-all test-cpp test-fuzz test-python test-cpython test-cpython-threads test-debian test-doors test-races test-sanitize test-threads-sanitize soak fuzz-runs trials real-programs real-readers viewer test-viewer test-notebooks test-compiled test-engines demo docs wheels release test-release bench lint format clean

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

# At once: none of them keeps all processors busy.
check: deps-check ## check the layers, the words and line ends of documents, the ids of messages, the format of the C++ code, the rules and types of the Python code, the page of the viewer
	@printf '%s\n' 'python3 -m scripts.check.check_layers' 'python3 -m scripts.check.words' \
	  'python3 -m scripts.check.line_ends' 'python3 -m scripts.check.message_ids' 'scripts/check/format.sh --check' scripts/check/check_python.sh \
	  'python3 -m scripts.pages.viewer --check' | xargs -P0 -I COMMAND sh -c COMMAND

test: check test-cpp test-python ## install, build, run the tests with every Python

test-all: deps ## run every test with every Python, sanitizers, fuzzers, CPython's tests: hours
	python3 -m scripts.test.test_all

test-cpp: build ## run the C++ tests, which replay the corpus of the fuzzers
	ctest --preset release

test-fuzz: deps-build-fuzz ## give the fuzzers random inputs; FUZZ_RUNS says how many
	scripts/test/fuzz.sh

test-python: deps-build-test ## run the Python tests; ARGS go to scripts/test/run_python_tests.py
	python3 -m scripts.test.run_python_tests $(ARGS)

test-cpython: deps-build-test ## run CPython's own tests under every instrumenter
	python3 -m scripts.test.run_python_tests -m cpython_suite $(ARGS)

test-cpython-threads: deps-build-test ## run CPython's tests of threads and asyncio under every instrumenter
	python3 -m scripts.test.run_python_tests -m cpython_threads $(ARGS)

test-debian: ## run the Python tests with the Pythons of Debian unstable, in a chroot of it; needs root
	scripts/test/test_in_debian.sh unstable 3.13,3.14,3.15 $(ARGS)

test-races: deps-build-test ## run each test of a race 50 times, with every Python
	RACE_ROUNDS=50 python3 -m scripts.test.run_python_tests -m race $(ARGS)

test-doors: deps-build-test ## build without the door Omnitrace, run the rest of the C++ tests, and try what is left out
	python3 -m scripts.test.test_doors

test-sanitize: deps-build-test ## run the C++ tests under sanitizers
	scripts/test/test_sanitize.sh

test-threads-sanitize: deps-build ## run the tests of threads under ThreadSanitizer, with the CPython that TIMELOOM_TSAN_PYTHON names
	python3 -m scripts.test.test_threads_sanitize $(ARGS)

fuzz-runs: deps-build ## open runs that were damaged at random; ARGS go to scripts/trials/fuzz_runs.py
	python=$$(python3 -m scripts.environments --newest --werror) && $$python -m scripts.trials.fuzz_runs $(ARGS)

soak: deps-build ## run random programs for 10 minutes and check their runs; ARGS go to scripts/trials/soak.py
	python=$$(python3 -m scripts.environments --newest --werror) && $$python -m scripts.trials.soak $(ARGS)

trials: deps-build ## attack runs, commands and the viewer for half a minute each; ARGS go to scripts/trials/attacks.py
	python=$$(python3 -m scripts.environments --newest --werror --variant trials --extra jupyter -r scripts/trials/packages.txt) && $$python -m scripts.trials.attacks $(ARGS)

real-programs: deps-build ## compare profiles and traces of five programs from PyPI; writes docs/profiles.md
	python=$$(python3 -m scripts.environments --newest --werror) && $$python -m scripts.trials.real_programs $(ARGS)

# Extra-P needs NumPy 1, which has no wheels for Python 3.13 and later.
real-readers: deps-build-readers ## compare what the readers of PyPI and Debian say of runs with what Timeloom says
	python=$$(python3 -m scripts.environments --newest --up-to 3.12 --werror --variant readers -r scripts/trials/real_readers.txt) && $$python -m scripts.trials.real_readers $(ARGS)

viewer: ## build the page of timeloom view into viewer/dist, which is committed; needs npm
	python3 -m scripts.pages.viewer

test-viewer: deps-build-viewer ## use the page of timeloom view in Chromium and Firefox; needs npm
	python3 -m scripts.pages.viewer --check --browser

test-notebooks: deps-build-viewer ## run the tests of notebooks with other versions of Jupyter and Python, and in JupyterLab; ARGS go to scripts/test/test_notebooks.py
	python3 -m scripts.test.test_notebooks $(ARGS)

test-compiled: deps-build-test ## run the tests of modules of nanobind, PyO3, f2py, cffi and numba, with every Python; ARGS go to scripts/test/test_compiled.py
	python3 -m scripts.test.test_compiled $(ARGS)

test-engines: deps-build-test-engines ## run the tests of Dask, Ray, Spark and Celery, in an environment of their own; ARGS go to pytest
	python3 -m scripts.test.test_engines $(ARGS)

demo: deps-build ## install, run two examples, show the answer and a picture of each
	@scripts/demo.sh

docs: ## build the site of the documentation into build/site
	python3 -m scripts.pages.docs

wheels: deps-build-release ## build wheels for any Linux into build/dist; ARGS go to scripts/release/wheels.py
	python3 -m scripts.release.wheels $(ARGS)

release: deps-build-release ## build all that a release has into build/dist; ARGS go to scripts/release/release.py
	python3 -m scripts.release.release $(ARGS)

test-release: deps-debian-release ## try the release in bare systems of Debian: hours, needs root; ARGS name steps
	python3 -m scripts.test.test_release $(ARGS)

bench: deps-build-bench ## measure what Timeloom costs; writes bench/RESULTS.md
	scripts/bench.sh $(ARGS)

lint: deps-build-test-lint ## run clang-tidy over the C++ code
	scripts/check/lint.sh

format: deps-check ## format the C++ code
	scripts/check/format.sh

clean: ## remove what was built
	rm -rf build
