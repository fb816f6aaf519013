#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What rec says about every address of recordings of real programs is what llvm-symbolizer, which shares no
code with it, says: file, line and the whole chain of inlined calls, and the functions' linkage names.

Known differences, each looked at and counted:

    clone      the oracle takes the outermost name from the symbol table, with ".constprop.0" and the like
    alias      … or another name of the same address ("__libc_start_main" for __libc_start_main_impl)
    bare       of internal C++ functions the debug info has no linkage name: the oracle shows the last part
               of the name, rec puts the whole one together
    structor   the debug info says C4 or D4 (any constructor, destructor), the symbol C1, C2, D1, D2
    no source  code without debug info: the oracle tells the file of the nearest STT_FILE symbol
    stub       "memcpy@plt", and "program+0x1020" at the head of .plt: the oracle knows no names for stubs and takes the
               symbol before them
    nameless   code of a stripped file, named after its function's start or its file by us, "??" by the oracle
    unread     the stripped file has no symbol there, its debug file has: the oracle does not read that table
    directory  "./libio/./libio/f.c": the oracle joins a relative directory of compilation twice
"""
import collections
import os
import re
import shutil
import subprocess
import sys

import rec

sys.path.insert(0, str(rec.SOURCE / "tests" / "clients"))
import decoders  # noqa: E402

ORACLE = shutil.which("llvm-symbolizer-14") or shutil.which("llvm-symbolizer")

CXX = r"""
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>
namespace {
struct matrix {
    std::vector<double> cells = std::vector<double>(400);
    double &at(int x, int y) { return cells[static_cast<size_t>(x * 20 + y)]; }
};
double multiply(matrix &a, matrix &b)
{
    auto cell = [&](int x, int y) {
        double sum = 0;
        for (int i = 0; i < 20; i++)
            sum += a.at(x, i) * b.at(i, y) + 1;
        return sum;
    };
    double total = 0;
    for (int x = 0; x < 20; x++)
        for (int y = 0; y < 20; y++)
            total += cell(x, y);
    return total;
}
template <typename F> long total_of(const std::vector<int> &values, F f)
{
    return std::accumulate(values.begin(), values.end(), 0L, [&](long a, int b) { return a + f(b); });
}
}
int main()
{
    std::map<std::string, int> words;
    std::unordered_map<int, std::string> names;
    std::vector<int> values(2000);
    matrix a, b;
    double sink = 0;
    while (std::clock() < CLOCKS_PER_SEC / 2) {
        std::iota(values.begin(), values.end(), static_cast<int>(sink) % 100);
        std::sort(values.begin(), values.end(), [](int x, int y) { return x * 7919 % 1009 < y * 7919 % 1009; });
        for (int value : values) {
            words["w" + std::to_string(value % 300)] += value;
            names[value] = std::to_string(value);
        }
        sink += multiply(a, b);
        sink += static_cast<double>(total_of(values, [](int x) { return x % 3; })) + static_cast<double>(words.size());
    }
    std::printf("%g\n", sink);
}
"""

RUST = r"""
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};
fn work(n: u64) -> u64 {
    let mut words: HashMap<String, u64> = HashMap::new();
    let mut tree: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for i in 0..n {
        *words.entry(format!("w{}", i % 97)).or_insert(0) += i;
        tree.entry(i * 7919 % 1009).or_default().push(i);
    }
    words.values().chain(tree.values().flat_map(|v| v.iter())).map(|x| x ^ 3).filter(|x| x % 2 == 0).sum()
}
fn main() {
    let end = Instant::now() + Duration::from_millis(500);
    let mut sum = 0u64;
    while Instant::now() < end { sum = sum.wrapping_add(work(3000)); }
    println!("{}", sum);
}
"""

D = r"""
import core.time, std.algorithm, std.array, std.conv, std.range, std.stdio;
struct Matrix(size_t n)
{
    double[n * n] cells = 1;
    Matrix opBinary(string op : "*")(ref const Matrix other) const
    {
        Matrix product;
        foreach (x; 0 .. n)
            foreach (y; 0 .. n)
                product.cells[x * n + y] = iota(n).map!(i => cells[x * n + i] * other.cells[i * n + y]).sum / n;
        return product;
    }
}
ulong work(ulong n)
{
    ulong[string] words;
    foreach (i; 0 .. n)
        words["w" ~ to!string(i % 97)] += i;
    auto values = iota(n).map!(i => i * 7919 % 1009).array;
    values.sort!((a, b) => a % 100 < b % 100);
    return words.byValue.sum + values.filter!(v => v % 2 == 0).sum;
}
void main()
{
    auto end = MonoTime.currTime + 500.msecs;
    ulong sum;
    Matrix!20 matrix;
    while (MonoTime.currTime < end)
    {
        sum += work(3000);
        matrix = matrix * matrix;
    }
    writeln(sum, matrix.cells[0]);
}
"""

PYTHON = """
import json, re, time
end = time.process_time() + 0.5
while time.process_time() < end:
    data = json.loads(json.dumps({str(i): [i, {'a': i * 0.5}] for i in range(300)}))
    sum(len(re.sub('[0-9]', 'x', key)) for key in sorted(data))
