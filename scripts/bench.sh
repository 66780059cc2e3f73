#!/bin/sh
# Measures Timeloom with every usable Python; writes bench/RESULTS.md.
# Arguments are those of bench/run.py.
set -eu
cd -- "$(dirname -- "$0")/.."

interpreters=$(python3 scripts/environments.py -r bench/requirements.txt)
# Any of them can drive the others.
driver=${interpreters%%
*}
# shellcheck disable=SC2086 # one word an interpreter
exec "$driver" bench/run.py "$@" $interpreters
