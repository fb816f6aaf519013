#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Services and machines that start, replace and sandbox processes of their own: the same output and status under rec."""
import hashlib
import os
import pwd
import re
import signal
import socket
import subprocess
import threading
import time

import harm
import rec

HAPROXY = """
global
    stats socket {place}/admin expose-fd listeners
    nbthread 2
defaults
    mode http
    timeout client 60s
    timeout connect 60s
    timeout server 60s
frontend front
    bind unix@{place}/socket
    http-request return status 200 content-type text/plain lf-string "%pid"
"""
RELOADS = 2
REQUESTS = rec.figure(100, 2000)  # by each client, after each reload
CLIENTS = 3
SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {place}/host
PidFile {place}/pid
AuthorizedKeysFile {place}/user.pub
PasswordAuthentication no
StrictModes no
UsePAM yes
PermitRootLogin yes
"""
LOGINS = (
    "id -un; exit 7",
    "env | grep -v -e ^LD_ -e ^REC -e ^SSH_ | sort",
    "sha256sum",
    "kill -TERM $$",
    "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $i",
)
INPUT = b"input of a login\n" * 300000
# 16-bit code of a boot sector: sums 50 million numbers, writes the sum's low 32 bits to the serial port and leaves qemu.
BOOT = """
    .code16
    .globl _start
_start:
    xor %ebx, %ebx
    mov $50000000, %ecx
1:  imul $31, %ebx, %ebx
    add %ecx, %ebx
    dec %ecx
    jnz 1b
    mov $8, %cx
2:  rol $4, %ebx
    mov %bl, %al
    and $15, %al
    add $65, %al
    mov $0x3f8, %dx
    out %al, %dx
    loop 2b
    mov $3, %al
    mov $0xf4, %dx
    out %al, %dx
    hlt
    .org 510
    .word 0xaa55
