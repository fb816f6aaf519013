#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec view`: addresses, requests of viewers, the page of viewers, the browser, the end."""
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.request

import browser
import rec
from view_server import Server, wait_until

# One capture for all tests; the server only reads it.
PROGRAM = "inlined"
HAS_SYMBOL = 8  # frameTable.flags


def capture_of(case):
    run = case.recorded(rec.target(PROGRAM), "300", rec_options=["-q", "-o", "rec.data"])
    return run.path()


class View(rec.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("test_every_file_is_there")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.capture = capture_of(case)

    def serve(self, *words, **options):
        server = Server(self.capture, *words, **options)
        self.addCleanup(server.stop)
        return server

    def profile(self, server):
        return json.loads(gzip.decompress(server.get("profile.json").body))

    def test_stdout_has_the_address_and_the_ssh_command_only(self):
        server = self.serve()
        self.assertRegex(server.url, r"^https://profiler\.firefox\.com/from-url/http%3A%2F%2F127\.0\.0\.1%3A\d+%2F"
                                     r"[a-z2-7]{32}%2Fprofile\.json/\?symbolServer=http%3A%2F%2F127[^&]*$")
        self.assertTrue(server.ssh.startswith(f"ssh -L {server.port}:127.0.0.1:{server.port} "), server.ssh)
        status, out, _ = server.stop()
        self.assertEqual((status, out), (0, ""))
        other = self.serve("--profiler", "https://profiler.test/")
        self.assertTrue(other.url.startswith("https://profiler.test/from-url/http%3A"), other.url)

    def test_every_file_is_there(self):
        server = self.serve()
        page = server.get("").body.decode()
        names = re.findall(r'href="(files/[^"]+)"', page)
        self.assertGreaterEqual(len(names), 7)
        for name in names:
            reply = server.get(name)
            self.assertEqual(reply.status, 200, name)
            self.assertGreater(len(reply.body), 100, name)
            self.assertIn("attachment", reply.headers["content-disposition"])
        served = server.get("profile.json")
        self.assertEqual(served.headers["content-encoding"], "gzip")
        self.assertEqual(json.loads(gzip.decompress(served.body)),
                         json.loads(gzip.decompress(server.get("files/rec.json.gz").body)))

    def test_symbolicate_has_the_names_of_the_file(self):
        server = self.serve()
        profile = self.profile(server)
        shared = profile["shared"]
        strings, frames, funcs = shared["stringArray"], shared["frameTable"], shared["funcTable"]
        checked = 0
        for index, lib in enumerate(profile["libs"]):
            names = {}
            for i in range(frames["length"]):
                symbol = frames["nativeSymbol"][i]
                if not frames["flags"][i] & HAS_SYMBOL or shared["nativeSymbols"]["libIndex"][symbol] != index:
                    continue
                names.setdefault(frames["address"][i], []).append(strings[funcs["name"][frames["func"][i]]])
            if not names:
                continue
            offsets = sorted(names)
            reply = server.post("symbolicate/v5", {"jobs": [{
                "memoryMap": [[lib["debugName"], lib["breakpadId"]]],
                "stacks": [[[0, offset] for offset in offsets]]}]}).json()
            result = reply["results"][0]
            self.assertEqual(result["found_modules"], {f"{lib['debugName']}/{lib['breakpadId']}": True})
            for offset, frame in zip(offsets, result["stacks"][0]):
                found = {frame["function"], *(inline["function"] for inline in frame.get("inlines", []))}
                self.assertEqual(found, set(names[offset]))
                self.assertIn("function_offset", frame)
                checked += 1
        self.assertGreater(checked, 3)

    def test_unknown_modules_and_addresses_have_no_names(self):
        server = self.serve()
        reply = server.post("symbolicate/v5", {"jobs": [{
            "memoryMap": [["no.so", "0" * 33]], "stacks": [[[0, 1], [7, 1], [0, -1], ["x"], 5]]}]}).json()
        stack = reply["results"][0]["stacks"][0]
        self.assertEqual(len(stack), 5)
        self.assertFalse(any("function" in frame for frame in stack))

    def native(self, profile, name):
        """(lib, symbol row) of a function."""
        shared = profile["shared"]
        symbols = shared["nativeSymbols"]
        row = [shared["stringArray"][s] for s in symbols["name"]].index(name)
        return profile["libs"][symbols["libIndex"][row]], symbols["address"][row], symbols["functionSize"][row]

    def test_assembly_is_that_of_annotate(self):
        server = self.serve()
        lib, address, size = self.native(self.profile(server), "main")
        reply = server.post("asm/v1", {"debugName": lib["debugName"], "debugId": lib["breakpadId"],
                                       "name": lib["name"], "codeId": lib["codeId"], "startAddress": hex(address),
                                       "size": hex(size), "continueUntilFunctionEnd": False}).json()
        done = subprocess.run([rec.REC, "annotate", "--asm", "--json", "main", self.capture], capture_output=True,
                              check=True)
        symbols = {symbol["name"]: symbol for symbol in json.loads(done.stdout)["symbols"]}
        ours = symbols["main"]["instructions"]
        start = int(ours[0]["address"], 16)
        self.assertEqual(reply["arch"], "x86_64")
        self.assertEqual(reply["syntax"], ["Intel"])
        self.assertEqual(int(reply["size"], 16), size)
        self.assertEqual(reply["instructions"], [[int(item["address"], 16) - start, item["text"]] for item in ours])

    def test_a_capture_removed_or_replaced_meanwhile_is_served_as_it_was(self):
        run = self.recorded(rec.target("jit"), "dump", "0.2", rec_options=["-q", "-o", "rec.data"])
        server = Server(run.path())
        self.addCleanup(server.stop)
        first = server.get("files/rec.pb.gz").body
        lib, address, size = self.native(self.profile(server), "second")
        wanted = {"debugName": lib["debugName"], "debugId": lib["breakpadId"], "startAddress": hex(address),
                  "size": hex(size)}
        code = server.post("asm/v1", wanted).json()
        self.assertIn("instructions", code)
        shutil.copy(self.capture, run.path("new.data"))
        os.rename(run.path("new.data"), run.path())
        self.assertEqual(server.get("files/rec.pb.gz").body, first)
        os.remove(run.path())
        self.assertEqual(server.get("files/rec.pb.gz").body, first)
        self.assertEqual(server.post("asm/v1", wanted).json(), code)
        self.assertIsNone(server.process.poll())

    def test_generated_code_has_assembly(self):
        """Two functions at one address, one after the other: two modules."""
        run = self.recorded(rec.target("jit"), "dump", "0.4", rec_options=["-q", "-o", "rec.data"])
        server = Server(run.path())
        self.addCleanup(server.stop)
        profile = self.profile(server)
        modules = set()
        for name in ("first", "second"):
            lib, address, size = self.native(profile, name)
            modules.add(lib["debugName"])
            module = {"debugName": lib["debugName"], "debugId": lib["breakpadId"]}
            reply = server.post("asm/v1", {**module, "startAddress": hex(address), "size": hex(size)}).json()
            self.assertEqual([text for _, text in reply["instructions"]][:3],
                             ["push rbp", "mov rbp, rsp", "mov eax, 0xf4240"])
            names = {"jobs": [{"memoryMap": [[lib["debugName"], lib["breakpadId"]]],
                               "stacks": [[[0, address + offset] for offset, _ in reply["instructions"]]]}]}
            found = server.post("symbolicate/v5", names).json()["results"][0]["stacks"][0]
            self.assertEqual({frame["function"] for frame in found if "function" in frame}, {name})
        self.assertEqual(len(modules), 2)

    def frame_with_source(self, profile):
        """(lib, address, file) of a sampled line."""
        shared = profile["shared"]
        for i in range(shared["frameTable"]["length"]):
            source = shared["funcTable"]["source"][shared["frameTable"]["func"][i]]
            symbol = shared["frameTable"]["nativeSymbol"][i]
            if source is None or not shared["frameTable"]["flags"][i] & HAS_SYMBOL:
                continue
            file = shared["stringArray"][shared["sources"]["filename"][source]]
            if file.endswith("inlined.c"):
                lib = profile["libs"][shared["nativeSymbols"]["libIndex"][symbol]]
                return lib, shared["frameTable"]["address"][i], file
        raise AssertionError("no line of inlined.c")

    def test_sources_of_frames_are_served_and_no_others(self):
        server = self.serve()
        lib, address, file = self.frame_with_source(self.profile(server))
        wanted = {"debugName": lib["debugName"], "debugId": lib["breakpadId"], "moduleOffset": hex(address),
                  "file": file}
        with open(file, encoding="utf-8") as text:
            self.assertEqual(server.post("source/v1", wanted).json()["source"], text.read())
        other = os.path.join(os.path.dirname(file), "shares.c")
        for change in ({"file": "/etc/passwd"}, {"file": other}, {"file": file + "/../shares.c"},
                       {"file": os.path.join(os.path.dirname(file), "..", "targets", "inlined.c")},
                       {"moduleOffset": "0x1"}, {"moduleOffset": "-0x1"}, {"debugId": "0" * 33}, {"file": None},
                       {"file": file + "\0"}):
            reply = server.post("source/v1", {**wanted, **change})
            self.assertEqual(reply.status, 200)
            self.assertEqual(list(reply.json()), ["error"], change)

    def test_the_page_opens_in_a_browser(self):
        if not browser.CHROMIUM:
            self.skipTest("chromium is missing: run tools/setup")
        server = self.serve()
        page, messages = browser.dump(f"{server.base}/")
        self.assertEqual(messages, [])
        self.assertIn("Hand over", page)
        html, messages = browser.dump(f"{server.base}/page")
        self.assertEqual([line for line in messages if "Refused" in line or "rror" in line], [])
        self.assertIn("inlined", html)

    def test_the_profile_is_handed_over_by_messages(self):
        """A page with the script of the page of viewers, pressing its button; a front end that answers messages."""
        if not browser.CHROMIUM:
            self.skipTest("chromium is missing: run tools/setup")
        folder = self.new_directory()
        with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
            file.write("<script>addEventListener('message', (event) => { if (event.data.name === 'ready:request') "
                       "event.source.postMessage({name: 'ready:response'}, event.origin); });</script>")
        server = self.serve("--profiler", folder)
        origin = re.match(r"http://[^/]+", server.url).group()
        script = server.get("index.js").body.decode().replace("'embedded.json'", f"'{server.base}/embedded.json'")
        text = (f"<button id=hand-over data-profiler='{origin}'></button><span id=state></span>"
                f"<script>{script} setTimeout(() => button.click(), 300);</script>").encode()

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass
        with http.server.HTTPServer(("127.0.0.1", 0), Page) as opener:
            threading.Thread(target=opener.serve_forever, daemon=True).start()
            page, _ = browser.dump(f"http://127.0.0.1:{opener.server_port}/", 8000, ["--disable-popup-blocking"])
            opener.shutdown()
        self.assertIn('<span id="state">The profile was handed over.</span>', page)
        embedded = json.loads(gzip.decompress(server.get("embedded.json").body))
        self.assertTrue(any(embedded["shared"]["sources"]["content"]))

    def test_a_local_front_end_gets_all_paths(self):
        folder = self.new_directory()
        with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
            file.write("the front end")
        with open(os.path.join(folder, "app.js"), "w", encoding="utf-8") as file:
            file.write("1")
        os.symlink("/etc/passwd", os.path.join(folder, "link.js"))
        server = self.serve("--profiler", folder)
        port = int(re.match(r"http://127\.0\.0\.1:(\d+)/from-url/", server.url).group(1))
        self.assertIn(f"-L {port}:127.0.0.1:{port}", server.ssh)
        server.port = port
        self.assertEqual(server.get("/from-url/x/?a=b").body, b"the front end")
        self.assertEqual(server.get("/app.js").headers["content-type"], "text/javascript; charset=utf-8")
        for path in ("/link.js", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"):
            self.assertEqual(server.get(path).body, b"the front end", path)
        self.assertEqual(server.get("/", headers={"Host": f"evil.test:{port}"}).status, 421)

    def test_the_browser_gets_an_address_that_works_once(self):
        opened = os.path.join(self.new_directory(), "opened")
        program = os.path.join(self.new_directory(), "browser")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho \"$1\" > {opened}.new\nmv {opened}.new {opened}\n")
        os.chmod(program, 0o755)
        server = self.serve(opens=True, environment={"BROWSER": program})
        self.assertTrue(wait_until(lambda: os.path.exists(opened)))
        with open(opened, encoding="utf-8") as file:
            address = file.read().strip()
        server.port = int(re.match(r"http://127\.0\.0\.1:(\d+)/", address).group(1))
        path = "/" + address.rsplit("/", 1)[1]
        first, second = server.get(path), server.get(path)
        self.assertEqual((first.status, second.status), (302, 404))
        token = re.search(r"%2F([a-z2-7]{32})%2F", first.headers["location"]).group(1)
        self.assertNotIn(token, address)
        with open(f"/proc/{server.process.pid}/cmdline", encoding="utf-8") as file:
            self.assertNotIn(token, file.read())
        self.assertNotIn("access-control-allow-origin", first.headers)
        _, out, err = server.stop()
        self.assertEqual(out, "")
        self.assertIn(f"/{token}/", err)

    def test_silence_of_ten_seconds_is_mentioned_and_costs_no_cpu(self):
        server = self.serve(opens=True, environment={"BROWSER": "true"})
        before = None
        for _ in range(110):
            time.sleep(0.1)
            before = before if before is not None else server.cpu_ticks()
        self.assertLessEqual(server.cpu_ticks() - before, 1)
        self.assertRegex(server.stop()[2], "no request has arrived for 10 s: .*Hand over")

    def test_recording_with_view_serves_the_capture(self):
        directory = self.new_directory()
        process = subprocess.Popen([rec.REC, "-q", "--view", "--", rec.target("shares"), "100"], cwd=directory,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={k: v for k, v in os.environ.items()
                                        if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = []
        while not lines or not lines[-1].startswith("ssh "):
            lines.append(process.stdout.readline())
            self.assertTrue(lines[-1], "rec ended")
        self.assertTrue(lines[-2].startswith("https://profiler.firefox.com/from-url/"))
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 0)
        for words in (["--view", "-o", "x.pb.gz"], ["--view", "--repeat", "2", "-o", "d/"]):
            done = subprocess.run([rec.REC, *words, "--", "true"], cwd=directory, capture_output=True, text=True,
                                  timeout=rec.TIMEOUT_S)
            self.assertEqual(done.returncode, 125)
            self.assertIn("--view", done.stderr)

    def test_pprof_shows_its_flame_graph(self):
        if not shutil.which("pprof") and not shutil.which("go"):
            self.skipTest("go is missing: run tools/setup")
        server = self.serve("--pprof")
        self.assertRegex(server.url, r"^http://127\.0\.0\.1:\d+/ui/flamegraph$")
        self.assertIn("rec view --pprof", self.serve().get("").body.decode())
        opened = self.serve("--pprof", opens=True, environment={"BROWSER": "true"})
        lines = iter(opened.process.stderr.readline, "")
        base = next(found.group() for line in lines if (found := re.search(r"http://\S+/[a-z2-7]{32}/", line)))
        with urllib.request.urlopen(base) as page:
            self.assertRegex(page.read().decode(), r'<a href="http://127\.0\.0\.1:\d+/ui/flamegraph">pprof')
        server.port = int(server.url.split(":")[2].split("/")[0])

        def is_shown():
            try:
                return b"inlined" in server.get("/ui/flamegraph").body
            except OSError:
                return False
        self.assertTrue(wait_until(is_shown, 60))
        server.stop()
        self.assertFalse(is_shown())

    def test_failures_have_one_line(self):
        first = self.serve()
        cases = [
            (["--port", str(first.port)], "cannot listen on 127.0.0.1"),
            (["--address", "localhost"], "numeric address"),
            (["--profiler", self.new_directory()], "no index.html"),
            (["--speedscope=/nowhere"], "cannot open the folder of speedscope"),
            (["--pid", "1"], "no samples in the selected part"),
            (["--port", "0"], "--port needs a number"),
        ]
        for words, message in cases:
            done = subprocess.run([rec.REC, "view", "--no-open", self.capture, *words], capture_output=True, text=True,
                                  timeout=rec.TIMEOUT_S)
            self.assertEqual(done.returncode, 125, words)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_binary_rebuilt_or_gone_is_reported(self):
        directory = self.new_directory()
        program = os.path.join(directory, "app")
        shutil.copy(rec.target(PROGRAM), program)
        run = self.run_in(directory, [rec.REC, "-q", "-o", "rec.data", "--", program, "200"])
        self.assertEqual(run.status, 0)
        server = Server(os.path.join(directory, "rec.data"))
        self.addCleanup(server.stop)
        lib, address, size = self.native(self.profile(server), "main")
        wanted = {"debugName": lib["debugName"], "debugId": lib["breakpadId"], "startAddress": hex(address),
                  "size": hex(size)}
        self.assertIn("instructions", server.post("asm/v1", wanted).json())
        shutil.copy(rec.target("shares"), program + ".new")
        os.rename(program + ".new", program)
        self.assertIn("not the recorded file", server.post("asm/v1", wanted).json()["error"])
        os.remove(program)
        self.assertIn("No such file", server.post("asm/v1", wanted).json()["error"])


if __name__ == "__main__":
    rec.main()
