"""What each step of a guide leaves on the nodes: the rows of docs/guides.md that name `test_guides`, by the text of their first
column. tests/lint/guides.py holds the page and this table together.

A check is a function of the running test. Node 1 is the first node of a manifest, and commands run as the user that logs in."""

import json

ENV = "/etc/profile.d/60-spark-reconcile-nccl.sh"
NETPLAN = "/etc/netplan/60-spark-reconcile.yaml"
CUDA = '{"cuda": {"name": "CUDA SDK", "version": "%s"}}'
CUDA_FILE = "/usr/local/cuda/version.json"


def shows(command, wanted, node=1):
    def check(test):
        test.assertEqual(test.user(node, command), wanted, command)
    return check


def variable(name, wanted, node=1):
    """As a login shell has it, and as services and containers are given it."""
    def check(test):
        test.assertEqual(test.user(node, f'bash -lc "printenv {name}; true"'), wanted, name)
        test.assertEqual(test.user(node, f"sed -n 's/^{name}=//p' /etc/spark-reconcile/nccl.env"), wanted, name)
    return check


def has(netdev, mtu, *addresses):
    """The port on both nodes, each with its own address for good, by which the other node answers a packet of full size."""
    def check(test):
        for node, address in enumerate(addresses, 1):
            shown = test.user(node, f"ip -4 address show dev {test.name_of(node, netdev)}")
            test.assertIn(f" mtu {mtu} ", shown)
            test.assertIn(f"inet {address}/24 ", shown)
            test.assertNotIn(" dynamic ", shown)
        test.lab.sh(1, f"ping -c 1 -W 2 -M do -s {mtu - 28} -I {netdev} {addresses[1]}")
    return check


def link_local(netdev, mtu):
    def check(test):
        for node in (1, 2):
            shown = test.user(node, f"ip -4 address show dev {netdev}")
            test.assertIn(f" mtu {mtu} ", shown)
            test.assertIn("inet 169.254.", shown)
    return check


def installed(*names):
    """Empty packages of these names, by the node's apt and dpkg."""
    def check(test):
        for node in (1, 2):
            shown = test.user(node, "dpkg-query -W -f '${Package} ${db:Status-Status}\\n' " + " ".join(names))
            test.assertEqual(sorted(shown.splitlines()), sorted(f"{name} installed" for name in names))
    return check


def logs_in(node, *names):
    """From that node, with its host key known: no name and no address is a new one to ssh."""
    def check(test):
        for name in names:
            command = f"ssh -n -o BatchMode=yes -o StrictHostKeyChecking=yes {name} hostname"
            test.assertEqual(test.user(node, command), f"spark-{3 - node}", command)
    return check


def left_alone(netdev, *addresses):
    """Configured by nothing of ours; with the address on each node that it had before."""
    def check(test):
        for node in (1, 2):
            shown = test.user(node, f"ip -4 -br address show dev {netdev}").split()[2:]
            test.assertEqual(shown, [f"{addresses[node - 1]}/24"] if addresses else [])
            test.assertNotIn(netdev, test.lab.sh(node, f"cat {NETPLAN}"))
    return check


def is_down(*netdevs):
    def check(test):
        for node in (1, 2):
            for netdev in netdevs:
                test.assertEqual(test.user(node, f"echo $(($(cat /sys/class/net/{netdev}/flags) & 1))"), "0", netdev)
    return check


def too_old(tool, wanted, found):
    """An older one is named; nothing is named where all have what the manifest wants, since each plan is looked at."""
    def check(test):
        test.lab.sh(2, f"cp {CUDA_FILE} /run/version.json; printf '%s' '{CUDA % found}' >{CUDA_FILE}")
        found_now = [(one["code"], one["message"], one["nodes"]) for one in test.plan(test.manifest)["diagnostics"]
                     if one["code"].startswith("packages-")]
        test.lab.sh(2, f"cp /run/version.json {CUDA_FILE}")
        test.assertEqual(found_now, [("packages-tool-too-old", f"{tool}: wanted {wanted} or later, found {found}", [test.names[1]])])
    return check


