# SPDX-License-Identifier: MIT
"""A debuginfod server that answers with harm.

    server = HostileServer("flood")
    server.url, server.requests, server.close()
"""
import gzip
import http.server
import socketserver
import threading
import time
import zlib

MIB = 1 << 20
LONGEST_S = 300
BOMB_BYTES = 4 << 30


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.requests.append(self.path)
        self.close_connection = True
        try:
            getattr(self, self.server.kind)()
        except OSError:
            pass  # the client has left

    def begin(self, status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def ever(self):
        """Turns until the client has left or the test has ended."""
        end = time.monotonic() + LONGEST_S
        while time.monotonic() < end and not self.server.is_closed:
            yield

    def garbage(self):
        self.begin(Content_Length=str(MIB))
        self.wfile.write(bytes(range(256)) * (MIB // 256))

    def nothing(self):
        self.begin(Content_Length="0")

    def flood(self):
        """No length, no end."""
        self.begin()
        for _ in self.ever():
            self.wfile.write(bytes(MIB))

    def bomb(self):
        """A thousand times larger when decompressed."""
        self.begin(Content_Encoding="gzip")
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        piece = bytes(MIB)
        for _ in range(BOMB_BYTES // MIB):
            self.wfile.write(packer.compress(piece))
        self.wfile.write(packer.flush())

    def broken_bomb(self):
        self.begin(Content_Encoding="gzip")
        self.wfile.write(gzip.compress(bytes(MIB))[:500])

    def larger_than_stated(self):
        """More bytes than the length states, in a reply for a larger file than any client keeps."""
        self.begin(Content_Length=str(1 << 62))
        for _ in self.ever():
            self.wfile.write(bytes(MIB))

    def smaller_than_stated(self):
        self.begin(Content_Length=str(MIB))
        self.wfile.write(b"\x7fELF")

    def negative_length(self):
        self.begin(Content_Length="-1")
        self.wfile.write(bytes(MIB))

    def redirect_for_ever(self):
        self.close_connection = False
        self.begin(302, Location=f"/{len(self.server.requests)}/debuginfo", Content_Length="0")

    def redirect_to_file(self):
        self.begin(302, Location="file:///etc/passwd", Content_Length="0")

    def slow(self):
        self.begin(Content_Length=str(MIB))
        for _ in self.ever():
            self.wfile.write(b"x")
            time.sleep(0.2)

    def silent(self):
        for _ in self.ever():
            time.sleep(0.1)

    def headers_for_ever(self):
        self.send_response(200)
        self.flush_headers()
        for i, _ in enumerate(self.ever()):
            self.wfile.write(b"".join(b"X-%d-%d: %s\r\n" % (i, k, b"y" * 60000) for k in range(16)))

    def header_without_end(self):
        self.send_response(200)
        self.flush_headers()
        self.wfile.write(b"X: ")
        for _ in self.ever():
            self.wfile.write(b"y" * MIB)

    def other_file(self):
        """A sound ELF file, of another build."""
        with open("/proc/self/exe", "rb") as file:
            content = file.read()
        self.begin(Content_Length=str(len(content)), X_DEBUGINFOD_FILE="../../../etc/passwd")
        self.wfile.write(content)

    def not_there(self):
        self.begin(404, Content_Length="0")


class HostileServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, kind):
        super().__init__(("127.0.0.1", 0), Answer)
        self.kind, self.requests, self.is_closed = kind, [], False
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    def close(self):
        self.is_closed = True
        self.shutdown()
        self.server_close()


KINDS = [name for name, value in vars(Answer).items()
         if callable(value) and name not in ("log_message", "do_GET", "begin", "ever")]
