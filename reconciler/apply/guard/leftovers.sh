# shellcheck shell=dash
# shellcheck disable=SC2045 # journals are called by digits and dashes
# What earlier applies left undecided or unfinished, and which were finished, one line each: APPLY STATE.
for apply in $(ls -t "$D/journal" 2>/dev/null); do
  J=$D/journal/$apply
  [ -e "$J/revert" ] || continue
  case $(readlink "$J/decision"),$(cat "$J/state") in
    revert,reverted) ;;
    commit,finished) echo "$apply finished" ;;
    ,*) if [ -e "$J/intent" ]; then echo "$apply intent"; else echo "$apply none"; fi ;;
    *) echo "$apply $(readlink "$J/decision")" ;;
  esac
done
