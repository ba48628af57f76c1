#!/bin/sh
# core_only.sh FOLDER [cmake option…]: builds reconciler_core alone in FOLDER on a machine without libssh (pkg-config
# finds nothing), and checks that nothing in the library asks for it.
# core_only.sh --self-test FOLDER: it can fail.
set -eu
root=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd)

hidden_cmake() { env -u PKG_CONFIG_PATH PKG_CONFIG_LIBDIR=/nonexistent cmake "$@"; }

# Undefined symbols of libssh; none is what we want.
ssh_symbols() { nm --undefined-only "$1" 2>/dev/null | sed -n 's/^ *U \(ssh_[a-z_0-9]*\|sftp_[a-z_0-9]*\)$/\1/p' | sort -u; }

if [ "$1" = --self-test ]; then
  rm -rf "$2"
  mkdir -p "$2"
  if hidden_cmake --preset dev -S "$root" -B "$2/whole" -DSPARK_TESTS=OFF >"$2/log" 2>&1; then
    echo 'self-test: wanted the whole program to need libssh, but it configures without' >&2
    exit 1
  fi
  grep -q "'libssh" "$2/log" || { echo 'self-test: wanted libssh in the reason, found:' >&2; cat "$2/log" >&2; exit 1; }
  printf 'int ssh_new(void); int Use(void); int Use(void) { return ssh_new(); }\n' | cc -x c -c -o "$2/uses.o" -
  ar rc "$2/uses.a" "$2/uses.o"
  [ "$(ssh_symbols "$2/uses.a")" = ssh_new ] || { echo 'self-test: wanted ssh_new to be found in a library' >&2; exit 1; }
  exit 0
fi

folder=$1
shift
hidden_cmake --preset core-only -S "$root" -B "$folder" -DSPARK_TESTS=OFF "$@" >/dev/null
cmake --build "$folder" --target reconciler_core
found=$(ssh_symbols "$folder/libreconciler_core.a")
[ -z "$found" ] || { printf 'wanted no libssh in reconciler_core, found:\n%s\n' "$found" >&2; exit 1; }
