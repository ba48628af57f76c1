# shellcheck shell=dash
# The queue pairs of all RDMA devices, as JSON. Where there is no device no process is needed to say that.
set -- /sys/class/infiniband/*
[ -e "$1" ] || { echo '[]'; return 0; }
rdma -j resource show qp
return $?
