"""How ports of a node are configured, as lines that a test compares. It is read again and again until it stays the same, so that the node
starts few programs for it."""

import json

# The files of network managers, what netplan generated from them, and the live values of all interfaces.
SCRIPT = """find /etc/netplan /etc/systemd/network /etc/NetworkManager /run/netplan /run/systemd/network \\
  -type f -printf '%p\\t%m\\t%U:%G\\t%T@\\n' -exec sha256sum {} + 2>/dev/null
find /run/NetworkManager/system-connections -type f -name 'netplan-*' -printf '%p\\t%m\\n' 2>/dev/null
echo --; ip -j address show; echo --; ip -j -4 route show"""


def _file_lines(printed, timed):
    """Each file with mode, owner and digest; then the times of those below the folders `timed`. Profiles that netplan generated
    hold identifiers that are random: they have no digest."""
    lines = printed.splitlines()
    digests = dict(reversed(line.split("  ", 1)) for line in lines if not line.startswith("/"))
    files, times = [], []
    for line in sorted(line for line in lines if line.startswith("/")):
        path, mode, *more = line.split("\t")
        if more:
            owner, time = more
            files.append(f"{path} {mode} {owner} {digests.get(path, 'gone')}")
            times += [f"{path} {time}"] if path.startswith(tuple(timed)) else []
        else:
            files.append(f"{path} {mode}")
    return files + times


def _route_line(route):
    """Without its metric, which NetworkManager counts up, and whether there is a carrier."""
    flags = [flag for flag in route.get("flags", ()) if flag != "linkdown"]
    shown = [f"{key} {value}" for key, value in route.items() if key not in ("dev", "metric", "flags")]
    return "  " + " ".join(shown + flags)


def read(lab, node, ports, timed=()):
    files, links, routes = lab.sh(node, SCRIPT).split("--\n")
    links = {link["ifname"]: link for link in json.loads(links)}
    routes = json.loads(routes)
    lines = _file_lines(files, timed)
    for port in ports:
        link = links[port]
        addresses = [f"{one['local']}/{one['prefixlen']}" for one in link["addr_info"] if one["family"] == "inet"]
        lines.append(" ".join([f"{port} mtu {link['mtu']} flags {int('UP' in link['flags'])}", *addresses]))
        lines += [_route_line(route) for route in routes if route.get("dev") == port]
    return "".join(f"{line}\n" for line in lines)