NCCL_FOLDER = "/opt/spark-reconcile/nccl/v2.28.3-1-sm_121"
NCCL_STAMP = "v2.28.3-1 https://github.com/NVIDIA/nccl.git 121"
BUILDS = "wc -l </var/log/lab-builds"
# What a program maps that has libnccl.so.2 loaded.
LOADED = "LD_PRELOAD=libnccl.so.2 grep -o '/[^ ]*libnccl[^ ]*' /proc/self/maps | sort -u"


def nccl_is_built(test):
    """By the plugin's own commands, with git, make, g++, nvcc and nvidia-smi that stand in: nothing is compiled."""
    for node in (1, 2):
        test.assertEqual(test.user(node, f"sed -n 1p {NCCL_FOLDER}/built"), NCCL_STAMP)
        test.assertEqual(test.user(node, f"sed -n 2p {NCCL_FOLDER}/built | wc -c"), "41")
        test.assertEqual(test.user(node, LOADED), f"{NCCL_FOLDER}/lib/libnccl.so.2.28.3")
        test.assertEqual(test.user(node, f"ls -d {NCCL_FOLDER}*; ls {NCCL_FOLDER}").split(), [NCCL_FOLDER, "built", "include", "lib"])
        test.assertEqual(test.user(node, BUILDS), "1")


def nccl_is_not_built_again(test):
    """Neither by an apply, nor where the tools are gone; but where the stamp says that something else was built."""
    test.spark("apply", test.manifest, "--yes", "--no-verify", expect=0)
    test.lab.sh(1, "mv /usr/bin/make /usr/bin/make.off")
    test.assert_empty_plan(test.manifest)
    test.lab.sh(1, "mv /usr/bin/make.off /usr/bin/make")
    test.assertEqual([test.user(node, BUILDS) for node in (1, 2)], ["1", "1"])
    test.lab.sh(2, f"sed -i '1s/^v2.28.3-1/v2.27.7-1/' {NCCL_FOLDER}/built")
    test.assertEqual(test.changes(test.plan(test.manifest)), [(test.names[1], "nccl", NCCL_FOLDER)])
    test.spark("apply", test.manifest, "--yes", "--no-verify", expect=0)
    test.assertEqual([test.user(node, BUILDS) for node in (1, 2)], ["1", "2"])
    test.assertEqual(test.user(2, f"sed -n 1p {NCCL_FOLDER}/built"), NCCL_STAMP)
    test.assert_empty_plan(test.manifest)


# Units of the same kind as the guide's: at each boot one turns ports off, and the other sets what the fabric has.
SERVICES = r"""
set -e
service() { # NAME; its script is read
  cat >"/usr/local/bin/$1.sh"
  chmod 755 "/usr/local/bin/$1.sh"
  printf '[Unit]\nAfter=network.target\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/local/bin/%s.sh\n[Install]\nWantedBy=multi-user.target\n' \
    "$1" >"/etc/systemd/system/$1.service"
  systemctl -q enable "$1.service"
}
service disable-unused-nics <<'END'
#!/bin/bash
for port in enp1s0f0np0 enp1s0f1np1 enP2p1s0f1np1; do
  ip link set dev "$port" down 2>/dev/null
done
END
service rdma-optimize <<'END'
#!/bin/bash
sysctl -w net.core.rmem_max=268435456 net.core.wmem_max=268435456
ip link set dev enP2p1s0f0np0 mtu 9000 2>/dev/null
modprobe nvidia-peermem 2>/dev/null || true
END
"""
NO_SERVICES = """systemctl -q disable disable-unused-nics.service rdma-optimize.service
rm /etc/systemd/system/disable-unused-nics.service /etc/systemd/system/rdma-optimize.service
rm /usr/local/bin/disable-unused-nics.sh /usr/local/bin/rdma-optimize.sh; systemctl daemon-reload"""


def services_are_named(test):
    """Of both kinds, on the node that has them, with the script in which it stands."""
    test.lab.sh(2, SERVICES)
    found = sorted((one["nodes"], one["message"]) for one in test.plan(test.manifest)["diagnostics"] if one["code"] == "netplan-boot-service")
    test.lab.sh(2, NO_SERVICES)
    test.assertEqual(found, [
        ([test.names[1]], "disable-unused-nics.service runs /usr/local/bin/disable-unused-nics.sh, which configures enp1s0f1np1, "
                          "enP2p1s0f1np1 again at the next boot"),
        ([test.names[1]], "rdma-optimize.service runs /usr/local/bin/rdma-optimize.sh, which configures enP2p1s0f0np0 again at the next "
                          "boot")])


