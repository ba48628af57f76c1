# shellcheck shell=dash
# shellcheck disable=SC2086
# Removes the packages $@ and nothing else: it fails where another package needs one of them. Those that are not there by now
# count as removed. Their files in /etc stay, as `apt-get remove` leaves them. A plan may show the command, so that it is one line.
export LC_ALL=C; list=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | awk '$2 != "not-installed" && $2 != "config-files" { print $1 }'); [ -n "$list" ] || exit 0; set -- $list; also=$(apt-get -s -q remove "$@" | awk '$1 == "Remv" { print $2 }' | grep -vxF "$list"); [ -z "$also" ] || { echo "needed by" $also >&2; exit 1; }; run() { DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 remove "$@"; }; run "$@" </dev/null && exit 0; dpkg --configure -a </dev/null; run "$@" </dev/null
