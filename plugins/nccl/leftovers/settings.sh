# shellcheck shell=dash
# Lines that name a variable of NCCL, or one by which other libraries choose interfaces, wherever one may be set for the
# user $1 (empty: the one who logged in). grep prints PATH, a NUL byte, LINE, a colon, the text. The user reads the own
# files, since a link could lead root anywhere.
entry=$(getent passwd -- "${1:-${SUDO_USER:-root}}" 2>/dev/null)
IFS=: read -r _ _ uid gid _ home _ <<END
$entry
END
names='NCCL_|(GLOO|TP)_SOCKET_IFNAME|UCX_NET_DEVICES|OMPI_MCA_(btl|oob)_tcp_if_include'
{
  grep -asHnZE -D skip "$names" /etc/nccl.conf /etc/environment /etc/environment.d/*.conf /etc/profile /etc/profile.d/*.sh \
    /etc/bash.bashrc /etc/systemd/system/*.service /etc/systemd/system/*.d/*.conf /etc/systemd/system.conf \
    /etc/systemd/system.conf.d/*.conf /root/.nccl.conf /root/.profile /root/.bash_profile /root/.bashrc
  set -- grep -asHnZE -D skip "$names" "$home/.nccl.conf" "$home/.profile" "$home/.bash_profile" "$home/.bashrc"
  [ "$(id -u)" != 0 ] || [ "${uid:-0}" = 0 ] || set -- setpriv --reuid "$uid" --regid "$gid" --init-groups -- "$@"
  "$@"
} | head -c 65536
