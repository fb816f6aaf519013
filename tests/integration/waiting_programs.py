# SPDX-License-Identifier: MIT
"""Real programs that wait, as Debian ships them, and the work that keeps them going.

    program = PROGRAMS["redis-server"](directory)   a directory that `nobody` may write
    program.command                                 argv, of an ordinary user
    program.drive(pid)                              does some work with the running program, then lets it end
"""
import glob
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
ROUNDS = int(os.environ.get("REC_WORK", "1"))  # times as much work


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*words, **options):
    options.setdefault("timeout", 120)
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True, **options)


def wait_for(condition, what, limit_s=60):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {limit_s} s")


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
        return True
    except OSError:
        return False


def write(directory, name, text):
    path = pathlib.Path(directory, name)
    path.write_text(text, encoding="utf-8")
    return str(path)


class Program:
    """A program that ends by itself."""

    needs = ()
    command = ()
    is_driven = False

    def __init__(self, directory):
        self.directory = directory

    def drive(self, pid):
        """Only if is_driven."""


PYTHON_THREADS = """
import queue, threading, time
items = queue.Queue(20)
def produce():
    for i in range(1000):
        items.put(i)
        time.sleep(0.0005)
def consume():
    for i in range(1000):
        items.get()
        sum(range(500))
def nap():
    for i in range(300):
        time.sleep(0.002)
        sum(range(20000))
threads = [threading.Thread(target=work) for work in (produce, consume, nap, nap, nap)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

PYTHON_SUBPROCESS = """
import subprocess
for i in range(8):
    subprocess.run(["/bin/sh", "-c", "sleep 0.15; ls /usr/bin | sort | tail -1"], stdout=subprocess.DEVNULL)
