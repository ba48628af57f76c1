# shellcheck shell=dash
# Each of the files that are given as arguments, with "r" before those that are there and cannot be written, as in a
# container, and "-" before the others. find lets the kernel say so; the `[ -w` of some shells looks at the mode alone.
[ $# -gt 0 ] || return 0
newline='
'
read_only=$newline$(find "$@" -maxdepth 0 ! -writable 2>/dev/null)$newline
for file do
  case $read_only in
    *"$newline$file$newline"*) printf 'r %s\n' "$file" ;;
    *) printf -- '- %s\n' "$file" ;;
  esac
done
