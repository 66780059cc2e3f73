#!/bin/sh
# Measures Timeloom with every usable Python; writes bench/RESULTS.md. Arguments are passed to
# bench/run.py; --no-werror in front of them tolerates warnings of a newer compiler.
set -eu
cd -- "$(dirname -- "$0")/.."

werror=--werror
if [ "${1:-}" = --no-werror ]; then
  werror=
  shift
fi
# shellcheck disable=SC2086 # one word or none
interpreters=$(python3 -m scripts.environments $werror -r bench/requirements.txt)
# Any of them can run the others.
driver=${interpreters%%
*}
# The bindings of Score-P, where one is installed, in a separate environment.
if python3 bench/bindings.py >/dev/null 2>&1; then
  "$driver" -m venv --clear build/venv-scorep-bindings
  build/venv-scorep-bindings/bin/pip install --quiet scorep
  BENCH_SCOREP_PYTHON=$PWD/build/venv-scorep-bindings/bin/python
  export BENCH_SCOREP_PYTHON
fi
# Django's tests are only in its source distribution; the newest of the Pythons uses it.
django=$(sed -n 's/^django==\([0-9.]*\).*/\1/p' bench/requirements.txt)
if [ ! -d "build/bench-django/django-$django" ]; then
  rm -rf build/bench-django
  newest=${interpreters##*
}
  "$newest" -m pip download --quiet --no-deps --no-binary django --dest build/bench-django "django==$django" &&
    tar xzf "build/bench-django/django-$django.tar.gz" -C build/bench-django ||
    echo "bench.sh: no Django $django; its tests are not measured" >&2
fi
if [ -d "build/bench-django/django-$django" ]; then
  BENCH_DJANGO=$PWD/build/bench-django/django-$django
  export BENCH_DJANGO
fi
cmake --preset bench "-DTIMELOOM_WERROR=${werror:+ON}" >/dev/null
cmake --build --preset bench
export BENCH_PROGRAMS="$PWD/build/bench/bench"
# shellcheck disable=SC2086 # one word an interpreter
exec "$driver" bench/run.py "$@" $interpreters
