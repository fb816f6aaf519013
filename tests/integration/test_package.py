#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages of cpack: the .deb is installed by dpkg into an empty root directory beside a `rec` of sox, run there,
and removed; the archive runs where it was unpacked. Needs dpkg-dev and a mount namespace."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["BUILD"]
# Run inside the root directory: programs for dpkg's scripts, and a program to record.
PROGRAMS = ("sh", "find", "readlink", "mkdir", "ln", "rm", "rmdir", "cat", "true")
SPIN = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"


def in_namespace():
    """Starts again in a mount namespace, as its root: the root directory needs /proc."""
    words = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        print("no mount namespace here")
        sys.exit(77)
    os.execvpe("unshare", [*words, sys.executable, *sys.argv], {**os.environ, "REC_IN_NAMESPACE": "1"})


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def copy(path, root):
    target = root + os.path.realpath(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.exists(target):
        shutil.copy(os.path.realpath(path), target)
    return target


def add_libraries(program, root):
    for line in run("ldd", program).splitlines():
        path = next((word for word in line.split() if word.startswith("/")), None)
        if path:
            copy(path, root)
            if path != os.path.realpath(path):
                link = root + path
                os.makedirs(os.path.dirname(link), exist_ok=True)
                if not os.path.exists(link):
                    shutil.copy(path, link)


def make_root(root):
    """An empty Debian: dpkg's database, the programs of its scripts, the libraries of rec, and sox's `rec`."""
    os.chmod(root, 0o755)
    for folder in ("proc", "tmp", "usr/bin", "usr/lib", "usr/lib64", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    for folder in ("bin", "lib", "lib64"):
        os.symlink(f"usr/{folder}", f"{root}/{folder}")
    open(f"{root}/var/lib/dpkg/status", "w", encoding="ascii").close()
    for name in PROGRAMS:
        path = shutil.which(name)
        shutil.copy(path, f"{root}/usr/bin/{name}")
        add_libraries(path, root)
    add_libraries(f"{BUILD}/rec", root)
    with open(f"{root}/usr/bin/rec", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho sox\n")
    os.chmod(f"{root}/usr/bin/rec", 0o755)
    run("mount", "--rbind", "/proc", f"{root}/proc")


def remove_root(root):
    subprocess.run(["umount", "-l", f"{root}/proc"], check=False)
    if not os.path.ismount(f"{root}/proc"):
        shutil.rmtree(root)


def inside(root, command):
    return run("chroot", root, "/bin/sh", "-c", f"PATH=/usr/local/bin:/usr/bin; cd /tmp; {command}", cwd="/")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        run("cpack", "-G", "DEB;TGZ", "-B", cls.folder, "--config", f"{BUILD}/CPackConfig.cmake", cwd=BUILD)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def package(self, suffix):
        found = glob.glob(f"{self.folder}/*{suffix}")
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_the_package_shares_no_path_with_sox(self):
        paths = run("dpkg-deb", "--contents", self.package(".deb")).split()
        files = [path for path in paths if path.startswith("./") and not path.endswith("/")]
        self.assertIn("./opt/rec/bin/rec", files)
        self.assertIn("./opt/rec/bin/rec-view", files)
        self.assertIn("./opt/rec/share/man/man1/rec-report.1", files)
        self.assertEqual([path for path in files if not path.startswith("./opt/rec/")], [])

    def test_the_package_depends_on_the_libraries_of_rec(self):
        version, depends = run("dpkg-deb", "-f", self.package(".deb"), "Version", "Depends").splitlines()
        self.assertIn(version.split()[1], run(f"{BUILD}/rec", "--version"))
        for library in ("libc6", "libdw1", "libelf1", "libmicrohttpd12", "libjson-c5"):
            self.assertIn(library, depends)

    def test_an_installed_package_records_beside_sox_and_is_removed_without_a_trace(self):
        root = tempfile.mkdtemp()
        try:
            make_root(root)
            dpkg = ("dpkg", f"--root={root}", "--force-depends", "--log=/dev/null")
            run(*dpkg, "-i", self.package(".deb"))
            self.assertEqual(inside(root, "/usr/bin/rec"), "sox\n")
            self.assertIn("rec ", inside(root, "rec --version"))
            stacks = inside(root, f"rec -q -o app.folded -- sh -c '{SPIN}' && cat app.folded")
            self.assertGreater(sum(int(line.rsplit(" ", 1)[1]) for line in stacks.splitlines()), 10, stacks)
            for path in ("share/man/man1/rec.1", "share/bash-completion/completions/rec"):
                self.assertGreater(len(inside(root, f"cat /usr/local/{path}")), 500)
            run(*dpkg, "-r", "rec")
            left = sorted(os.path.relpath(f"{folder}/{name}", f"{root}/usr/local")
                          for folder, folders, names in os.walk(f"{root}/usr/local") for name in folders + names)
            # Debian's base-files has these.
            self.assertEqual((left, os.path.exists(f"{root}/opt/rec")), (["bin", "share", "share/man"], False))
            self.assertEqual(inside(root, "rec"), "sox\n")
        finally:
            remove_root(root)

    def test_a_name_in_use_is_left_alone(self):
        root = tempfile.mkdtemp()
        try:
            make_root(root)
            os.makedirs(f"{root}/usr/local/bin")
            with open(f"{root}/usr/local/bin/rec", "w", encoding="ascii") as file:
                file.write("own\n")
            dpkg = ("dpkg", f"--root={root}", "--force-depends", "--log=/dev/null")
            run(*dpkg, "-i", self.package(".deb"))
            self.assertIn("rec ", inside(root, "/opt/rec/bin/rec --version"))
            run(*dpkg, "-r", "rec")
            self.assertEqual(inside(root, "cat /usr/local/bin/rec"), "own\n")
        finally:
            remove_root(root)

    def test_the_archive_runs_where_it_was_unpacked(self):
        with tempfile.TemporaryDirectory() as here:
            run("tar", "-xf", self.package(".tar.gz"), "-C", here)
            program, = glob.glob(f"{here}/*/bin/rec")
            run(program, "-q", "-o", f"{here}/app.folded", "--", "sh", "-c", SPIN)
            self.assertGreater(os.path.getsize(f"{here}/app.folded"), 0)


if __name__ == "__main__":
    for needed in ("cpack", "dpkg", "dpkg-deb", "dpkg-shlibdeps", "unshare", "chroot"):
        if not shutil.which(needed, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            print(f"{needed} is not installed")
            sys.exit(77)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if "REC_IN_NAMESPACE" not in os.environ:
        in_namespace()
    unittest.main()
