# shellcheck shell=dash
# shellcheck disable=SC2154 # functions of journal.sh
# shellcheck disable=SC2013 # journals are called by digits and dashes
# What earlier applies left undecided, or decided and not carried out, and which were finished, newest first, one line each: APPLY STATE. What
# came before a committed one and is not committed itself can neither be reverted nor committed any more.
is_superseded=false
newline='
'
# As a rule all have ended, and no program is needed to say so: what is finished was committed, what is reverted was not.
list_ended() { # non-zero: one has not
  ended=
  for J in "$D"/journal/*; do
    [ -e "$J/guard" ] && [ -e "$J/order" ] || continue
    ! is_volatile || return 1
    read_text "$J/state"
    case $text in
      finished) [ -L "$J/decision" ] && ended="$ended${J##*/} finished$newline" || return 1 ;;
      reverted) ;;
      *) return 1 ;;
    esac
  done
  printf '%s' "$ended"
}
! list_ended || exit 0
# Every journal's decision in one look: "JOURNAL commit" or "JOURNAL revert", a line each.
decisions=$newline$(find "$D/journal" -maxdepth 2 -name decision -type l -printf '%h %l\n' 2>/dev/null)$newline
for J in $(grep -sH '' "$D"/journal/*/order | sort -t : -k 2 -rn | cut -d : -f 1); do
  J=${J%/order}; apply=${J##*/}
  [ -e "$J/guard" ] || continue
  decision=
  if is_volatile; then decision=revert
  else
    case $decisions in *"$newline$J "*) decision=${decisions#*"$newline$J "}; decision=${decision%%"$newline"*} ;; esac
  fi
  read_state
  case $decision,$text in
    revert,reverted) ! is_volatile || echo "$apply revert" ;;
    commit,finished) echo "$apply finished" ;;
    commit,committed) echo "$apply commit" ;;
    ,*) $is_superseded || if [ -e "$J/intent" ]; then echo "$apply intent"; else echo "$apply none"; fi ;;
    *) $is_superseded || echo "$apply $decision" ;;
  esac
  [ "$decision" != commit ] || is_superseded=true
done
