# shellcheck shell=dash
# shellcheck disable=SC2034 # T is the answer
# resolve PATH ROOT: sets T to the path with ~USER's home put in and ROOT before it, or to nothing when the node has no
# such user. Each user's home is looked up once and reported on stderr as "home USER DIRECTORY".
home_user=
resolve() {
  case "$1" in
    '~'*)
      u=${1#'~'}; u=${u%%/*}
      if [ "$u" != "$home_user" ]; then
        home=; home_user=$u
        IFS=: read -r _ _ _ _ _ home _ <<EOF
$(getent passwd -- "$u")
EOF
        printf 'home %s %s\n' "$u" "$home" >&2
      fi
      if [ -n "$home" ]; then T=$2$home/${1#*/}; else T=; fi ;;
    *) T=$2$1 ;;
  esac
}
