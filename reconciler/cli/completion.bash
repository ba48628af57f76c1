# shellcheck shell=bash
# For bash: spark-reconcile completion bash >/etc/bash_completion.d/spark-reconcile
_spark_reconcile() {
  local found
  found=$(spark-reconcile __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _spark_reconcile spark-reconcile
