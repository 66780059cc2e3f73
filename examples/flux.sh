#!/bin/bash
# All ranks of a job of Flux in one run: flux batch -N 2 -n 8 -t 10m examples/flux.sh app.py
#
# Written after the documentation of Flux and untried: there was none to try it with. Flux gives its
# ranks PMI_RANK and PMI_SIZE where its PMI is the simple one, and FLUX_JOB_ID of the job inside the
# batch, which names the job here for all of its ranks.
set -eu

output=$PWD/run-${FLUX_JOB_ID:-batch}

# FLUX_JOB_ID of the ranks is the id of `flux run`; the name is given before, so that all have the same.
TIMELOOM_JOB=$output flux run -N "${NODES:-2}" -n "${RANKS:-8}" -o pmi=simple timeloom run --mpi --output "$output" "$@"

timeloom report --mpi "$output"