"""
CRATE = """
fn main() {
    let sum: u64 = (0..5_000_000u64).map(|x| x.wrapping_mul(x) % 7).sum();
    println!("{sum}");
}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Services(harm.Identical):
    def same_outcome(self, run):
        """run(prefix) has the same outcome without prefix and with rec as the prefix. Returns the outcome."""
        bare = run([])
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                prefix = [rec.REC, "-q", "-F", harm.FAST_HZ, f"--engine={engine}", "-o", self.profile, "--"]
                self.assertEqual(run(prefix), bare)
                recorded = rec.Run(subprocess.CompletedProcess((), 0, b"", b""), os.path.dirname(self.profile), 0)
                self.assertGreater(recorded.count("samples"), 10)
        return bare

    def service(self, command, directory, ready):
        """Starts a service and waits until ready() is true."""
        with open(os.path.join(directory, "log"), "wb") as log:
            process = subprocess.Popen([str(word) for word in command], cwd=directory, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(self.end_session, process)
        self.wait_until(ready, directory)
        return process

    def wait_until(self, happened, directory):
        end = time.monotonic() + rec.TIMEOUT_S
        while not happened():
            self.assertLess(time.monotonic(), end, self.log(directory))
            time.sleep(0.05)

    @staticmethod
    def end_session(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    @staticmethod
    def log(directory):
        with open(os.path.join(directory, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def test_haproxy_replaces_its_workers_under_load(self):
        self.need_program("haproxy")
        self.assertEqual(self.same_outcome(self.reloaded), (CLIENTS * REQUESTS * (RELOADS + 1), 0, True, 0))

    def reloaded(self, prefix):
        """(answers, failures, whether each worker answered, status) of haproxy, reloaded twice."""
        place = self.new_directory()
        with open(os.path.join(place, "haproxy.cfg"), "w", encoding="utf-8") as file:
            file.write(HAPROXY.format(place=place))
        path = os.path.join(place, "socket")
        process = self.service([*prefix, "haproxy", "-W", "-f", "haproxy.cfg", "-p", "pid"], place,
                               lambda: self.log(place).count("Loading success") == 1)
        with open(os.path.join(place, "pid"), encoding="utf-8") as file:
            master = int(file.read().split()[0])
        answers = []
        for turn in range(RELOADS + 1):
            clients = [threading.Thread(target=lambda: answers.extend(answer_of(path) for _ in range(REQUESTS)))
                       for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            if turn < RELOADS:
                self.reload(place, turn + 1, master)
            for client in clients:
                client.join()
        os.kill(master, signal.SIGTERM)
        return len(answers), answers.count(None), len(set(answers) - {None}) > RELOADS, process.wait(timeout=rec.TIMEOUT_S)

    def reload(self, place, times, master):
        """haproxy loses signals right after its start, also without rec."""
        def is_reloading():
            os.kill(master, signal.SIGUSR2)
            time.sleep(1)
            return self.log(place).count("Reloading HAProxy") >= times
        self.wait_until(is_reloading, place)
        self.wait_until(lambda: self.log(place).count("Loading success") > times, place)

    def test_logins_by_ssh(self):
        self.need_root()
        for program in ("ssh", "ssh-keygen"):
            self.need_program(program)
        sshd = self.need_program("/usr/sbin/sshd")
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd does not start without
        outcome = self.same_outcome(lambda prefix: self.logins([*prefix, sshd, "-D", "-e", "-f"]))
        self.assertEqual(outcome[0], (7, pwd.getpwuid(0).pw_name.encode() + b"\n"))
        self.assertEqual(outcome[2], (0, hashlib.sha256(INPUT).hexdigest().encode() + b"  -\n"))

    def logins(self, command):
        """(status, output) of each login."""
        place, port = self.new_directory(), free_port()
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], cwd=place, check=True)
        with open(os.path.join(place, "config"), "w", encoding="utf-8") as file:
            file.write(SSHD.format(port=port, place=place))
        process = self.service([*command, os.path.join(place, "config")], place,
                               lambda: os.path.exists(os.path.join(place, "pid")))
        ssh = ["ssh", "-F", "none", "-i", os.path.join(place, "user"), "-p", str(port), "-o", "BatchMode=yes", "-o",
               "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "127.0.0.1"]
        done = [subprocess.run([*ssh, login], input=INPUT, capture_output=True, timeout=rec.TIMEOUT_S, check=False)
                for login in LOGINS]
        with open(os.path.join(place, "pid"), encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGTERM)
        return [(run.returncode, run.stdout) for run in done] + [(process.wait(timeout=rec.TIMEOUT_S), b"")]

    def test_a_machine_in_qemu(self):
        qemu = self.need_program("qemu-system-x86_64")
        for program in ("as", "ld"):
            self.need_program(program)
        image = os.path.join(self.directory, "boot")
        subprocess.run(["as", "--32", "-o", image + ".o", "-"], input=BOOT.encode(), check=True)
        subprocess.run(["ld", "-m", "elf_i386", "-Ttext", "0x7c00", "--oformat", "binary", "-o", image, image + ".o"],
                       check=True)
        command = [qemu, "-accel", "tcg", "-display", "none", "-nodefaults", "-serial", "stdio", "-device",
                   "isa-debug-exit,iobase=0xf4,iosize=1", "-drive", f"file={image},format=raw,if=ide,snapshot=on"]
        bare = self.watched(command)
        self.assertEqual((bare.status, len(bare.stdout)), (7, 8), bare.stderr)
        self.identical(*command)

    def test_cargo_build(self):
        self.need_program("cargo")
        script = ("mkdir src; printf '[package]\\nname = \"sums\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml; "
                  f"cat > src/main.rs <<'END'\n{CRATE}END\n"
                  "cargo build -q --offline --release && ./target/release/sums; status=$?; "
                  "sha256sum target/release/sums; rm -r target; exit $status")
        self.identical("sh", "-c", script)


def answer_of(path):
    """The worker's process id; None without a whole answer."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(rec.TIMEOUT_S)
            connection.connect(path)
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            text = b"".join(iter(lambda: connection.recv(4096), b""))
    except OSError:
        return None
    found = re.fullmatch(rb"HTTP/1.[01] 200 OK\r\n.*\r\n\r\n(\d+)", text, re.DOTALL)
    return int(found[1]) if found else None


if __name__ == "__main__":
    rec.main()
