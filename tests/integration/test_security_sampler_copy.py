#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A copy stands in for a sampler that cannot be loaded from its directory: no other user can ever
take the copy's name. A sampler that other users could replace is refused."""
import filecmp
import glob
import grp
import os
import pwd
import shutil
import stat
import subprocess
import time

import rec

ATTEMPTS = rec.figure(2000, 200000)
DURATION_S = rec.figure(0, 600)
SUDO = dict(os.environ, SUDO_UID="65534", SUDO_GID="65534")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
OPEN_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
# As a user without privilege: takes the name of the copy as soon as it is free.
TAKE = """
import os, shutil, sys
path, library, attempts = sys.argv[1], sys.argv[2], int(sys.argv[3])
for _ in range(attempts):
    for step in (lambda: os.mkdir(os.path.dirname(path)), lambda: shutil.copy(library, path),
                 lambda: os.rename(os.path.dirname(path), os.path.dirname(path) + "-old"),
                 lambda: os.unlink(path)):
        try:
            step()
            sys.exit("taken")
        except OSError:
            pass
"""


class Installed(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, for processes of two users")
        os.chmod(self.directory, 0o755)

    def install(self, name, mode):
        place = os.path.join(self.directory, name)
        os.mkdir(place)
        for file in (rec.REC, os.path.join(os.path.dirname(rec.REC), "librec-sampler.so")):
            shutil.copy(file, place)
        os.chmod(place, mode)
        return place

    def start(self, place, *command, prefix=(), **options):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        return self.run_in(directory, [*prefix, os.path.join(place, "rec"), "-q", "--", *command],
                           **options)

    def path_of_copy(self, place, prefix=(), **options):
        """The path that programs get; the kernel shows it, the sampler hides it from the program."""
        script = "cat /proc/self/environ | tr '\\0' '\\n' | sed -n 's/^LD_PRELOAD=//p'"
        run = self.start(place, "sh", "-c", script, prefix=prefix, **options)
        self.assertEqual((run.status, run.stderr), (0, b""))
        return run.stdout.decode().strip()

    def assert_safe(self, path, uid):
        """Nobody but root and that user can write to it, or to what is above."""
        self.assertEqual(os.path.realpath(path), path)
        above = path
        while above != "/":
            status = os.lstat(above)
            parent = os.lstat(os.path.dirname(above))
            self.assertIn(status.st_uid, (0, uid), above)
            self.assertFalse(status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX, above)
            self.assertFalse(parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX, above)
            above = os.path.dirname(above)


class Copy(Installed):
    def test_the_name_of_roots_copy_stays_taken_after_the_recording(self):
        ends = time.monotonic() + DURATION_S
        self.try_to_take_the_copy()
        while time.monotonic() < ends:
            self.try_to_take_the_copy()

    def try_to_take_the_copy(self):
        for environment in (os.environ, SUDO):
            place = self.install(f"closed-{self.runs}", 0o700)
            shown = os.path.join(self.directory, f"shown-{self.runs}")
            command = (f"{rec.target('static_daemon')} 4 /bin/cat /proc/self/maps > {shown} 2>&1;"
                       " sleep 0.3")
            run = self.start(place, "sh", "-c", command, env=environment)
            self.assertEqual(run.status, 0, run.stderr)
            with open(shown, encoding="ascii") as file:
                pid = int(file.readline())
            with open(f"/proc/{pid}/environ", encoding="ascii") as file:
                entries = dict(entry.split("=", 1) for entry in file.read().split("\0") if entry)
            path = entries["LD_PRELOAD"]
            self.assert_safe(path, 0)
            library = shutil.copy(rec.target("lib_takeover.so"), self.directory)
            os.chmod(library, 0o755)
            taker = [shutil.which("python3"), "-c", TAKE, path, library, str(ATTEMPTS)]
            done = subprocess.run([*NOBODY, *taker], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and os.path.exists(f"/proc/{pid}"):
                time.sleep(0.05)
            with open(shown, encoding="ascii") as file:
                text = file.read()
            self.assertIn("/cat", text)
            self.assertNotIn("taken over", text)
            self.assertNotIn("ERROR", text)  # of the dynamic linker: the copy is gone
            self.assertIn(path, text)

    def test_one_copy_serves_all_recordings(self):
        place = self.install("closed", 0o700)
        path = self.path_of_copy(place)
        before = (os.stat(path).st_ino, sorted(os.listdir(os.path.dirname(path))))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o777, 0o644)
        self.assertEqual(self.path_of_copy(self.install("a b", 0o755)), path)
        self.assertEqual((os.stat(path).st_ino, sorted(os.listdir(os.path.dirname(path)))), before)

    def test_a_copy_that_is_not_the_sampler_is_replaced(self):
        place = self.install("closed", 0o700)
        path = self.path_of_copy(place)
        for change in (lambda: os.truncate(path, 100), lambda: os.chmod(path, 0o666),
                       lambda: os.chown(path, 65534, 65534), lambda: os.unlink(path),
                       lambda: (os.unlink(path),
                                os.symlink(rec.target("lib_takeover.so"), path))):
            change()
            with open(os.path.join(os.path.dirname(path), "unfinished"), "wb") as file:
                file.write(b"what a killed rec left")
            self.assertEqual(self.path_of_copy(place), path)
            self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)])
            installed = os.path.join(place, "librec-sampler.so")
            self.assertTrue(filecmp.cmp(path, installed, shallow=False))
            self.assertEqual((os.lstat(path).st_uid, os.lstat(path).st_mode & 0o777), (0, 0o644))

    def test_many_at_once(self):
        place = self.install("closed", 0o700)
        path = self.path_of_copy(place)
        os.unlink(path)
        script = 'for i in $(seq 10); do "$0"/rec -q -o $i.data -- true & done; wait'
        run = self.bare("sh", "-c", script, place)
        self.assertEqual((run.status, run.stderr), (0, b""))
        names = os.listdir(os.path.dirname(path))
        self.assertEqual([name for name in names if not name.endswith(".so")], [])

    def test_another_build_has_another_copy(self):
        first, second = self.install("closed", 0o700), self.install("other", 0o700)
        with open(os.path.join(second, "librec-sampler.so"), "ab") as file:
            file.write(b"\0")
        paths = [self.path_of_copy(place) for place in (first, second)]
        self.addCleanup(shutil.rmtree, os.path.dirname(paths[1]))
        self.assertNotEqual(*paths)

    def test_a_user_without_a_runtime_directory(self):
        place = self.install("a b", 0o755)
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("XDG_RUNTIME_DIR", "HOME")}
        path = self.path_of_copy(place, prefix=NOBODY, env=environment)
        self.assert_safe(path, 65534)
        self.assertTrue(path.startswith("/var/tmp/"))
        self.assertTrue(os.path.exists(path))
        # Cleaners of temporary files leave alone what is sticky.
        for kept in (path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            self.assertTrue(os.stat(kept).st_mode & stat.S_ISVTX)

    def test_a_runtime_directory_that_cannot_serve(self):
        place = self.install("a b", 0o755)
        run_here = os.path.join(self.directory, "runtime")
        os.mkdir(run_here, 0o700)
        os.chown(run_here, 65534, 65534)
        environment = dict(os.environ, XDG_RUNTIME_DIR=run_here, HOME="/nonexistent")
        path = self.path_of_copy(place, prefix=NOBODY, env=environment)
        self.assertEqual(os.path.dirname(os.path.dirname(path)),
                         os.path.join(run_here, "rec-sampler"))
        self.assert_safe(path, 65534)
        link = os.path.join(self.directory, "link")
        os.symlink(run_here, link)
        colon = os.path.join(self.directory, "a:b")
        os.mkdir(colon)
        os.chown(colon, 65534, 65534)
        for other in ("relative", "/nonexistent", self.directory, colon, "/", "/tmp"):
            with self.subTest(other=other):
                path = self.path_of_copy(place, prefix=NOBODY,
                                         env=dict(environment, XDG_RUNTIME_DIR=other))
                self.assertTrue(path.startswith("/var/tmp/"), path)
        os.chmod(run_here, 0o777)
        path = self.path_of_copy(place, prefix=NOBODY, env=environment)
        self.assertTrue(path.startswith("/var/tmp/"), path)

    def test_nothing_is_left_where_all_users_may_write(self):
        """But the directory of a user who has no better place."""
        before = {path for place in OPEN_PLACES for path in glob.glob(f"{place}/rec-sampler*")}
        self.path_of_copy(self.install("closed", 0o700))
        after = {path for place in OPEN_PLACES for path in glob.glob(f"{place}/rec-sampler*")}
        self.assertEqual(after, before)


class Places(Installed):
    """In mount namespaces, where the places are what the test makes of them."""
    EMPTY = "mount -t tmpfs -o {} none /run && mount -t tmpfs none /var/cache && "

    def path_in(self, options, *prefix):
        script = self.EMPTY.format(options) + 'exec "$@"'
        return self.path_of_copy(self.install(f"closed-{self.runs}", 0o700),
                                 prefix=["unshare", "--mount", "sh", "-c", script, "-", *prefix])

    def test_roots_first_choice_is_run(self):
        self.assertTrue(self.path_in("mode=755").startswith("/run/rec-sampler/"))

    def test_a_place_that_programs_cannot_be_run_from_that_is_full_or_open_is_skipped(self):
        for options in ("mode=755,noexec", "mode=755,size=8k", "mode=775,gid=4", "mode=777",
                        "mode=755,uid=12345", "mode=755,ro"):
            with self.subTest(options=options):
                self.assertTrue(self.path_in(options).startswith("/var/cache/rec-sampler/"))

    def test_root_of_a_user_namespace_has_the_place_that_is_left(self):
        """Its own root directory belongs to a user that has no name there."""
        place = self.install("a b", 0o755)
        path = self.path_of_copy(place, prefix=[*NOBODY, "unshare", "--map-root-user"])
        self.addCleanup(shutil.rmtree, os.path.dirname(os.path.dirname(path)))
        self.assertTrue(path.startswith("/var/tmp/rec-sampler-0/"), path)
        self.assert_safe(path, 65534)


class Trust(Installed):
    def refused(self, place, path, prefix=()):
        run = self.start(place, "touch", "started", prefix=prefix)
        self.assertEqual((run.status, run.stderr.count(b"\n")), (125, 1), run.stderr)
        self.assertIn(b"will not inject", run.stderr)
        self.assertIn(path.encode(), run.stderr)
        self.assertFalse(os.path.exists(run.path("started")))

    def accepted(self, place, prefix=()):
        run = self.start(place, "true", prefix=prefix)
        self.assertEqual((run.status, run.stderr), (0, b""))

    def test_a_directory_that_others_may_write_to_at_any_height(self):
        for mode in (0o777, 0o775, 0o757):
            above = os.path.join(self.directory, f"above-{mode:o}")
            os.mkdir(above)
            place = self.install(os.path.join(f"above-{mode:o}", "inside"), 0o755)
            self.accepted(place)
            for path in (above, place, os.path.join(place, "librec-sampler.so")):
                os.chown(path, 0, 65534)
                os.chmod(path, mode)
                self.refused(place, path)
                os.chmod(path, 0o755)
            self.accepted(place)

    def test_a_sticky_directory(self):
        above = os.path.join(self.directory, "sticky")
        os.mkdir(above)
        place = self.install("sticky/inside", 0o755)
        os.chmod(above, 0o1777)
        self.accepted(place)
        os.chown(place, 12345, 12345)
        self.refused(place, place)

    def test_a_directory_that_belongs_to_another_user(self):
        above = os.path.join(self.directory, "given")
        os.mkdir(above)
        place = self.install("given/inside", 0o755)
        os.chown(above, 12345, 12345)
        self.refused(place, above)

    def test_an_unmapped_owner_in_a_directory_open_to_all(self):
        """In a user namespace the other user has the same id as root."""
        place = self.install("linked", 0o755)
        other = self.install("other", 0o755)
        os.chmod(self.directory, 0o1777)
        sampler = os.path.join(place, "librec-sampler.so")
        os.unlink(sampler)
        os.symlink(os.path.join(other, "librec-sampler.so"), sampler)
        inside = [*NOBODY, "unshare", "--map-root-user"]
        self.accepted(place)
        for path in (other, os.path.join(other, "librec-sampler.so")):
            os.chown(path, 12345, 12345)
        self.refused(place, other)
        self.refused(place, other, prefix=inside)
        self.accepted(other, prefix=inside)  # there, the same user could replace rec itself

    def test_a_build_of_a_user_with_a_private_group(self):
        """User and group `daemon` have the same name, and the group no other member."""
        account = pwd.getpwnam("daemon")
        if grp.getgrgid(account.pw_gid) != ("daemon", "x", account.pw_gid, []):
            self.skipTest("the group of user daemon is not private here")
        place = self.install("build", 0o775)
        for path in (place, f"{place}/rec", f"{place}/librec-sampler.so"):
            os.chown(path, account.pw_uid, account.pw_gid)
            os.chmod(path, 0o775)
        daemon = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}",
                  "--clear-groups"]
        self.accepted(place, prefix=daemon)
        self.refused(place, place + "/librec-sampler.so")  # by root
        os.chown(place, account.pw_uid, grp.getgrnam("adm").gr_gid)
        self.refused(place, place, prefix=daemon)

    def test_a_group_of_several_users_shown_as_group_0(self):
        """`unshare --map-root-user` shows the user's own group, here of several users, as the group of root."""
        users = grp.getgrnam("users").gr_gid
        place = self.install("shared", 0o775)
        for path in (place, f"{place}/rec", f"{place}/librec-sampler.so"):
            os.chown(path, 12345, users)
        user = ["setpriv", "--reuid=12345", f"--regid={users}", "--clear-groups"]
        self.refused(place, place, prefix=user)
        self.refused(place, place, prefix=[*user, "unshare", "--map-root-user"])


if __name__ == "__main__":
    rec.main()
