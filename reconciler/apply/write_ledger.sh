# shellcheck shell=dash
# Replaces the ledger's two files below $D by $OWNED and $LEDGER.
put() { printf '%s' "$2" >"$1.new" && sync "$1.new" && mv -f "$1.new" "$1"; }
put "$D/owned" "$OWNED" && put "$D/ledger.json" "$LEDGER" && sync "$D"
