#!/bin/sh
# Two programs under Timeloom, and the reports of both runs:
#   1. examples/stencil.py: NumPy, threads, regions of its own;
#   2. Sphinx building the project its own quickstart makes, a program that
#      knows nothing of Timeloom.
#
# PYTHON  the interpreter of an environment that has Timeloom installed; NumPy
#         and Sphinx are installed into it
# DEMO    where the runs are written, timeloom-demo unless set
set -eu

: "${PYTHON:?set PYTHON to the interpreter of the environment that has Timeloom}"
demo=${DEMO:-timeloom-demo}
examples=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
timeloom=$(dirname -- "$PYTHON")/timeloom

step() { printf '\n== %s\n' "$*"; }

# The head of a report; reads all of it, so that its writer is never cut off.
short_report() { "$timeloom" report "$@" | sed -n '1,44p'; }

step "Installing NumPy and Sphinx"
"$PYTHON" -m pip install --quiet --disable-pip-version-check -r "$examples/requirements.txt"
mkdir -p "$demo"

step "timeloom run examples/stencil.py"
"$timeloom" run --force -o "$demo/stencil" "$examples/stencil.py"
short_report "$demo/stencil" --depth 7 --min-percent 1

step "timeloom run -m sphinx: Sphinx builds its own quickstart"
rm -rf "$demo/docs"
"$PYTHON" -m sphinx.cmd.quickstart --quiet --no-sep --no-batchfile \
  --project Woven --author Timeloom --release 1 "$demo/docs" > "$demo/quickstart.log"
"$timeloom" run --force -o "$demo/sphinx" -m sphinx -q -b html "$demo/docs" "$demo/docs/_build"
test -s "$demo/docs/_build/index.html"
short_report "$demo/sphinx" --depth 9 --min-percent 3

step "Both runs"
printf '%s\n' "$demo/stencil" "$demo/sphinx"
printf 'Look further: %s report %s --sort exclusive\n' "$timeloom" "$demo/sphinx"