"""


def svma_of(path, offset):
    """Of an offset in a file, by its program headers."""
    for line in subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout.splitlines():
        found = re.match(r" +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) ", line)
        if found:
            start, svma, size = (int(group, 16) for group in found.groups())
            if start <= offset < start + size:
                return svma + offset - start
    return None


def locations(path):
    """{file: {svma: [(linkage name, file, line), innermost first]}} of a pprof file."""
    profile = decoders.message(decoders.read_bytes(path))
    text = [entry.decode() for entry in profile[6]]
    functions = {}
    for entry in map(decoders.message, profile[5]):
        name, linkage, file = (text[decoders.one(entry, number)] for number in (2, 3, 4))
        functions[decoders.one(entry, 1)] = (linkage or name, file)
    mappings = {decoders.one(entry, 1): entry for entry in map(decoders.message, profile[3])}
    found = collections.defaultdict(dict)
    for entry in map(decoders.message, profile[4]):
        mapping = mappings.get(decoders.one(entry, 2))
        file = text[decoders.one(mapping, 5)] if mapping else ""
        if not os.path.isfile(file) or 4 not in entry:
            continue
        svma = svma_of(file, decoders.one(entry, 3) - decoders.one(mapping, 2) + decoders.one(mapping, 4))
        lines = map(decoders.message, entry[4])
        found[file][svma] = [(*functions[decoders.one(line, 1)], decoders.one(line, 2)) for line in lines]
    return found


def ask_oracle(file, svmas):
    done = subprocess.run([ORACLE, "--inlines", "--no-demangle", f"--obj={file}"], capture_output=True,
                          text=True, input="".join(f"{svma:#x}\n" for svma in svmas), timeout=rec.TIMEOUT_S)
    for svma, answer in zip(svmas, done.stdout.split("\n\n")):
        lines = answer.strip("\n").split("\n")
        yield svma, [(name, *place.rsplit(":", 2)[:2]) for name, place in zip(lines[::2], lines[1::2])]


def aliases(file):
    """{name: address} of all symbols, versions cut off."""
    debug = f"/usr/lib/debug/.build-id/{build_id(file)[:2]}/{build_id(file)[2:]}.debug"
    text = ""
    for options in ([file], ["-D", file], [debug]):
        text += subprocess.run(["nm", *options], capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[2].split("@")[0]: int(row[0], 16) for row in rows if len(row) == 3}


def build_id(file):
    notes = subprocess.run(["readelf", "-n", file], capture_output=True, text=True).stdout
    found = re.search(r"Build ID: (\w+)", notes)
    return found.group(1) if found else "00"


def judge_name(ours, theirs, symbols):
    """'' when they are equal, the name of a known difference, or None."""
    if ours == theirs:
        return ""
    if ours.split(".")[0] == theirs.split(".")[0]:
        return "clone"
    if re.sub(r"([CD]I?)[0-5]", r"\1", ours) == re.sub(r"([CD]I?)[0-5]", r"\1", theirs):
        return "structor"
    if ours in symbols and symbols[ours] == symbols.get(theirs):
        return "alias"
    if re.sub(r"^(__GI_|_*)", "", ours) == re.sub(r"^(__GI_|_*)", "", theirs):
        return "alias"
    if not theirs.startswith("_Z") and theirs in (subprocess.run(
            ["c++filt", ours], capture_output=True, text=True).stdout + ours):
        return "bare"
    return None


def judge_place(ours, theirs):
    (file, line), (their_file, their_line) = ours, theirs
    if (file or "??", str(line)) == (their_file, their_line):
        return ""
    if str(line) == their_line and os.path.normpath(their_file).endswith(os.path.normpath(file)):
        return "directory"
    if line == 0 and their_line == "0":
        return "no source"
    cut = re.sub(r"^\./(.*?)/\./\1/", r"./\1/", their_file)
    return "directory" if str(line) == their_line and cut == file else None


def is_last_symbol(name, symbols, svma):
    return name in symbols and symbols[name] == max(start for start in symbols.values() if start <= svma)


def is_head_of_stubs(name, their_name, symbols, svma):
    """Behind _init, which has at most 27 bytes."""
    return re.search(r"\+0x[0-9a-f]+$", name) and their_name == "_init" and svma >= symbols["_init"] + 0x20


def judge(svma, ours, theirs, symbols, counts):
    """Counts known differences; False: another one."""
    if len(ours) == 1 and re.search(r"\+0x[0-9a-f]+$|^\[.*\]$", ours[0][0]) and theirs[0][0] == "??":
        counts["nameless"] += 1
        return True
    if len(ours) == 1 and (ours[0][0].endswith("@plt") or is_head_of_stubs(ours[0][0], theirs[0][0], symbols, svma)):
        counts["stub"] += 1
        return True
    if len(ours) == 1 and theirs[0][0] == "??" and is_last_symbol(ours[0][0], symbols, svma):
        counts["unread"] += 1
        return True
    if len(ours) != len(theirs):
        return False
    for (name, file, line), (their_name, their_file, their_line) in zip(ours, theirs):
        found = (judge_name(name, their_name, symbols), judge_place((file, line), (their_file, their_line)))
        if None in found:
            return False
        counts.update(kind for kind in set(found) if kind)
    return True


class Agreement(rec.Case):
    def setUp(self):
        super().setUp()
        if not ORACLE:
            self.skipTest("llvm-symbolizer is not installed (Debian: llvm-14)")

    def hold(self, *command, rec_options=()):
        run = self.recorded(*command, rec_options=rec_options)
        total, wrong, counts, shown = 0, 0, collections.Counter(), []
        for file, ours in sorted(locations(run.path("rec.pb.gz")).items()):
            symbols = aliases(file)
            for svma, theirs in ask_oracle(file, sorted(ours)):
                total += 1
                if not judge(svma, ours[svma], theirs, symbols, counts):
                    wrong += 1
                    shown.append(f"{file} {svma:#x}\n  rec    {ours[svma]}\n  oracle {theirs}")
        print(f"{command[0]}: {total} addresses, {wrong} differ; known: {dict(counts)}", file=sys.stderr)
        self.assertGreater(total, 5)
        self.assertLessEqual(wrong, total // 1000, "\n".join(shown[:5]))

    def built(self, compiler, options, source, suffix):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        path = os.path.join(self.directory, "program")
        with open(path + suffix, "w", encoding="utf-8") as file:
            file.write(source)
        done = subprocess.run([compiler, *options, path + suffix, "-o", path], cwd=self.directory,
                              capture_output=True, text=True, timeout=120)
        if done.returncode:
            self.skipTest(f"{compiler} {' '.join(options)}: {done.stderr[:200]}")
        return path

    def test_c(self):
        # Programs of one loop: samples enough to meet more of it than the one instruction that takes long.
        for program in ("inlined", "shares"):
            self.hold(rec.target(program), "1500", rec_options=["-F", "9999"])

    def test_cxx_with_heavy_inlining(self):
        self.hold(self.built("g++", ["-O2", "-g"], CXX, ".cc"))

    def test_cxx_by_clang(self):
        self.hold(self.built("clang++-14", ["-O2", "-g"], CXX, ".cc"))

    def test_split_dwarf(self):
        for version in ("4", "5"):
            self.hold(self.built("g++", ["-O2", f"-gdwarf-{version}", "-gsplit-dwarf"], CXX, ".cc"))

    def test_dwz(self):
        path = self.built("g++", ["-O2", "-gdwarf-4"], CXX, ".cc")
        if not shutil.which("dwz"):
            self.skipTest("dwz is not installed")
        subprocess.run(["dwz", path], check=True, timeout=120)
        self.hold(path)

    def test_rust(self):
        self.hold(self.built("rustc", ["-O", "-g"], RUST, ".rs"))

    def test_d(self):
        self.hold(self.built("gdc", ["-O2", "-g"], D, ".d"))

    def test_a_python_with_debug_info(self):
        if not shutil.which("python3-dbg"):
            self.skipTest("python3-dbg is not installed")
        self.hold("python3-dbg", "-c", PYTHON)


if __name__ == "__main__":
    rec.main()
