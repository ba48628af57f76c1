# shellcheck shell=dash
# shellcheck disable=SC2010 # generations are called by digits
# Below $D: writes the generation $N with $DOCUMENT where it is missing, though the node itself had nothing to change, so
# that all nodes remember the same, and then replaces the ledger by $LEDGER, unless that is empty; nothing on a node without
# a ledger. Then removes what no rollback needs: all but the newest $MOST, and but the newest one whose manifest is not that
# of the newest of all.
put() { printf '%s' "$2" >"$1.new"; }
[ -e "$D/ledger.json" ] || exit 0
{ [ -d "$D/generations" ] || mkdir -p "$D/generations"; } && cd "$D/generations" || exit 1
if [ ! -e "$N.json" ] && [ -z "$LEDGER" ]; then
  put "$N.json" "$DOCUMENT" && sync "$N.json.new" && mv -f "$N.json.new" "$N.json" && sync . || exit 1
elif [ ! -e "$N.json" ]; then
  put "$N.json" "$DOCUMENT" && put ../ledger.json "$LEDGER" && sync "$N.json.new" ../ledger.json.new &&
    mv -f "$N.json.new" "$N.json" && mv -f ../ledger.json.new ../ledger.json && sync . .. || exit 1
fi
set -- [0-9]*.json
[ $# -gt "$MOST" ] || exit 0

digests="
$(grep -osm 1 '"manifest_digest": "[^"]*"' -- *.json /dev/null)
"
# Into `digest`, that of the manifest of a generation.
find_digest() { # NUMBER
  digest=${digests#*"
$1.json:\"manifest_digest\": \""}
  case $digest in "$digests") digest='' ;; *) digest=${digest%%'"'*} ;; esac
}
count=0 newest='' differs='' useless=''
for number in $(ls | grep -x '[0-9]*\.json' | sort -rn); do
  number=${number%.json}
  count=$((count + 1))
  find_digest "$number"
  [ $count != 1 ] || newest=$digest
  if [ $count -le "$MOST" ]; then
    [ -n "$differs" ] || [ "$digest" = "$newest" ] || differs=$number
  elif [ -z "$differs" ] && [ "$digest" != "$newest" ]; then differs=$number
  else useless="$useless $number.json"; fi
done
# shellcheck disable=SC2086 # several files
[ -z "$useless" ] || rm -f -- $useless
