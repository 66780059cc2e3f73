#!/bin/bash
# All ranks of a job of Slurm in one run: sbatch examples/slurm.sh app.py
#SBATCH --job-name=timeloom
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:10:00
# The run is woven by the rank that ends last: leave time for that. So that a job which is cancelled
# keeps what it has recorded, ranks are told a minute before the end.
#SBATCH --signal=TERM@60
set -eu

# On a file system that all nodes share.
output=${SLURM_SUBMIT_DIR:-$PWD}/run-${SLURM_JOB_ID:?start it with sbatch}

# srun starts the ranks; mpirun inside of a job does as well. Long jobs: --profile in place of a trace.
srun --kill-on-bad-exit=0 timeloom run --output "$output" "$@"

# Weaves what killed ranks have left, if the last of the others has not done so.
timeloom report --mpi "$output"
