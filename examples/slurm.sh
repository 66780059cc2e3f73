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

# srun starts the ranks, with MPI by what the site has set; else say it: --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH.
# Where the cluster has none that the library knows, mpirun in place of srun. Long jobs: --profile in place of a trace.
status=0
srun --kill-on-bad-exit=0 timeloom run --output "$output" "$@" || status=$?

# Weaves what killed ranks have left, if the last of the others has not done so. With MPI: report --mpi.
timeloom report "$output"
exit "$status"
