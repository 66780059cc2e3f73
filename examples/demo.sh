#!/bin/sh
# Two programs under Timeloom; the answer and a picture of each:
#   1. examples/stencil.py: NumPy, threads, regions of its own;
#   2. Sphinx building the project its own quickstart makes, a program that
#      knows nothing of Timeloom.
#
# PYTHON  the interpreter of an environment that has Timeloom, and the packages
#         of examples/requirements.txt
# DEMO    where the runs are written, timeloom-demo unless set
set -eu

: "${PYTHON:?set PYTHON to the interpreter of the environment that has Timeloom}"
demo=${DEMO:-timeloom-demo}
examples=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
timeloom=$(dirname -- "$PYTHON")/timeloom
mkdir -p "$demo"

# measured NAME PROGRAM...: runs the program, prints the answer of one screen, writes the picture.
measured() {
  run=$demo/$1
  shift
  printf '\n$ timeloom run -o %s %s\n' "$run" "$*"
  "$timeloom" run --quiet --force -o "$run" "$@"
  printf '$ timeloom report %s\n' "$run"
  COLUMNS=80 LINES=25 "$timeloom" report "$run"
  "$timeloom" view "$run" --html "$run.html" --force 2>"$demo/view.log" || { cat "$demo/view.log" >&2; exit 1; }
  printf 'The timeline, for a browser: %s\n' "$run.html"
}

measured stencil "$examples/stencil.py"

rm -rf "$demo/docs"
"$PYTHON" -m sphinx.cmd.quickstart --quiet --no-sep --no-batchfile \
  --project Woven --author Timeloom --release 1 "$demo/docs" >"$demo/quickstart.log"
measured sphinx -m sphinx -q -b html "$demo/docs" "$demo/docs/_build"
test -s "$demo/docs/_build/index.html"

cat <<NEXT

Try next:
  $timeloom run your_program.py
  $timeloom report $demo/sphinx --by package
  $timeloom view $demo/stencil
NEXT
