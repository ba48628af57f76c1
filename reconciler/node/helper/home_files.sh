# shellcheck shell=dash
# What is done below a user's home: HOME VERB ARG…, started by in_home of home_path.sh. Paths are relative to the home, and
# no symbolic link is followed: folders are entered one by one, and names are used from the entered folder only.
#
# The user can change every name at any moment, between a look and an open too. That is safe because this process has that
# user's rights and no others: whatever a change leads it to, the user may read or write without us. So nothing here may
# ever run as root for another user's home, and root trusts nothing that this process says beyond that user's own files.
#
# The answer is on stdout: `ok`, or why not; `read` and `fetch` say what theirs is.
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
home=$1; verb=$2; shift 2
make=

# Enters the folder of PATH; `name` is what is looked for there. Where it cannot: `state` is L (a link), O (no folder), U (no
# permission) or D (not there), and `at` names the component, `.` for the home itself.
enter() { # PATH
  at=.; state=U; rest=$1
  cd -P -- "$home" || return 1
  at=
  while [ "${rest#*/}" != "$rest" ]; do
    part=${rest%%/*}; rest=${rest#*/}; at=$at${at:+/}$part; into=${PWD%/}/$part
    if [ -n "$make" ] && [ ! -e "./$part" ] && [ ! -L "./$part" ]; then mkdir -- "./$part" && sync .; fi
    if [ -L "./$part" ]; then state=L
    elif [ -d "./$part" ]; then
      state=U
      # Where a link took the folder's place meanwhile, this is another one.
      if cd -P -- "./$part"; then state=F; [ "$PWD" = "$into" ] || state=L; fi
    elif [ -e "./$part" ]; then state=O
    else state=D; fi
    [ $state = F ] || return 1
  done
  name=./$rest
}

# The same, and `state` says what is there; F is a regular file that can be read.
find_file() { # PATH
  enter "$1" || return 0
  at=$1
  if [ -L "$name" ]; then state=L
  elif [ -f "$name" ]; then if [ -r "$name" ]; then state=F; else state=U; fi
  elif [ -e "$name" ]; then state=O
  else state=D; fi
}

refuse() { printf '%s\n' "$1"; exit 1; }
refuse_state() { # PATH
  case $state in
    L) refuse "$home/$at is a symbolic link: it is not followed" ;;
    O) if [ "$at" = "$1" ]; then refuse "$home/$at is not a regular file"; else refuse "$home/$at is not a directory"; fi ;;
    U) if [ "$at" = . ]; then refuse "the home $home cannot be entered"; else refuse "$home/$at: permission denied"; fi ;;
    D) refuse "$home/$at is not there" ;;
  esac
}

# Per file two records, "STATE PATH" and the component that STATE is about; an empty record; the readable files as a tar
# archive, where the length that stands before a file's bytes holds whatever becomes of the file meanwhile; tar's status.
read_files() { # PATH…
  for path do
    shift
    find_file "$path"
    printf '%s %s\0%s\0' "$state" "$path" "$at"
    [ $state != F ] || set -- "$@" "$path"
  done
  printf '\0'
  cd -P -- "$home" || exit 1
  [ $# -eq 0 ] || tar -c -f - --format=gnu --no-recursion --hard-dereference -- "$@"
  printf 'exit %s' $?
}

# "file MODE GROUP SIZE MTIME" and the bytes, or "absent COMPONENT", the first one that is not there. It is refused where the
# user could not make the file again as it is.
fetch() { # PATH MOST
  find_file "$1"
  case $state in
    F) ;;
    D) printf 'absent %s\n' "$at"; exit 0 ;;
    *) refuse_state "$1" ;;
  esac
  [ -O "$name" ] || refuse "$home/$at belongs to $(stat -c %U -- "$name"), wanted $(id -un)"
  group=$(stat -c %g -- "$name")
  case " $(id -G) " in *" $group "*) ;; *) refuse "$home/$at has the group $(stat -c %G -- "$name"), which $(id -un) is not in" ;; esac
  size=$(stat -c %s -- "$name")
  [ "$size" -le "$2" ] || refuse "$home/$at is larger than 1 MiB"
  stat -c 'file %a %g %s %.Y' -- "$name"
  dd if="$name" iflag=nofollow,nonblock bs=64k status=none
}

# Is it the file whose bytes come on stdin? `differs`: it is not.
compare() { # PATH 'MODE UID GID'
  find_file "$1"
  case $state in
    F) if [ "$(stat -c '%a %u %g' -- "$name")" != "$2" ] || ! cmp -s - "$name"; then refuse differs; fi ;;
    D) refuse differs ;;
    *) refuse_state "$1" ;;
  esac
}

find_nothing() { # PATH
  find_file "$1"
  case $state in D) ;; F) refuse differs ;; *) refuse_state "$1" ;; esac
}

# The bytes on stdin are the file, at once or not at all.
put() { # PATH MODE GROUP SIZE MTIME
  make=1
  find_file "$1"
  case $state in F | D) [ "$at" = "$1" ] || refuse_state "$1" ;; *) refuse_state "$1" ;; esac
  new=$(mktemp ./.spark-reconcile.XXXXXXXXXX) || exit 1
  trap 'rm -f -- "$new"' EXIT
  cat >"$new"
  [ "$(stat -c %s -- "$new")" = "$4" ] || refuse "$home/$1 could not be written whole"
  chgrp -- "$3" "$new" && chmod -- "$2" "$new" && touch -d "@$5" -- "$new" && sync "$new" &&
    mv -fT -- "$new" "$name" && trap - EXIT && sync . || exit 1
}

# The same where there is no room for a copy: what is not longer than the file needs no new block.
overwrite() { # PATH MODE GROUP SIZE MTIME
  find_file "$1"
  [ $state = F ] || refuse_state "$1"
  [ "$4" -le "$(stat -c %s -- "$name")" ] || refuse "$home/$1: no room"
  dd of="$name" oflag=nofollow conv=notrunc,nocreat bs=64k iflag=fullblock status=none && truncate -s "$4" -- "$name" &&
    chgrp -- "$3" "$name" && chmod -- "$2" "$name" && touch -d "@$5" -- "$name" && sync "$name" || exit 1
}

remove() { # PATH
  find_file "$1"
  case $state in F) rm -f -- "$name" && sync . || exit 1 ;; D) ;; *) refuse_state "$1" ;; esac
}

# Takes away what a write left that was cut off, and the folders from the component FIRST on, where they are empty.
tidy() { # PATH FIRST
  find_file "$1"
  [ "$at" = "$1" ] || return 0
  rm -f -- ./.spark-reconcile.??????????
  cd -P -- "$home" || return 0
  folder=$1
  while [ "$folder" != "$2" ] && [ "${folder%/*}" != "$folder" ]; do
    folder=${folder%/*}
    case $folder in "$2" | "$2"/*) rmdir -- "./$folder" 2>/dev/null || return 0 ;; *) return 0 ;; esac
  done
}

case $verb in
  read) read_files "$@"; exit ;;
  fetch) fetch "$@"; exit ;;
esac
exec 2>&1
"$verb" "$@"
echo ok
