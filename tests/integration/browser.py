# SPDX-License-Identifier: MIT
"""A headless Chromium: the page as it is after its scripts have run."""
import os
import shutil
import signal
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium")
TIMEOUT_S = 120


def dump(url, virtual_ms=None, options=()):
    """The DOM of the page as HTML, and the messages of its console; after some virtual time, for pages that go on
    loading."""
    with tempfile.TemporaryDirectory(prefix="rec-browser-") as home:
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-background-networking", "--disable-dev-shm-usage", "--enable-logging=stderr",
                   "--window-size=1400,900", f"--user-data-dir={home}/profile", "--dump-dom",
                   *([f"--virtual-time-budget={virtual_ms}"] if virtual_ms else []), *options, url]
        browser = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "HOME": home}, start_new_session=True)
        try:
            out, err = browser.communicate(timeout=TIMEOUT_S)
        finally:
            try:
                os.killpg(browser.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            browser.wait()
    return out.decode(), [line for line in err.decode(errors="replace").splitlines() if "CONSOLE" in line]
