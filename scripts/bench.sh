#!/bin/sh
# Measures Timeloom with every usable Python; writes bench/RESULTS.md.
# Arguments are those of bench/run.py; before them --no-werror lets a newer compiler warn of our code.
set -eu
cd -- "$(dirname -- "$0")/.."

werror=--werror
if [ "${1:-}" = --no-werror ]; then
  werror=
  shift
fi
# shellcheck disable=SC2086 # one word or none
interpreters=$(python3 scripts/environments.py $werror -r bench/requirements.txt)
# Any of them can drive the others.
driver=${interpreters%%
*}
# The bindings of Score-P, where one is installed, in an environment of their own.
if python3 bench/bindings.py >/dev/null 2>&1; then
  "$driver" -m venv --clear build/venv-scorep-bindings
  build/venv-scorep-bindings/bin/pip install --quiet scorep
  BENCH_SCOREP_PYTHON=$PWD/build/venv-scorep-bindings/bin/python
  export BENCH_SCOREP_PYTHON
fi
cmake --preset bench "-DTIMELOOM_WERROR=${werror:+ON}" >/dev/null
cmake --build --preset bench
export BENCH_PROGRAMS="$PWD/build/bench/bench"
# shellcheck disable=SC2086 # one word an interpreter
exec "$driver" bench/run.py "$@" $interpreters
