# shellcheck shell=dash
# Each of the files that are given as arguments, with "r" before those that are there and cannot be written, as in a
# container, and "-" before the others.
for file do
  if [ -e "$file" ] && [ ! -w "$file" ]; then printf 'r %s\n' "$file"
  else printf -- '- %s\n' "$file"; fi
done