def path_is_checked(test):
    """The promise of `checks` holds, and is found when it does not hold. The port is as it was before."""
    address, mtu = test.path
    test.assertIn(address, json.dumps(test.report["checks"]))
    test.assertEqual(test.user(1, "cat /sys/class/net/enP7s7/mtu"), str(mtu))
    test.lab.sh(1, f"ip link set enP7s7 mtu {mtu - 100}")
    said = test.spark("verify", test.manifest, "--level", "link", "--format", "json", expect=6).stdout
    test.lab.sh(1, f"ip link set enP7s7 mtu {mtu}")
    test.assertIn("path-mtu-low", said)


def gid_index_is_set(test):
    variable("NCCL_IB_GID_INDEX", test.gid_index)(test)


def is_verified(test):
    test.assertEqual([one for one in test.report["findings"] if one["severity"] != "informs"], [])


def prints_ranks(test):
    printed = test.spark("hostfile", test.manifest, "--network", "fabric", "--format", "torchrun", expect=0).stdout
    for rank in (0, 1):
        test.assertRegex(printed, rf"torchrun --nnodes=2 .*--node-rank={rank} .*--rdzv-endpoint=10\.0\.0\.1:")


def modules_are_loaded(test):
    """By a modprobe that stands in, and named for the next boot."""
    test.assertEqual(test.user(2, "grep -v '^#' /etc/modules-load.d/60-spark-reconcile.conf").split(),
                     ["mlx5_core", "mlx5_ib", "nvidia_peermem"])
    for module in ("mlx5_core", "mlx5_ib", "nvidia_peermem"):
        test.assertEqual(test.user(2, f"cat /sys/module/{module}/initstate"), "live")
    test.assertEqual(test.user(1, "ls /etc/modules-load.d/60-spark-reconcile.conf 2>/dev/null; true"), "")


def returns_to_start(test):
    """No file, package, address or module of ours stays, and what was there is as it was."""
    test.spark("uninstall", test.manifest, "--yes", expect=0)
    for node in (1, 2):
        test.assertEqual(test.state(node), test.before[node], f"spark-{node}")


VOLUMES = {"raid5-data": "storage", "llm-models": "models"}  # labels by subsystem


def each_volume(test, script):
    """What the script prints on both nodes for each volume, by its label."""
    for node in (1, 2):
        for nqn, label in VOLUMES.items():
            yield node, nqn, label, test.lab.sh(node, script.format(nqn=nqn, label=label)).split()


def module_is_loaded(test):
    for node in (1, 2):
        test.assertEqual(test.lab.sh(node, "cat /sys/module/nvme_tcp/initstate"), "live\n")


def volumes_are_connected(test):
    """By units that a boot starts."""
    script = "cd $(dirname $(grep -lx {nqn} /sys/class/nvme-subsystem/*/subsysnqn)); cat nvme*/state nvme*/transport nvme*/address"
    for _, _, _, shown in each_volume(test, script):
        test.assertEqual(shown[:2], ["live", "tcp"])
        test.assertIn(f"traddr={test.path[0]},trsvcid=4420", shown[2])
    for node in (1, 2):
        units = test.lab.sh(node, "systemctl --no-legend --plain list-units 'spark-reconcile-nvme-*' | awk '{print $3}'; "
                                  "systemctl is-enabled $(cd /etc/systemd/system; ls -d spark-reconcile-nvme-*)")
        test.assertEqual(units.split(), ["active"] * len(VOLUMES) + ["enabled"] * len(VOLUMES))


def volumes_are_found_by_label(test):
    script = "findmnt -n -o SOURCE /mnt/{label}; readlink -f /dev/disk/by-label/{label}; grep -c /mnt/ /etc/fstab; true"
    for _, _, _, shown in each_volume(test, script):
        test.assertEqual(shown, [shown[0]] * 2 + ["0"])


