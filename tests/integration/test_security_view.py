#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server of `rec view` under attack: wrong hosts, tokens, methods and bodies, silent and mad clients, neighbours on
the machine. Each rule of docs/security.md has a test."""
import base64
import gzip
import json
import os
import random
import re
import shutil
import socket
import tempfile
import time
import urllib.parse

import rec
from view_server import Server, wait_until

ATTACK_S = rec.figure(4, 1800)


def is_connected(client):
    try:
        return client.recv(1, socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


class SecurityView(rec.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("test_nothing_is_served_without_the_token")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.capture = case.recorded(rec.target("inlined"), "200", rec_options=["-q", "-o", "rec.data"]).path()

    def setUp(self):
        super().setUp()
        self.server = None

    def serve(self, *words):
        self.server = Server(self.capture, *words)
        self.addCleanup(self.server.stop)
        return self.server

    def assert_discloses_nothing(self, reply):
        self.assertNotIn("access-control-allow-origin", reply.headers)
        self.assertLess(len(reply.body), 200)
        for secret in (self.server.token, "inlined", "rec.data"):
            self.assertNotIn(secret.encode(), reply.body)

    def assert_alive(self, within_s=1.0):
        start = time.monotonic()
        self.assertEqual(self.server.get("").status, 200)
        return time.monotonic() - start

    def test_nothing_is_served_without_the_token(self):
        server = self.serve()
        wrong = server.token[:-1] + ("a" if server.token[-1] != "a" else "b")
        for path in ("/", "/index.html", f"/{wrong}/", f"/{wrong}/profile.json", f"/{server.token}", "/" + "a" * 32,
                     f"/{server.token[:31]}/", f"/{server.token}a/", f"//{server.token}/", f"/{server.token.upper()}/",
                     "/favicon.ico", "/%00", f"/%2e%2e/{server.token}/"):
            for method in ("GET", "POST", "OPTIONS"):
                reply = server.request(method, path, body="{}" if method == "POST" else None)
                self.assertEqual(reply.status, 404, path)
                self.assert_discloses_nothing(reply)
        self.assertEqual(server.get("../profile.json").status, 404)
        self.assertEqual(server.get("files/../../etc/passwd").status, 404)
        self.assertEqual(server.get("speedscope/../index.css").status, 404)

    def test_speedscope_of_the_working_directory_is_not_served(self):
        """A checkout of another author. An installed one has a policy: its scripts could read the profile."""
        for home, status in (("home", 404), (".npm-global/lib", 200)):
            release = os.path.join(self.directory, home, "node_modules/speedscope/dist/release")
            os.makedirs(release, 0o755)
            with open(os.path.join(release, "index.html"), "w", encoding="ascii") as page:
                page.write("<script src=x.js></script>")
            self.server = Server(os.path.abspath(self.capture), cwd=os.path.join(self.directory, home),
                                 environment={"HOME": self.directory})
            self.addCleanup(self.server.stop)
            reply = self.server.get("speedscope/index.html")
            self.assertEqual(reply.status, status)
            self.server.stop()
        self.assertIn("default-src 'self'", reply.headers["content-security-policy"])

    def started_pprof(self, environment):
        """What a program named pprof has: arguments, working directory, settings, user; and the profile without its comments."""
        place = tempfile.mkdtemp(prefix="rec-test-")  # readable by all, not as the directory of the test
        self.addCleanup(shutil.rmtree, place)
        program = os.path.join(place, "pprof")
        with open(program, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "ran|$*|$(pwd -P)|$PPROF_BINARY_PATH|$XDG_CONFIG_HOME|$(id -u)|'
                       '$(base64 -w0 /dev/stdin)"\nexec sleep 60\n')
        os.chmod(program, 0o755)
        os.chmod(place, 0o755)
        self.server = Server(self.capture, "--pprof", environment={
            **environment, "PATH": f"{place}:{os.environ['PATH']}"})
        self.addCleanup(self.server.stop)
        line = next(line for line in iter(self.server.process.stderr.readline, "") if line.startswith("ran|"))
        _, words, *places, user, profile = line.strip().split("|")
        self.assertEqual(places, ["/", "/proc/none", "/proc/none"])
        self.assertIn("-symbolize=none ", words)
        return int(user), re.sub(rb"#\w+=[^\0-\x1f]*", b"", gzip.decompress(base64.b64decode(profile)))

    def test_pprof_has_no_files_to_open(self):
        """Its pages have no token, and open the files that a profile names."""
        user, profile = self.started_pprof({})
        self.assertEqual(user, os.geteuid())
        self.assertIn(b"inlined", profile)
        for name in (b"inlined.c", os.path.dirname(rec.target("inlined")).encode(), b"/lib/"):
            self.assertNotIn(name, profile)

    def test_pprof_has_the_rights_of_the_user_of_sudo(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.assertEqual(self.started_pprof({"SUDO_UID": "65534", "SUDO_GID": "65534"})[0], 65534)

    def test_files_of_a_front_end_take_no_memory(self):
        """Without a token every user of the machine can request them, and read slowly."""
        folder = self.new_directory()
        for name, size in (("index.html", 1), ("app.js", 24 << 20)):
            with open(os.path.join(folder, name), "wb") as file:
                file.truncate(size)
        server = self.serve("--profiler", folder)
        server.port = int(re.match(r"http://127\.0\.0\.1:(\d+)/from-url/", server.url).group(1))
        before = self.resident_bytes()
        request = f"GET /app.js HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        for client in self.connect(20, request):
            self.assertTrue(client.recv(1))
        self.assertLess(self.resident_bytes() - before, 24 << 20)
        self.assertEqual(len(server.get("/app.js").body), 24 << 20)

    def resident_bytes(self):
        with open(f"/proc/{self.server.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_other_hosts_are_refused(self):
        server = self.serve()
        for host in ("evil.test", f"evil.test:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}",
                     f"127.0.0.1:{server.port}.evil.test", f"127.0.0.2:{server.port}", f"0.0.0.0:{server.port}", "",
                     f"localhost.evil.test:{server.port}", f"[::1]:{server.port}", f":{server.port}"):
            reply = server.get("", headers={"Host": host})
            self.assertIn(reply.status, (400, 421), host)
            self.assert_discloses_nothing(reply)
        for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", f"LocalHost:{server.port}"):
            self.assertEqual(server.get("", headers={"Host": host}).status, 200, host)

    def test_only_this_machine_reaches_the_server(self):
        server = self.serve()
        with open("/proc/net/tcp", encoding="utf-8") as file:
            local = {line.split()[1] for line in file if line.split()[3] == "0A"}
        self.assertIn(f"0100007F:{server.port:04X}", local)
        self.assertNotIn(f"00000000:{server.port:04X}", local)
        server.stop()
        other = self.serve("--address", "0.0.0.0")
        self.assertEqual(other.get("").status, 200)
        self.assertEqual(other.get("", headers={"Host": f"192.0.2.7:{other.port}"}).status, 200)
        self.assertEqual(other.get("", headers={"Host": f"evil.test:{other.port}"}).status, 421)
        self.assertIn("without encryption", other.stop()[2])

    def test_methods_and_preflights(self):
        server = self.serve()
        for method in ("PUT", "DELETE", "PATCH", "TRACE", "HEAD", "CONNECT", "BREW"):
            self.assertIn(server.request(method, "profile.json").status, (405, 400, 404), method)
        asked = {"Origin": "https://evil.test", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "user-agent", "Access-Control-Request-Private-Network": "true"}
        inside = server.request("OPTIONS", "source/v1", headers=asked)
        self.assertEqual(inside.status, 204)
        self.assertEqual(inside.headers["access-control-allow-headers"], "user-agent")
        self.assertEqual(inside.headers["access-control-allow-private-network"], "true")
        outside = server.request("OPTIONS", "/source/v1", headers=asked)
        self.assertEqual(outside.status, 404)
        self.assertFalse([name for name in outside.headers if name.startswith("access-control")])

    def test_replies_are_not_kept_and_not_guessed(self):
        server = self.serve()
        for path in ("", "profile.json", "files/rec.folded", "page", "index.js"):
            headers = server.get(path).headers
            self.assertEqual(headers["cache-control"], "no-store", path)
            self.assertEqual(headers["x-content-type-options"], "nosniff", path)
            self.assertEqual(headers["referrer-policy"], "no-referrer", path)
        policy = server.get("").headers["content-security-policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertIn("default-src 'none'", server.get("page").body.decode())

    def test_bodies_have_a_limit(self):
        server = self.serve()
        self.assertEqual(server.post("symbolicate/v5", b" " * (2 << 20)).status, 413)
        self.assertEqual(server.post("symbolicate/v5", b"[" * (1 << 19)).json()["error"],
                         "the request is not a JSON object")
        many = {"jobs": [{"memoryMap": [["inlined", "0" * 33]], "stacks": [[[0, 4096]] * 60000]}]}
        self.assertEqual(server.post("symbolicate/v5", json.dumps(many)).status, 200)
        self.assert_alive()

    def connect(self, count, start=b""):
        clients = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
            client.sendall(start)
        return clients

    def assert_quick(self):
        """The best of a few: other programs may hold the processors."""
        self.assertLess(min(self.assert_alive() for _ in range(5)), 1)

    def test_silent_and_slow_clients_hold_nobody(self):
        server = self.serve()
        self.connect(100)
        self.connect(100, f"POST /{server.token}/asm/v1 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                          f"Content-Length: 1000\r\n\r\n{{".encode())
        self.assert_quick()

    def test_more_slow_clients_than_connections_keep_nobody_out(self):
        """Without the token, a client has a place until others need it. The timeout of silence comes later."""
        self.serve()
        clients = self.connect(700, b"GET / HTTP/1.1\r\n")
        self.assertTrue(wait_until(lambda: sum(map(is_connected, clients)) <= 400, timeout_s=10))
        self.assert_quick()

    def test_a_head_has_a_deadline(self):
        """A byte now and then restarts the timeout of silence."""
        self.serve()
        slow = self.connect(1, b"GET / HTTP/1.1\r\nX: ")[0]
        end = time.monotonic() + 60
        slow.settimeout(1)
        while time.monotonic() < end:
            try:
                slow.sendall(b"a")
                self.assertEqual(slow.recv(1), b"")
                break
            except socket.timeout:
                pass
            except ConnectionError:
                break
        self.assertLess(time.monotonic(), end)

    def valid_requests(self):
        """(path, body) of requests with an answer."""
        profile = json.loads(gzip.decompress(self.server.get("profile.json").body))
        symbols = profile["shared"]["nativeSymbols"]
        lib, start = profile["libs"][symbols["libIndex"][0]], symbols["address"][0]
        module = {"debugName": lib["debugName"], "debugId": lib["breakpadId"]}
        requests = [("symbolicate/v5", {"jobs": [{"memoryMap": [[lib["debugName"], lib["breakpadId"]]],
                                                  "stacks": [[[0, start], [0, start + 1]]]}]}),
                    ("source/v1", {**module, "moduleOffset": hex(start), "file": "/etc/passwd"}),
                    ("asm/v1", {**module, "startAddress": hex(start), "size": "0x90"})]
        self.assertIn("instructions", self.server.post(*requests[2]).json())
        return requests

    def mad_request(self, chance, requests):
        server = self.server
        path, body = chance.choice(requests)
        path = chance.choice([path, path, path, "", "profile.json", "files/rec.pb.gz"])
        valid = json.dumps(body)
        head = f"POST /{server.token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        raw = bytearray(f"{head}Content-Length: {len(valid)}\r\n\r\n{valid}".encode())
        first = chance.choice([0, raw.index(b"{")])
        for _ in range(chance.randrange(0, 8)):
            at = chance.randrange(min(first, len(raw) - 1), len(raw))
            action = chance.randrange(4)
            if action == 0:
                raw[at] = chance.randrange(256)
            elif action == 1:
                del raw[at:at + chance.randrange(1, 9)]
            elif action == 2:
                raw[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
            else:
                raw[at:at] = chance.choice([b"[[[[", b"\r\n", b"\0", b"18446744073709551616", b"0x", b'"', b"../"])
        return bytes(raw)

    def test_mutated_requests_neither_crash_nor_hang(self):
        server = self.serve()
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        requests = self.valid_requests()
        end = time.monotonic() + ATTACK_S
        sent = 0
        while time.monotonic() < end:
            with socket.create_connection(("127.0.0.1", server.port), timeout=0.1) as client:
                try:
                    client.sendall(self.mad_request(chance, requests))
                    reply = client.recv(1 << 16)
                    self.assertNotIn(b"root:", reply, f"seed {seed}")
                except (ConnectionError, socket.timeout):
                    pass
            sent += 1
            self.assertIsNone(server.process.poll(), f"seed {seed}, request {sent}")
        self.assert_alive()
        self.assertGreater(sent, 50)
        self.assertEqual(server.stop()[0], 0)

    def test_the_token_is_in_no_command_line(self):
        server = self.serve()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    self.assertNotIn(server.token.encode(), file.read())
            except OSError:
                pass
        other = Server(self.capture)
        self.addCleanup(other.stop)
        self.assertNotEqual(server.token, other.token)
        self.assertNotEqual(server.port, other.port)

    def test_the_server_is_confined(self):
        server = self.serve()
        with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        self.assertEqual(status["Seccomp"].strip(), "2")
        self.assertEqual(status["NoNewPrivs"].strip(), "1")

    def test_names_of_captures_are_no_markup(self):
        directory = self.new_directory()
        name = "<script>alert(1)<"
        program = os.path.join(directory, name)
        with open(rec.target("shares"), "rb") as source, open(program, "wb") as copy:
            copy.write(source.read())
        os.chmod(program, 0o755)
        run = self.run_in(directory, [rec.REC, "-q", "-o", "rec.data", "--", program, "100"])
        self.assertEqual(run.status, 0, run.stderr)
        self.server = Server(os.path.join(directory, "rec.data"))
        self.addCleanup(self.server.stop)
        page = self.server.get("").body.decode()
        self.assertNotIn("<script>alert", page)
        self.assertIn("&lt;script&gt;alert(1)&lt;", page)
        self.assertNotIn("<script", urllib.parse.unquote(self.server.url))


if __name__ == "__main__":
    rec.main()
