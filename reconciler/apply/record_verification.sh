# shellcheck shell=dash
# Replaces the generation's file $F by $DOCUMENT, where there is such a generation.
[ -e "$F" ] || exit 0
printf '%s' "$DOCUMENT" >"$F.new" && sync "$F.new" && mv -f "$F.new" "$F" && sync "${F%/*}"
