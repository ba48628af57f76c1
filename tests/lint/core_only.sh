#!/bin/sh
# core_only.sh FOLDER PROGRAM [cmake option…]: PROGRAM is all of reconciler_core linked with nothing else. Checks what it
# loads and calls: nothing that reaches a node, a GPU or an RDMA device, no threads, no files, no descriptors. The pure part
# alone is configured in FOLDER on a machine without libssh (pkg-config finds nothing).
# core_only.sh --self-test FOLDER: it can fail.
set -eu
root=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd)

hidden_cmake() { env -u PKG_CONFIG_PATH PKG_CONFIG_LIBDIR=/nonexistent cmake "$@"; }

# What pure code may load, and what it must not call.
allowed='lib(fmt|yaml-cpp|crypto|stdc\+\+|m|gcc_s|c)\.so[.0-9]*|ld-linux[-a-z0-9_]*\.so[.0-9]*'
strange_libraries() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Evx "$allowed" || :; }
thread_symbols() { nm --undefined-only "$1" | grep -oE 'pthread_create|_ZNSt6thread[A-Za-z0-9_]*' | sort -u || :; }
file_calls='\<(poll|ppoll|select|read|write|open|openat|fopen|stat|opendir|socket)@'
file_types='_ZNSt10filesystem[A-Za-z0-9_]*|_ZNSt1[0-9]basic_(ifstream|ofstream|fstream|filebuf)[A-Za-z0-9_]*'
file_symbols() { nm --undefined-only "$1" | grep -oE "$file_calls|$file_types" | sort -u || :; }

if [ "$1" = --self-test ]; then
  rm -rf "$2"
  mkdir -p "$2"
  if hidden_cmake --preset dev -S "$root" -B "$2/whole" -DSPARK_TESTS=OFF >"$2/log" 2>&1; then
    echo 'self-test: wanted the whole program to need libssh, but it configures without' >&2
    exit 1
  fi
  grep -q "'libssh" "$2/log" || { echo 'self-test: wanted libssh in the reason, found:' >&2; cat "$2/log" >&2; exit 1; }
  printf '#include <thread>\nint ssh_init();\nint main() { std::thread([] {}).join(); return ssh_init(); }\n' >"$2/uses.cpp"
  printf 'extern "C" { int ssh_init(void) { return 0; } }\n' >"$2/ssh.cpp"
  c++ -shared -fPIC -Wl,-soname,libssh.so.4 -o "$2/libssh.so.4" "$2/ssh.cpp"
  sed -i 's/^int ssh_init/extern "C" int ssh_init/' "$2/uses.cpp"
  c++ -o "$2/uses" "$2/uses.cpp" "$2/libssh.so.4"
  [ "$(strange_libraries "$2/uses")" = libssh.so.4 ] || { echo 'self-test: wanted libssh.so.4 to be found' >&2; exit 1; }
  [ -n "$(thread_symbols "$2/uses")" ] || { echo 'self-test: wanted a thread to be found' >&2; exit 1; }
  printf '#include <poll.h>\nint main() { return poll(nullptr, 0, 0); }\n' >"$2/waits.cpp"
  c++ -o "$2/waits" "$2/waits.cpp"
  [ "$(file_symbols "$2/waits")" = poll@ ] || { echo 'self-test: wanted poll to be found' >&2; exit 1; }
  printf '#include <fstream>\nint main() { return std::ifstream("a").get(); }\n' >"$2/reads.cpp"
  c++ -o "$2/reads" "$2/reads.cpp"
  [ -n "$(file_symbols "$2/reads")" ] || { echo 'self-test: wanted a file to be found' >&2; exit 1; }
  exit 0
fi

folder=$1
program=$2
shift 2
hidden_cmake --preset core-only -S "$root" -B "$folder" -DSPARK_TESTS=OFF "$@" >/dev/null
found=$(strange_libraries "$program"; thread_symbols "$program"; file_symbols "$program")
[ -z "$found" ] || { printf 'wanted pure code in reconciler_core, found that it needs:\n%s\n' "$found" >&2; exit 1; }
