# shellcheck shell=dash
# shellcheck disable=SC2153 # values of revoke_sudo
# As root: removes the drop-in FILE of sudoers, if its first line is MARK. Prints what it did: removed, absent or kept.
if [ ! -e "$FILE" ]; then echo absent
elif [ "$(head -n 1 "$FILE")" != "$MARK" ]; then echo kept
else rm -f -- "$FILE" && echo removed; fi
