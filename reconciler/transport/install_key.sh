# shellcheck shell=dash
# shellcheck disable=SC2153 # values of install_key
# Adds the public key KEY to this user's authorized_keys, as ssh-copy-id does. Prints what it did: added, or present.
install_key() {
  umask 077
  file=$HOME/.ssh/authorized_keys
  mkdir -p "$HOME/.ssh" || exit 1
  # Type and key; the comment behind them may differ.
  if cut -d ' ' -f 1,2 "$file" 2>/dev/null | grep -qxF -- "$(printf '%s' "$KEY" | cut -d ' ' -f 1,2)"; then
    echo present
    return
  fi
  # A last line without an end would swallow it.
  [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo >>"$file" || exit 1
  printf '%s\n' "$KEY" >>"$file" && echo added
}
install_key
