# SPDX-License-Identifier: MIT
"""A file system with one file, by FUSE, as root: a read takes a while, and mmap() through a descriptor open for writing
waits for the read, with the mmap lock of the process held.

    with slow_file.mounted(directory, seconds) as path: ...
"""
import contextlib
import ctypes
import errno
import os
import struct
import threading

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, INTERRUPT = 1, 2, 3, 14, 15, 18, 25, 26, 36
ROOT, FILE, BYTES = 1, 2, 4096
NOSUID, NODEV, FORCE, DETACH = 2, 4, 1, 2
DIRECT_IO, KEEP_CACHE = 1, 2  # of a descriptor: its mmap() drops the pages that others have read; its open() does not
HEAD = struct.Struct("<IIQQ")  # of a request: length, kind, number, node
HEAD_BYTES = 40


def attributes(node):
    mode, size = (0o40755, 0) if node == ROOT else (0o100644, BYTES)
    return struct.pack("<6Q10I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, BYTES, 0)


def answer(fd, number, content=b"", error=0):
    with contextlib.suppress(OSError):  # unmounted, or not awaited any more
        os.write(fd, struct.pack("<IiQ", 16 + len(content), -error, number) + content)


def serve(fd, seconds):
    while True:
        try:
            request = os.read(fd, 1 << 17)
        except OSError:
            return
        _, kind, number, node = HEAD.unpack_from(request)
        if kind == INIT:
            answer(fd, number, struct.pack("<4I2H2I2H8I", 7, 31, 1 << 16, 0, 12, 9, 1 << 16, 1, 16, 0, *[0] * 8))
        elif kind == LOOKUP:
            answer(fd, number, struct.pack("<4Q2I", FILE, 0, 3600, 3600, 0, 0) + attributes(FILE))
        elif kind == GETATTR:
            answer(fd, number, struct.pack("<Q2I", 3600, 0, 0) + attributes(node))
        elif kind == OPEN:
            flags, = struct.unpack_from("<I", request, HEAD_BYTES)
            answer(fd, number, struct.pack("<Q2I", 1, KEEP_CACHE | (DIRECT_IO if flags & os.O_ACCMODE else 0), 0))
        elif kind == READ:
            timer = threading.Timer(seconds, answer, (fd, number, bytes(BYTES)))
            timer.daemon = True
            timer.start()
        elif kind not in (FORGET, INTERRUPT):
            answer(fd, number, error=0 if kind in (FLUSH, RELEASE) else errno.ENOSYS)


@contextlib.contextmanager
def mounted(directory, seconds):
    fd = os.open("/dev/fuse", os.O_RDWR)
    options, libc = f"fd={fd},rootmode=40000,user_id=0,group_id=0", ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"fuse", directory.encode(), b"fuse", NOSUID | NODEV, options.encode()):
        os.close(fd)
        raise OSError(ctypes.get_errno(), "mount")
    thread = threading.Thread(target=serve, args=(fd, seconds), daemon=True)
    thread.start()
    try:
        yield os.path.join(directory, "file")
    finally:
        libc.umount2(directory.encode(), FORCE | DETACH)  # calls under way fail, and the server's read
        thread.join()
        os.close(fd)


def is_available(directory):
    try:
        with mounted(directory, 0):
            return True
    except OSError:
        return False