"""

PYTHON_ASYNCIO = """
import asyncio
async def serve(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(0.001)
        writer.write(line)
        await writer.drain()
    writer.close()
async def call(port):
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    for i in range(300):
        writer.write(b'x\\n')
        await reader.readline()
    writer.close()
async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.gather(*[call(port) for _ in range(8)])
    await asyncio.get_running_loop().run_in_executor(None, lambda: sum(range(10**6)))
asyncio.run(main())
"""

NODE = """
const http = require('http'), fs = require('fs'), crypto = require('crypto');
let left = 400;
const server = http.createServer((request, reply) => {
  fs.readFile('/etc/passwd', (error, text) => crypto.pbkdf2('a', 'b', 2000, 32, 'sha256', () => reply.end(text)));
}).listen(0, () => {
  const one = () => http.get({port: server.address().port, agent: false}, reply => {
    reply.resume();
    reply.on('end', () => --left > 0 ? setTimeout(one, 2) : left === -7 && server.close());
  });
  for (let i = 0; i < 8; i++) one();
});
"""

JAVA = """
import java.util.concurrent.*;
public class Waits {
    static final Object lock = new Object();
    static long sum;
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++)
            pool.submit(() -> {
                for (int k = 0; k < 400; k++) {
                    synchronized (lock) { for (int j = 0; j < 20000; j++) sum += j; }
                    Thread.sleep(2);
                }
                return 0;
            });
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
        System.out.println(sum);
    }
}
"""

C_PART = "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
    f"int f{i}(int x) {{ int s = 0; for (int k = 0; k < x; k++) s += k * {i}; printf(\"%d\", s); return s; }}\n"
    for i in range(40))

CXX = "#include <map>\n#include <regex>\n#include <string>\nint main() { return std::regex_match(\"a\", std::regex(\"a*\")); }\n"


class PythonThreads(Program):
    command = ("/usr/bin/python3", "-c", PYTHON_THREADS)


class PythonSubprocess(Program):
    command = ("/usr/bin/python3", "-c", PYTHON_SUBPROCESS)


class PythonAsyncio(Program):
    command = ("/usr/bin/python3", "-c", PYTHON_ASYNCIO)


class Node(Program):
    needs = ("node",)
    command = ("node", "-e", NODE)


class Java(Program):
    needs = ("java", "javac")

    def __init__(self, directory):
        super().__init__(directory)
        run("javac", write(directory, "Waits.java", JAVA), cwd=directory)
        self.command = ("java", "-Xmx200m", "-XX:-UsePerfData", "-XX:+PreserveFramePointer", "-cp", directory, "Waits")


class Make(Program):
    needs = ("make", "gcc")

    def __init__(self, directory):
        super().__init__(directory)
        for i in range(8):
            write(directory, f"part{i}.c", C_PART.replace("int f", f"int part{i}_f"))
        write(directory, "main.c", "int main(void) { return 0; }\n")
        objects = " ".join(f"part{i}.o" for i in range(8)) + " main.o"
        write(directory, "Makefile", f"all: {objects}\n\tgcc -o all {objects}\n%.o: %.c\n\tgcc -O2 -c $<\n")
        self.command = ("make", "-C", directory, "-j2")


class Cxx(Program):
    needs = ("g++",)

    def __init__(self, directory):
        super().__init__(directory)
        self.command = ("g++", "-O2", "-o", os.path.join(directory, "program"), write(directory, "program.cc", CXX))


class Bash(Program):
    command = ("bash", "-c", "for i in 1 2 3 4 5 6; do sleep 0.1; ls /usr/bin | while read name; do :; done; done; wait")


class Archive(Program):
    needs = ("tar", "xz")
    command = ("sh", "-c", "tar cf - /usr/include/linux /usr/include/c++ | xz -1 >/dev/null")


class Redis(Program):
    is_driven = True
    needs = ("redis-server", "redis-benchmark", "redis-cli")

    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()
        self.command = ("redis-server", "--port", str(self.port), "--save", "", "--logfile", "/dev/null")

    def drive(self, pid):
        wait_for(lambda: listens(self.port), "redis-server")
        run("redis-benchmark", "-p", self.port, "-t", "get", "-n", 150000 * ROUNDS, "-c", 50, "-q")
        run("redis-cli", "-p", self.port, "shutdown", "nosave")


class Memcached(Program):
    is_driven = True
    needs = ("memcached",)

    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()
        self.command = ("memcached", "-u", "nobody", "-p", str(self.port), "-U", "0", "-l", "127.0.0.1")

    def client(self):
        with socket.create_connection(("127.0.0.1", self.port)) as link, link.makefile("rb") as replies:
            for i in range(6000 * ROUNDS):
                link.sendall(b"set k%d 0 0 5\r\nhello\r\nget k%d\r\n" % (i % 100, i % 100))
                for _ in range(4):
                    replies.readline()

    def drive(self, pid):
        wait_for(lambda: listens(self.port), "memcached")
        clients = [threading.Thread(target=self.client) for _ in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        os.kill(pid, signal.SIGINT)


class Postgres(Program):
    is_driven = True
    needs = ("pgbench",)

    def __init__(self, directory):
        super().__init__(directory)
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]
        data, self.port = os.path.join(directory, "data"), free_port()
        run(os.path.join(os.path.dirname(programs), "initdb"), "-D", data, "-A", "trust", "-U", "user", "-N",
            cwd=directory, **AS_NOBODY)
        self.command = (programs, "-D", data, "-p", str(self.port), "-k", directory, "-c", "listen_addresses=")

    def pgbench(self, *words):
        run("pgbench", "-h", self.directory, "-p", self.port, "-U", "user", *words, "postgres", cwd=self.directory)

    def drive(self, pid):
        wait_for(lambda: os.path.exists(os.path.join(self.directory, f".s.PGSQL.{self.port}")), "postgres")
        time.sleep(0.5)
        self.pgbench("-i", "-q")
        self.pgbench("-c", 8, "-j", 2, "-T", 3 * ROUNDS, "-R", 800)  # without a storm of switches
        os.kill(pid, signal.SIGINT)


class Mariadb(Program):
    is_driven = True
    needs = ("mariadbd", "mariadb-install-db", "mariadb-slap")

    def __init__(self, directory):
        super().__init__(directory)
        data, self.socket = os.path.join(directory, "data"), os.path.join(directory, "socket")
        run("mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
            cwd=directory, **AS_NOBODY)
        self.command = (shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}",
                        f"--socket={self.socket}", "--skip-networking", "--user=nobody")

    def admin(self, word):
        return subprocess.run(["mariadb-admin", "--no-defaults", "-S", self.socket, "-uroot", word],
                              capture_output=True, check=False, timeout=60).returncode == 0

    def drive(self, pid):
        wait_for(lambda: self.admin("ping"), "mariadbd")
        run("mariadb-slap", "--no-defaults", "-S", self.socket, "-uroot", "-a", "-c", 8,
            f"--number-of-queries={2000 * ROUNDS}")
        self.admin("shutdown")


class Sqlite(Program):
    """At its prompt, then a query."""

    needs = ("sqlite3",)
    command = ("sh", "-c", "(sleep 1; echo 'select 1;') | sqlite3")


PROGRAMS = {
    "python3 threads": PythonThreads, "python3 subprocess": PythonSubprocess, "python3 asyncio": PythonAsyncio,
    "redis-server": Redis, "postgres": Postgres, "memcached": Memcached, "mariadbd": Mariadb, "node": Node,
    "java": Java, "make": Make, "bash": Bash, "g++": Cxx, "sqlite3": Sqlite, "tar and xz": Archive,
}


def child_of(pid, path):
    """The child of `rec` with this program."""
    name = os.path.basename(path)[:15]

    def find():
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip() == name:
                return int(child)
        return None

    found = []
    wait_for(lambda: found.append(find()) or found[-1], f"a child {name}")
    return found[-1]
