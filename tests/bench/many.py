"""Many nodes: one sshd of this machine in a network of its own answers at as many addresses. All are the same
machine, which a plan names; what it reads and compares is not less for that."""

import json
import os
import subprocess
import sys

SIZES = (16, 32, 64)
HERE = os.path.dirname(os.path.abspath(__file__))

# In a network and mount namespace: sshd, its keys and the controller's home are all below one folder.
INSIDE = r"""
import json, os, pathlib, pwd, resource, statistics, subprocess, sys, time
folder, program, rounds, sizes = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["ip", "route", "add", "local", "192.168.9.0/24", "dev", "lo"], check=True)  # each of these addresses is this machine's
home = folder / "home"; (home / ".ssh").mkdir(parents=True, mode=0o700)
for path in (folder / "host", home / ".ssh/id_ed25519"):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
address = lambda n: f"192.168.9.{n + 1}"
public = " ".join((folder / "host.pub").read_text().split()[:2])
(home / ".ssh/known_hosts").write_text("".join(f"{address(n)} {public}\n" for n in range(max(sizes))))
(folder / "sshd_config").write_text(f'''
HostKey {folder}/host
AuthorizedKeysFile {home}/.ssh/id_ed25519.pub
PidFile none
StrictModes no
UsePAM no
MaxStartups 1000
PermitRootLogin prohibit-password
''')
os.makedirs("/run/sshd", exist_ok=True)
sshd = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL)
environment = {**os.environ, "HOME": str(home)}
def manifest(size):
    path = folder / f"{size}.yaml"
    nodes = "".join(f"  - {{name: spark-{n + 1}, address: {address(n)}}}\n" for n in range(size))
    path.write_text(f'''api_version: spark-reconcile/v1
cluster: many
access: {{user: root, become: none, host_keys: strict}}
nodes:
{nodes}fabric: {{topology: switch, cage: p1, mtu: 9000, subnets: [10.77.0.0/24, 10.78.0.0/24]}}
sysctl: {{net.ipv4.tcp_mtu_probing: 1}}
memlock: unlimited
''')
    return path
def plan(path):
    start = time.monotonic()
    done = subprocess.run([program, "plan", "--brief", path], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0: sys.exit(done.stdout[-2000:] + done.stderr)
    return time.monotonic() - start
try:
    time.sleep(1)
    answers = {}
    for size in sizes:
        path = manifest(size)
        plan(path)
        answers[size] = statistics.median(plan(path) for _ in range(rounds))
    answers["MiB"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps(answers))
finally:
    sshd.terminate(); sshd.wait()
"""


def run(rows, folder, program, rounds):
    inside = os.path.join(folder, "many")
    os.mkdir(inside)
    done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", INSIDE, inside,
                           program, str(rounds), json.dumps(SIZES)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"many: {done.stdout}{done.stderr}")
    answers = json.loads(done.stdout.splitlines()[-1])
    least = answers[str(SIZES[0])] / SIZES[0]
    for size in SIZES:
        rows.append((f"plan of {size} nodes of one machine against {size // SIZES[0]} times that of {SIZES[0]}", answers[str(size)], least * size, ""))
    rows.append((f"controller's peak memory, MiB, plan of {SIZES[-1]} nodes", answers["MiB"], None, ""))