def one_node_writes(test):
    """And the other one reads what was written before it mounted."""
    for node, _, label, shown in each_volume(test, "findmnt -n -o FSTYPE,OPTIONS /mnt/{label}"):
        writes = (node, label) == (1, "storage")
        test.assertEqual(shown, ["ext4", "rw,noatime" if writes else "ro,noatime,norecovery"], f"spark-{node} {label}")
    test.assertIn("Read-only file system", test.lab.sh(2, "touch /mnt/storage/file 2>&1 || true"))
    test.lab.sh(1, "echo kept >/mnt/storage/file; sync")
    test.lab.sh(2, "umount /mnt/storage; systemctl start mnt-storage.mount")
    test.assertEqual(test.user(2, "cat /mnt/storage/file"), "kept")


STEPS = {
    "000-two-sparks-vllm": {
        "`/etc/netplan/40-cx7.yaml`: address, MTU 9000, no DHCP on `enp1s0f1np1`":
            [has("enp1s0f1np1", 9000, "192.168.177.11", "192.168.177.12"),
             shows(f"sudo grep -c 'dhcp.: false' {NETPLAN}", "4")],
        "MTU 9000 on the second twin, `link-local: [ipv4]` there": [link_local("enP2p1s0f1np1", 9000)],
        "mode 0600 and `netplan apply`": [shows(f"stat -c '%a %U' {NETPLAN}", "600 root", node) for node in (1, 2)],
        "`discover-sparks`: logins between the nodes": [logs_in(1, "spark2-rail0"), logs_in(2, "spark-rail0")],
        "`apt install libopenmpi-dev`": [installed("libopenmpi-dev", "perftest", "git", "build-essential")],
        "build of NCCL v2.28.3-1 for `sm_121`": [nccl_is_built, nccl_is_not_built_again],
        "`NCCL_IB_HCA` with both twins": [variable("NCCL_IB_HCA", "=rocep1s0f1,roceP2p1s0f1")],
        "`NCCL_SOCKET_IFNAME`, `UCX_NET_DEVICES`, `OMPI_MCA_btl_tcp_if_include`":
            [variable("NCCL_SOCKET_IFNAME", "=enp1s0f1np1"), variable("OMPI_MCA_btl_tcp_if_include", "enp1s0f1np1"),
             variable("UCX_NET_DEVICES", "rocep1s0f1:1,roceP2p1s0f1:1,enp1s0f1np1")],
        "`NCCL_IB_DISABLE=0`": [variable("NCCL_IB_DISABLE", "")],
        "ssh without host key checks for mpirun": [logs_in(1, "192.168.177.12"), logs_in(2, "192.168.177.11")],
    },
    "001-stack-two-sparks": {
        "Option 2: `ip addr add 192.168.100.10/24 dev enP2p1s0f1np1`":
            [has("enP2p1s0f1np1", 1500, "192.168.100.10", "192.168.100.11"), left_alone("enp1s0f1np1")],
        "`discover-sparks`": [logs_in(1, "spark-b-rail0"), logs_in(2, "spark-a-rail0")],
        "`nvcc --version` 12.9 or later": [too_old("CUDA toolkit", "12.9", "12.8.1")],
        "`NCCL_PROTO=SIMPLE`": [variable("NCCL_PROTO", "Simple")],
        "rollback: delete the file, `netplan apply`": [returns_to_start],
    },
    "002-rdma-cluster": {
        "`192.168.100.1 spark-01-mesh` in `/etc/hosts`":
            [shows("getent hosts spark-02-mesh", "192.168.100.2   spark-02-rail0 spark-02-mesh"),
             shows("getent hosts spark-01-mesh", "192.168.100.1   spark-01-rail0 spark-01-mesh", node=2)],
        "`git build-essential openmpi-bin libopenmpi-dev`": [installed("git", "build-essential", "openmpi-bin", "libopenmpi-dev")],
        "NVIDIA's apt repository, `libnccl2`, `libnccl-dev`": [installed("libnccl2", "libnccl-dev")],
        "CUDA 13.0 or later": [too_old("CUDA toolkit", "13.0", "12.9.1")],
        "MTU 9000 on `enP2p1s0f0np0`, live and in netplan":
            [has("enP2p1s0f0np0", 9000, "192.168.100.1", "192.168.100.2"), shows(f"sudo grep -c 'mtu: 9000' {NETPLAN}", "1")],
        "ssh keys and `~/.ssh/config` for the mesh": [logs_in(1, "spark-02-mesh", "192.168.100.2"), logs_in(2, "spark-01-mesh")],
        "`disable-unused-nics.service`: ports of the other cage down": [is_down("enp1s0f1np1", "enP2p1s0f1np1")],
        "the same for the first twin of the cage in use": [left_alone("enp1s0f0np0")],
        "`rdma-optimize.service`: buffers, MTU, modules at every boot": [services_are_named],
        "`/etc/profile.d/nccl-env.sh`: HCA and interface":
            [variable("NCCL_IB_HCA", "=roceP2p1s0f0"), variable("NCCL_SOCKET_IFNAME", "=enP2p1s0f0np0")],
    },
    "003-direct-fabric-storage": {
        "`10.0.0.N/24`, MTU 9000 on `enp1s0f0np0`": [has("enp1s0f0np0", 9000, "10.0.0.1", "10.0.0.2")],
        "MTU 9000 on the storage and management ports": [path_is_checked],
        "ssh keys between the nodes": [logs_in(1, "spark-dgx-2-rail0"), logs_in(2, "spark-dgx-1-rail0")],
        "`nccl-env.sh safe`": [variable("NCCL_NET_GDR_LEVEL", "LOC")],
        "`NCCL_IB_HCA=mlx5_0`, `NCCL_SOCKET_IFNAME`":
            [variable("NCCL_IB_HCA", "=rocep1s0f0"), variable("NCCL_SOCKET_IFNAME", "=enp1s0f0np0")],
        "`NCCL_IB_GID_INDEX=3`": [gid_index_is_set],
        "`NCCL_ALGO=Ring`, `NCCL_IB_TIMEOUT=22`": [variable("NCCL_ALGO", "Ring"), variable("NCCL_IB_TIMEOUT", "22")],
        "`verify_network_setup.sh`": [is_verified],
        "hostfile, `torchrun --rdzv-endpoint`": [prints_ranks],
    },
    "004-spark-and-workstation": {
        "`rdma-core ibverbs-utils rdmacm-utils libibmad5 infiniband-diags perftest mstflint ethtool`":
            [installed("rdma-core", "ibverbs-utils", "rdmacm-utils", "libibmad5", "infiniband-diags", "perftest", "mstflint", "ethtool")],
        "`mlx5_core`, `mlx5_ib` in `/etc/modules`": [modules_are_loaded],
        "names of ports (`03:00.0`, `mlx5_0`)":
            [variable("NCCL_IB_HCA", "=mlx5_0", node=2), variable("NCCL_SOCKET_IFNAME", "=enp3s0f0np0", node=2)],
        "`192.168.200.1/24` and `.2/24`, MTU 9000, in `99-rdma.yaml`": [has("enp1s0f0np0", 9000, "192.168.200.1", "192.168.200.2")],
        "Wi-Fi and the management port in the same file": [left_alone("enP7s7", "192.168.1.21", "192.168.1.22")],
        "`UCX_NET_DEVICES` and others in `~/.bashrc`":
            [variable("UCX_NET_DEVICES", "rocep1s0f0:1,enp1s0f0np0"), variable("UCX_NET_DEVICES", "mlx5_0:1,enp3s0f0np0", node=2)],
        "`nvidia-peermem` on the workstation": [shows("cat /sys/module/nvidia_peermem/initstate", "live", node=2)],
    },
}

# What vm.test_guide_storage looks for besides: no container can have it.
ON_MACHINES = {
    "003-direct-fabric-storage": {
        "`modprobe nvme-tcp`, `/etc/modules-load.d`": [module_is_loaded],
        "`nvme connect`, `nvme-rosa-connect.service`": [volumes_are_connected],
        "`/dev/nvme1n1` in fstab": [volumes_are_found_by_label],
        "ext4 mounted for writing on both nodes": [one_node_writes],
    },
}
