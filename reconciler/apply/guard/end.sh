# shellcheck shell=dash
# Ends the apply whose journal is $J, for a controller that holds the node's lock.

# Not armed: nothing was changed.
revert_if_armed() {
  [ -e "$J/guard" ] || exit 0
  sh "$J/guard" revert
}

# Says "commit" where the apply ended so.
commit_unfinished() { sh "$J/guard" commit >&2 && echo commit; }
revert_unfinished() { sh "$J/guard" revert >&2; }
check_peers() {
  case $(sh "$J/guard" watch query) in
    commit) commit_unfinished ;;
    *) revert_unfinished ;;
  esac
}
