# SPDX-License-Identifier: MIT
"""A running `rec view`: its addresses, and requests to it."""
import http.client
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse

import rec


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Server:
    """`rec view --no-open WORDS`, until stop()."""

    def __init__(self, *words, cwd=None, environment=None, opens=False):
        command = [rec.REC, "view", *([] if opens else ["--no-open"]), *words]
        self.process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        self.base = None
        if not opens:
            self.url = self.process.stdout.readline().strip()
            self.ssh = self.process.stdout.readline().strip()
            self.read_base()

    def read_base(self):
        """From the address of any viewer; the port of the server is the first one of the ssh command."""
        if not self.url:
            raise AssertionError(self.process.stderr.read())
        found = re.search(r"(http://[^/]+/[a-z2-7]{32})(?:/|$)", urllib.parse.unquote(self.url))
        self.base = found.group(1) if found else None
        self.port = int(re.search(r"-L (\d+):", self.ssh).group(1))
        self.token = self.base.rsplit("/", 1)[1] if self.base else None

    def request(self, method, path, body=None, headers=None, timeout=20):
        """A path below the token, or an absolute one with a slash in front."""
        if not path.startswith("/"):
            path = f"/{self.token}/{path}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, body, **options):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self.request("POST", path, body=text, headers={"Content-Type": "text/plain"}, **options)

    def cpu_ticks(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def stop(self, number=signal.SIGINT):
        """(status, rest of stdout, stderr)"""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            out, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
        return self.process.returncode, out, err


def wait_until(condition, timeout_s=20):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
