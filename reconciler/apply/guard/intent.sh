# shellcheck shell=dash
# The node is ready to commit. J: the journal; PEERS, ROUNDS: see Peers. One call of add_document stands between
# begin_intent and record_intent for each file of the ledger.
begin_intent() { undecided && progress 0 && prepare && outside_is_whole rule && progress 0 || exit 1; }

add_document() { # NAME TEXT
  to=$J/documents/$1
  mkdir -p "${to%/*}" && printf '%s' "$2" >"$to" && sync "$to" || exit 1
}

record_intent() {
  printf '%s' "$PEERS" >"$J/peers" && echo "$ROUNDS" >"$J/rounds" && sync "$J/peers" "$J/rounds" || exit 1
  undecided && true >"$J/intent" && sync "$J/intent" "$J" && progress 0 || exit 1
  beacons del proof
  show_beacons
  note 'ready to commit'
}
