#!/bin/sh
# Fifty trials, four at a time: sbatch slurm.sh, in this directory. FBO_URL and FBO_TOKEN are
# set where sbatch is called; the file of the token has to be on a shared disk.
#SBATCH --job-name=fbo
#SBATCH --array=0-49%4
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -eu
# A job that is requeued keeps both numbers, and so gets its trial again.
export FBO_CLIENT="slurm $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID"
# exec, so that the signal a minute before the time limit reaches the worker.
exec python3 worker.py task.yaml -- \
    python3 train.py --rate '{rate}' --steps '{steps}' --momentum '{momentum}'
