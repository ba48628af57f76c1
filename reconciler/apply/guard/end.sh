# shellcheck shell=dash
# Ends the apply whose journal is $J, for a controller that holds the node's lock.

# Not armed: nothing was changed.
revert_if_armed() {
  [ -e "$J/revert" ] || exit 0
  sh "$J/revert"
}

# Says "commit" where the leftover ended so.
commit_leftover() { sh "$J/commit" >&2 && echo commit; }
revert_leftover() { sh "$J/revert" >&2; }
check_peers() {
  case $(sh "$J/watch" query) in
    commit) commit_leftover ;;
    *) revert_leftover ;;
  esac
}
