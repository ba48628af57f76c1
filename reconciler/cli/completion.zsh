#compdef spark-reconcile
# For zsh: spark-reconcile completion zsh >"${fpath[1]}/_spark-reconcile"
_spark_reconcile() {
  local -a found
  found=(${(f)"$(spark-reconcile __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _spark_reconcile spark-reconcile
