# shellcheck shell=dash
# Removes each of the packages $@ that no other package needs, and leaves the others. A plan may show the command, so that it is one line.
export LC_ALL=C; for name; do also=$(apt-get -s -q remove "$name" 2>/dev/null | awk '$1 == "Remv" { print $2 }'); [ "$also" != "$name" ] || DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 remove "$name" </dev/null || exit; done
