#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What rec records opens in hotspot: its parser takes the file and finds the names in it."""
import os
import shutil
import subprocess
import tempfile

PARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"


def main():
    if not os.path.exists(PARSER):
        print("skipped: there is no hotspot on this machine (Debian: hotspot)")
        return 77
    program = os.path.join(os.environ["TARGETS"], "shares")
    directory = tempfile.mkdtemp(prefix="rec-hotspot-")
    try:
        subprocess.run([os.environ["REC"], "-q", "-o", "app.data", "--", program, "200"],
                       cwd=directory, check=True, stdout=subprocess.DEVNULL, timeout=60)
        done = subprocess.run([PARSER, "--input", "app.data", "--output", "app.parsed"],
                              cwd=directory, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        with open(f"{directory}/app.parsed", "rb") as file:
            parsed = file.read()
        samples = parsed.count(b"QPERFSTREAM")
        assert samples == 1, "not what hotspot reads"
        functions = [name for name in (b"main", b"__libc_start_call_main", b"shares")
                     if name in parsed]
        assert len(functions) == 3, f"only {functions} in {len(parsed)} bytes\n{done.stderr}"
    finally:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
