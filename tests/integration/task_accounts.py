# SPDX-License-Identifier: MIT
"""The kernel's account of each thread that ends, by taskstats, as root, independent of rec and of tracepoints.

    with task_accounts.Recording() as ends:
        ...
    ends.accounts()[tid]   ->  Account(cpu, runnable, turns), ns: the numbers of /proc/TID/schedstat at the end

The first number is the CPU time behind rusage (sum_exec_runtime), the second one the time in run queues.
"""
import collections
import math
import os
import socket
import struct
import threading
import time

NETLINK_GENERIC, SOL_SOCKET, SO_RCVBUFFORCE = 16, 1, 33
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
TASKSTATS_CMD_GET, REGISTER_CPUMASK = 1, 3
TYPE_PID, TYPE_STATS, TYPE_AGGR_PID = 1, 3, 4
HEADERS_BYTES = 20  # nlmsghdr, genlmsghdr
BUFFER_BYTES = 64 << 20
POLL_S, DRAIN_S = 0.1, 1
# struct taskstats: cpu_count, cpu_delay_total at 16; cpu_run_virtual_total at 72
DELAYS, RUN_NS = struct.Struct("=16xQQ"), struct.Struct("=72xQ")
Account = collections.namedtuple("Account", "cpu runnable turns")


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(family, command, payload):
    return struct.pack("=IHHIIBBH", HEADERS_BYTES + len(payload), family, 1, 0, 0, command, 1, 0) + payload


def attributes(data):
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("=HH", data, at)
        if size < 4:
            return
        yield kind & 0x3fff, data[at + 4:at + size]
        at += (size + 3) & ~3


def messages(data):
    at = 0
    while at + HEADERS_BYTES <= len(data):
        size, = struct.unpack_from("=I", data, at)
        yield data[at + HEADERS_BYTES:at + size]
        at += (size + 3) & ~3


def is_available():
    found = open_socket() if os.geteuid() == 0 else None
    if found:
        found[0].close()
    return found is not None


def family_of(link):
    link.send(message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, attribute(CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")))
    for payload in messages(link.recv(65536)):
        for kind, value in attributes(payload):
            if kind == CTRL_ATTR_FAMILY_ID:
                return struct.unpack("=H", value)[0]
    return None


def open_socket():
    """(socket, family), or None."""
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    link.bind((0, 0))
    family = family_of(link)
    if family is None:
        link.close()
        return None
    return link, family


class Recording:
    def __init__(self):
        self.data, self.last_s = [], math.inf

    def __enter__(self):
        self.link, family = open_socket()
        self.link.setsockopt(SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        self.link.settimeout(POLL_S)
        processors = f"0-{os.cpu_count() - 1}\0".encode()
        self.link.send(message(family, TASKSTATS_CMD_GET, attribute(REGISTER_CPUMASK, processors)))
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        return self

    def read(self):
        """Ends at a pause, or DRAIN_S after the end: other processes may end all the time. An overflow of the buffer
        (ENOBUFS) ends the reader, too."""
        while time.monotonic() < self.last_s:
            try:
                self.data.append(self.link.recv(65536))
            except socket.timeout:
                if self.last_s < math.inf:
                    return

    def __exit__(self, *_):
        self.last_s = time.monotonic() + DRAIN_S
        self.reader.join()
        self.link.close()

    def accounts(self):
        """By tid."""
        found = {}
        for data in self.data:
            for payload in messages(data):
                for kind, value in attributes(payload):
                    parts = dict(attributes(value)) if kind == TYPE_AGGR_PID else {}
                    if TYPE_STATS in parts:
                        stats = parts[TYPE_STATS]
                        turns, runnable = DELAYS.unpack_from(stats)
                        found[struct.unpack("=I", parts[TYPE_PID])[0]] = Account(RUN_NS.unpack_from(stats)[0],
                                                                                 runnable, turns)
        return found
