#!/bin/sh
# Compares the nodes with a manifest. METRICS gets metrics for the textfile collector of node_exporter, and must end in
# .prom; JUNIT gets one test per node. Exit code: that of spark-reconcile. Where nothing was compared, no file is written.
set -eu

[ $# = 2 ] || [ $# = 3 ] || { echo "usage: drift.sh MANIFEST METRICS [JUNIT]" >&2; exit 1; }

exec spark-reconcile drift "$1" --brief --prometheus "$2" ${3:+--junit "$3"}
