#!/bin/sh
# The same experiment on every testbed of a Slurm pool, then one page with all of them.
#
# Each node of the pool has the generic resource testbed:1 (gres.conf: Name=testbed Count=1) and reaches
# the machines of testbeds/NODE.toml. A job that is requeued on its node goes on with its results.
set -eu
[ $# -eq 3 ] || { echo "usage: slurm-pool.sh EXPERIMENT TESTBEDS RESULTS" >&2; exit 2; }
experiment=$1 testbeds=$2 results=$3
mkdir -p "$results"
script=$results/job.sh
fwdlab slurm "$experiment" --testbeds "$testbeds" -o "$results" > "$script"
jobs=
for testbed in "$testbeds"/*.toml; do
    node=$(basename "$testbed" .toml)
    id=$(sbatch --parsable --nodelist="$node" --output="$results/$node.log" "$script")
    jobs=$jobs:${id%%;*}
done
# Waits for all of them, however they end.
srun --dependency="afterany$jobs" --nodes=1 --gres=none true
stem=$(basename "$experiment" .toml)
fwdlab merge "$results/$stem"-* -o "$results/$stem"
