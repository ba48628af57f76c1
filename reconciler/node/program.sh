# shellcheck shell=dash
# shellcheck disable=SC2153 # values of upload
# A program that is brought to a node.

print_digest() { # PATH; nothing where there is no program
  [ ! -x "$1" ] || sha256sum <"$1" | cut -c1-64
}

# Brings a program to PROGRAM_PATH, whole or not at all: BASE64 is its bytes, DIGEST their SHA-256. Exit status 3: it does not start
# here, as on a libc that is older than what it was built for, or on a file system that is mounted noexec.
upload() {
  umask 077
  new=$PROGRAM_PATH.$$
  mkdir -p "${PROGRAM_PATH%/*}" || exit 1
  trap 'rm -f "$new"' EXIT
  printf '%s' "$BASE64" | base64 -d >"$new"
  found=$(sha256sum <"$new" | cut -c1-64)
  if [ "$found" != "$DIGEST" ]; then
    echo "wanted the digest $DIGEST, found $found" >&2
    exit 1
  fi
  chmod 700 "$new" || exit 1
  said=$("$new" --help 2>&1) || { printf '%s\n' "$said" >&2; exit 3; }
  mv -f "$new" "$PROGRAM_PATH"
}

# Takes a kept program for this run alone, so that no other run removes it meanwhile, and prints its digest.
claim_program() { # KEPT OWN
  [ ! -f "$1" ] || { touch "$1" && mv -f "$1" "$2"; }
  # Those of runs that ended without removing theirs.
  find "${2%/*}" -type f -name 'spark-verify-*' ! -path "$1" -mtime +0 -exec rm -f {} + 2>/dev/null
  print_digest "$2"
}

keep_program() { # OWN KEPT
  mv -f "$1" "$2"
}

remove_program() { # PATH FOLDER…; a folder goes if it is empty
  rm -f "$1"
  shift
  rmdir "$@" 2>/dev/null || :
}
