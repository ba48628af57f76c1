# shellcheck shell=dash
# shellcheck disable=SC2010,SC2045 # generations are called by digits
# A frame per generation of the ledger, in order.
cd /var/lib/spark-reconcile/generations 2>/dev/null || exit 0
for file in $(ls | grep -x '[0-9]*\.json' | sort -n); do
  frame "${file%.json}"; cat "$file"
done
frame end
