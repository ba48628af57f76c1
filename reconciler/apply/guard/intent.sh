# shellcheck shell=dash
# The node is ready to commit. J: the journal; PEERS, ROUNDS: see Peers. One call of add_document stands between
# begin_intent and record_intent for each file of the ledger.
begin_intent() { undecided && progress 0 && prepare && outside_is_whole rule && progress 0 || exit 1; }

documents= # their paths, which hold no blank
add_document() { # NAME TEXT
  # shellcheck disable=SC2034 # is_replaceable reads it
  T=$D/$1
  is_replaceable "$J/linked" || exit 1 # before any node commits; what is left of the link goes with the journal
  to=$J/documents/$1
  { [ -d "${to%/*}" ] || mkdir -p "${to%/*}"; } && printf '%s' "$2" >"$to" || exit 1
  documents="$documents $to"
}

record_intent() {
  # shellcheck disable=SC2086 # several paths
  printf '%s' "$PEERS" >"$J/peers" && echo "$ROUNDS" >"$J/rounds" && sync $documents "$J/peers" "$J/rounds" || exit 1
  undecided && true >"$J/intent" && sync "$J/intent" "$J" && progress 0 || exit 1
  beacons del proof
  [ ! -e "$J/proof" ] || true >"$J/proof" # there is nothing to take away any more
  show_beacons
  note 'ready to commit'
}
