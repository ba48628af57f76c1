"""A repository of apt on a node, of packages that are made there: real .deb files with the names, versions and relations that a test
wants, without content unless it gives some. apt and dpkg are the node's own."""

import base64
from typing import NamedTuple

# A flat repository needs no signature where it is trusted, and no dpkg-dev: its index is made here.
FUNCTIONS = r"""
set -e
file() { # PATH BASE64
  mkdir -p "/srv/build$(dirname "$1")"
  printf '%s' "$2" | base64 -d >"/srv/build$1"
  chmod 755 "/srv/build$1"
}
build() { # NAME VERSION DEPENDS FOLDER
  mkdir -p "$4" /srv/build/DEBIAN
  { printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: lab <lab@lab>\nDescription: a package of the lab\n' "$1" "$2"
    [ -z "$3" ] || echo "Depends: $3"; } >/srv/build/DEBIAN/control
  dpkg-deb --build /srv/build "$4/$1_$2.deb" >/dev/null
  rm -r /srv/build
}
index() { # DEB…
  for deb in "$@"; do
    dpkg-deb -f "$deb"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat -c %s "$deb")" "$(sha256sum "$deb" | cut -d' ' -f1)"
  done
}
"""
# A package of the node's own, with its files, relations and scripts, but not its empty folders.
REMOVED = r"""
take_out() { # NAME FOLDER
  mkdir -p "$2" /srv/build/DEBIAN
  dpkg-query -W -f 'Package: ${Package}\nVersion: ${Version}\nArchitecture: ${Architecture}\nMaintainer: ${Maintainer}\nDepends: ${Depends}\nDescription: ${Description}\n' "$1" \
    >/srv/build/DEBIAN/control
  find $(dpkg -L "$1") -maxdepth 0 ! -xtype d | sed 's,^/,,' | tar -C / -cT - | tar -C /srv/build -x
  for file in conffiles preinst postinst prerm postrm; do
    [ ! -e "/var/lib/dpkg/info/$1.$file" ] || cp "/var/lib/dpkg/info/$1.$file" "/srv/build/DEBIAN/$file"
  done
  dpkg-deb -Znone --build /srv/build "$2/$1.deb" >/dev/null
  rm -r /srv/build
  dpkg --purge "$1" >/dev/null
}
"""
ONLY_SOURCE = r"""
cd /srv/apt
index ./*.deb >Packages
mv /etc/apt/sources.list /etc/apt/sources.list.off 2>/dev/null || true
rm -f /etc/apt/sources.list.d/*
printf 'Types: deb\nURIs: file:/srv/apt\nSuites: ./\nTrusted: yes\n' >/etc/apt/sources.list.d/lab.sources
rm -f /etc/apt/apt.conf.d/*proxy*
apt-get -qq update
"""
# apt has the index of this one, and would fetch from it.
UNREACHABLE = r"""
printf 'Types: deb\nURIs: http://packages.invalid/apt\nSuites: ./\nTrusted: yes\n' >/etc/apt/sources.list.d/remote.sources
cd /srv/remote
index ./*.deb >/var/lib/apt/lists/packages.invalid_apt_._Packages
"""
INSTALLED = "dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\\n' | grep ' installed '; apt-mark showauto | sort"


class Package(NamedTuple):
    name: str
    version: str = "1.0"
    depends: str = ""
    programs: dict = {}  # the text of a script by its path on the node; none is changed


def make(packages, folder):
    lines = []
    for package in packages:
        for path, text in package.programs.items():
            lines.append(f"file {path} {base64.b64encode(text.encode()).decode()}\n")
        lines.append(f"build {package.name} {package.version} '{package.depends}' {folder}\n")
    return "".join(lines)


def repository(packages, unreachable=(), removed=()):
    """A script that makes these packages the only ones that apt knows, beside `unreachable` ones on a server that no node reaches. `removed`:
    names of packages that are installed until then, and are in the repository as they were."""
    script = FUNCTIONS + make(packages, "/srv/apt")
    if removed:
        script += REMOVED + "".join(f"take_out {name} /srv/apt\n" for name in removed)
    script += ONLY_SOURCE
    return script + make(unreachable, "/srv/remote") + UNREACHABLE if unreachable else script
