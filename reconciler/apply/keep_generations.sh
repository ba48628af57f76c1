# shellcheck shell=dash
# shellcheck disable=SC2010 # generations are called by digits
# Below $D: writes the generation $N with $DOCUMENT where it is missing, though the node itself had nothing to change, so
# that all nodes remember the same; nothing on a node without a ledger. Then removes what no rollback needs: all but the
# newest $MOST, and but the newest one whose manifest is not that of the newest of all.
[ -e "$D/ledger.json" ] || exit 0
mkdir -p "$D/generations" && cd "$D/generations" || exit 1
[ -e "$N.json" ] || { printf '%s' "$DOCUMENT" >"$N.json.new" && sync "$N.json.new" && mv -f "$N.json.new" "$N.json"; } || exit 1

digest() { sed -n 's/^ *"manifest_digest": "\([^"]*\)".*/\1/p' "$1.json" | head -n 1; }
count=0 newest='' differs=''
for number in $(ls | grep -x '[0-9]*\.json' | sort -rn); do
  number=${number%.json}
  count=$((count + 1))
  [ $count != 1 ] || newest=$(digest "$number")
  if [ $count -le "$MOST" ]; then
    [ -n "$differs" ] || [ "$(digest "$number")" = "$newest" ] || differs=$number
  elif [ -z "$differs" ] && [ "$(digest "$number")" != "$newest" ]; then differs=$number
  else rm -f -- "$number.json"; fi
done
sync .
