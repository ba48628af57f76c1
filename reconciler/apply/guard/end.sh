# shellcheck shell=dash
# Ends the apply whose journal is $J, for a controller that holds the node's lock.

# Says on stderr what the commit said. What it kept stands in the log too: the node may have tried before.
commit_and_say() {
  sh "$J/guard" commit >&2 || return
  grep -e ' was changed by another program: its text is kept in ' "$J/revert.log" >&2 2>/dev/null
  return 0
}

# Says on stderr what the revert said. Before it stands what the log has: the node may have reverted on its own, and a try
# before this one may have kept something. Where the log takes no write, this one is not in it.
revert_and_say() {
  said=$(sh "$J/guard" revert)
  ended=$?
  [ $ended != 0 ] || {
    # Only the first of many tries may say this.
    grep -e ' was changed by another program: its text is kept in ' -e ' is gone: there is nothing to restore' \
      -e '^kernel settings that did not stay: ' -e '^lost since the apply began: ' "$J/revert.log" >&2 2>/dev/null
    tail -n 200 "$J/revert.log" >&2 2>/dev/null
  }
  [ -z "$said" ] || printf '%s\n' "$said" >&2
  return $ended
}

# Not armed: nothing was changed.
revert_if_armed() {
  [ -e "$J/guard" ] || exit 0
  revert_and_say
}

# Says "commit" where the apply ended so.
commit_unfinished() { commit_and_say && echo commit; }
revert_unfinished() { revert_and_say; }
check_peers() {
  case $(sh "$J/guard" watch query) in
    commit) commit_unfinished ;;
    *) revert_unfinished ;;
  esac
}
