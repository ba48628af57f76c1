# shellcheck shell=dash
# Lines that name a variable of NCCL, or one by which other libraries choose interfaces, wherever one may be set for the
# user $1 (empty: the one who logged in) and, if given, for the user $2. grep prints PATH, a NUL byte, LINE, a colon, the
# text. Each user reads the own files, since a link could lead root anywhere.
entries=$(getent passwd -- "${1:-${SUDO_USER:-root}}" ${2:+"$2"} 2>/dev/null)
self=$(id -u)
names='NCCL_|(GLOO|TP)_SOCKET_IFNAME|UCX_NET_DEVICES|OMPI_MCA_(btl|oob)_tcp_if_include'
{
  grep -asHnZE -D skip "$names" /etc/nccl.conf /etc/environment /etc/environment.d/*.conf /etc/profile /etc/profile.d/*.sh \
    /etc/bash.bashrc /etc/zsh/zshenv /etc/systemd/system/*.service /etc/systemd/system/*.d/*.conf /etc/systemd/system.conf \
    /etc/systemd/system.conf.d/*.conf /root/.nccl.conf /root/.profile /root/.bash_profile /root/.bash_login /root/.bashrc
  last=
  while IFS=: read -r _ _ uid gid _ home _; do
    [ -n "$home" ] || continue
    [ "$uid" != "$last" ] || continue
    last=$uid
    # shellcheck disable=SC2016 # for the user's own shell
    set -- sh -c 'exec grep -asHnZE -D skip "$1" "$2/.nccl.conf" "$2/.profile" "$2/.bash_profile" "$2/.bash_login" \
      "$2/.bashrc" "$2/.zshenv" "$2/.zprofile" "$2/.zshrc" "$2"/.config/environment.d/*.conf' sh "$names" "$home"
    [ "$self" != 0 ] || [ "${uid:-0}" = 0 ] || set -- setpriv --reuid "$uid" --regid "$gid" --init-groups -- "$@"
    "$@"
  done <<END
$entries
END
} | head -c 65536
