"""Modules and drivers that a node of the lab seems to have. Nodes share the machine's kernel, and no test may load a module into that."""

# A modprobe and an rmmod of the node's own, which write what they did, and a /sys/module of which they are the only writers.
MODULES = r"""
set -e
mount -t tmpfs none /sys/module
cat >/usr/local/sbin/modprobe <<'END'
#!/bin/sh
for name do :; done
case $1 in
-n) [ "$name" != gone ] || { echo "modprobe: FATAL: Module gone not found in directory /lib/modules/6" >&2; exit 1; }
    echo "insmod /lib/modules/6/$name.ko" ;;
*) echo "modprobe $name" >>/run/modules.log; mkdir -p "/sys/module/$name"
   echo live >"/sys/module/$name/initstate"; echo 0 >"/sys/module/$name/refcnt" ;;
esac
END
cat >/usr/local/sbin/rmmod <<'END'
#!/bin/sh
echo "rmmod $1" >>/run/modules.log
rm -r "/sys/module/$1"
END
chmod 755 /usr/local/sbin/modprobe /usr/local/sbin/rmmod
"""
# The output of real drivers: a Spark's, and that of a card beside an HCA driver that knows peer memory.
DRIVER = r"""
set -e
mount -t tmpfs none /proc/driver
mkdir -p /proc/driver/nvidia/gpus/000f:01:00.0
echo 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build' >/proc/driver/nvidia/version
printf 'Model: \t\t NVIDIA %s\n' "$GPU" >/proc/driver/nvidia/gpus/000f:01:00.0/information
echo '0000000000000000 T ib_register_peer_memory_client [ib_core]' >/run/kallsyms
mount --bind /run/kallsyms /proc/kallsyms
"""
# The end of both, on one node.
NONE = """umount /proc/kallsyms /proc/driver /sys/module
rm -f /usr/local/sbin/modprobe /usr/local/sbin/rmmod /run/modules.log /run/kallsyms"""
