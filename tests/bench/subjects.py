# SPDX-License-Identifier: MIT
"""The programs that tests/bench/convert and copied record: each a second or more of work, whatever the machine."""
import shutil
import subprocess

NODE = """
const zlib = require('zlib'), crypto = require('crypto');
for (let n = 0; n < 150; n++) {
  const list = [];
  for (let i = 0; i < 3000; i++) list.push({key: Math.random().toString(36), value: [i, i * 2]});
  list.sort((x, y) => x.key < y.key ? -1 : 1);
  const text = JSON.stringify(list);
  JSON.parse(text);
  zlib.gunzipSync(zlib.gzipSync(text.slice(0, 20000)));
  crypto.createHash('sha256').update(text).digest('hex');
  text.replace(/[a-f]+([0-9]+)/g, (all, digits) => digits);
  eval('var x' + n + ' = a => {' + 'a += 1;'.repeat(200) + 'return a}; x' + n + '(3)');
}
"""

CXX = """
#include <algorithm>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <random>
#include <regex>
int main()
{
    std::map<std::string, std::function<int(int)>> map;
    map["x"] = [](int a) { return a + 1; };
    std::mt19937 generator;
    std::vector<int> numbers(100);
    std::shuffle(numbers.begin(), numbers.end(), generator);
    auto later = std::async([] { return 3; });
    std::cout << later.get() << std::regex_match("aabc", std::regex("(a|b)*c")) << map["x"](3);
}
"""

PYTHON = """
import argparse, collections, json, re
for n in range(60):
    rows = [{"key": str(i * 7919 % 3001), "value": [i, i / 3]} for i in range(3000)]
    rows.sort(key=lambda row: row["key"])
    text = json.dumps(rows)
    json.loads(text)
    collections.Counter(re.findall(r"[0-9]+", text)).most_common(10)
    compile("x = [" + ", ".join(str(i) for i in range(3000)) + "]", "made", "exec")
"""

# One unit of generated code; LARGE_COPIES of it make a program with more than 100 MB of debug info.
LARGE_PARTS, LARGE_COPIES = 40, 28
LARGE_PART = """
struct key%(i)d { int a; bool operator<(const key%(i)d &o) const { return a < o.a; } };
struct value%(i)d { std::vector<key%(i)d> keys; std::shared_ptr<value%(i)d> next; };
static long work%(i)d(int n)
{
    std::map<key%(i)d, value%(i)d> map;
    long sum = 0;
    for (int j = 0; j < n; j++) {
        auto &value = map[key%(i)d{j %% 97}];
        value.keys.push_back(key%(i)d{j});
        value.next = std::make_shared<value%(i)d>();
    }
    std::function<long(const value%(i)d &)> size = [&](const value%(i)d &value) {
        return (long)value.keys.size() + sum %% 3;
    };
    for (auto &entry : map) {
        std::sort(entry.second.keys.begin(), entry.second.keys.end());
        sum += size(entry.second);
    }
    return sum;
}
"""


class Subject:
    def __init__(self, name, description, needs, command):
        self.name, self.description, self.needs, self.command = name, description, needs, command

    def is_there(self):
        return shutil.which(self.needs) is not None


def with_file(name, text, command):
    def prepared(work):
        (work / name).write_text(text)
        return command
    return prepared


def compile_large(work):
    includes = "".join(f"#include <{name}>\n" for name in
                       ["algorithm", "functional", "map", "memory", "string", "vector"])
    calls = "".join(f" + work{i}(n)" for i in range(LARGE_PARTS))
    unit = work / "unit.cc"
    unit.write_text(f"{includes}namespace part0 {{"
                    f"{''.join(LARGE_PART % {'i': i} for i in range(LARGE_PARTS))}}}\n"
                    f"long unit0(int n) {{ using namespace part0; return 0{calls}; }}\n")
    subprocess.run(["g++", "-g", "-O1", "-c", "-o", work / "unit.o", unit], check=True)


def copy_unit(work, number):
    """The unit under other names, of the same length: mangled names hold lengths."""
    symbols = subprocess.run(["nm", "--defined-only", work / "unit.o"], capture_output=True,
                             text=True, check=True).stdout.split()
    renamed = work / "renamed"
    renamed.write_text("".join(
        f"{name} {name.replace('part0', f'pa{number}').replace('unit0', f'un{number}')}\n"
        for name in symbols if "part0" in name or "unit0" in name))
    copy = work / f"unit{number}.o"
    subprocess.run(["objcopy", f"--redefine-syms={renamed}", work / "unit.o", copy], check=True)
    return copy


def large(work):
    program = work / "large"
    if not program.exists():
        numbers = range(100, 100 + LARGE_COPIES)
        compile_large(work)
        copies = [copy_unit(work, number) for number in numbers]
        main = work / "main.cc"
        main.write_text("".join(f"long un{number}(int);\n" for number in numbers) +
                        "int main() { long sum = 0; for (int i = 0; i < 10; i++) sum += 0" +
                        "".join(f" + un{number}(3000)" for number in numbers) +
                        "; return sum == 1; }\n")
        subprocess.run(["g++", "-g", "-O1", "-o", program, main, *copies], check=True)
        for copy in copies:
            copy.unlink()
    return [program]


SUBJECTS = [
    Subject("node", "a large program with a symbol table", "node",
            with_file("work.js", NODE, ["node", "work.js"])),
    Subject("g++", "cc1plus, a large program without", "g++",
            with_file("work.cc", CXX, ["g++", "-O2", "-c", "work.cc", "-o", "work.o"])),
    Subject("large", "C++ with 110 MB of debug info", "g++", large),
    Subject("python3", "python3 and the C library with the debug packages of the distribution",
            "/usr/bin/python3", with_file("work.py", PYTHON, ["/usr/bin/python3", "work.py"])),
]

COPIED_PYTHON = """
import json, re, time
while time.process_time() < SECONDS:
    json.loads(json.dumps([{str(i): i * 1.5} for i in range(3000)]))
    sorted(map(str, range(20000)))
    re.findall(r"(a|b)+c", "abab" * 2000 + "c")
"""
COPIED_SQL = ("with recursive c(x) as (select 1 union all select x + 1 from c where x < SECONDS * 15000000) "
              "select sum(x * x % 7) from c;")
COPIED_PERL = ("my %h; while ((times)[0] < SECONDS) { $h{$_ % 5000} .= chr(65 + $_ % 26) for 1..500000; } "
               "print length join ',', sort values %h")
COPIED_THREADS = """
#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <vector>
static void work(int seed)
{
    std::map<std::string, int> map;
    for (int i = 0; i % 1000 || clock() < SECONDS * CLOCKS_PER_SEC; i++)
        map[std::to_string((i % 10007 * 7919L + seed) % 10007)]++;
    std::vector<std::string> keys;
    for (auto &entry : map)
        keys.push_back(entry.first);
    std::sort(keys.begin(), keys.end(), [](auto &a, auto &b) { return a > b; });
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
}
"""


def compiled(work, seconds):
    """A unit of a second or so, again and again."""
    (work / "copied.cc").write_text(CXX)
    return ["sh", "-c", f"for i in $(seq {seconds}); do g++ -O2 -c copied.cc -o copied.o; done"]


def packed(work, seconds):
    """Something to compress that is neither empty nor noise."""
    data = work / "copied.bin"
    data.write_bytes(open(shutil.which("perf"), "rb").read(9000000))
    return ["xz", "-k", "-c", "-T1", *[data] * seconds]


def python(work, seconds):
    (work / "copied.py").write_text(COPIED_PYTHON.replace("SECONDS", str(seconds)))
    return ["python3", "copied.py"]


def threads(work, seconds):
    source, program = work / "copied.threads.cc", work / f"copied.threads.{seconds}"  # a recording names it
    source.write_text(COPIED_THREADS.replace("SECONDS", str(seconds)))
    subprocess.run(["g++", "-O2", "-g", "-pthread", "-o", program, source], check=True)
    return [program]


# Recorded by perf record --call-graph dwarf: about so many seconds of CPU time. Made of pieces of one to two where the
# program cannot look at the clock.
COPIED = [
    Subject("cc1plus", "", "g++", compiled),
    Subject("xz", "", "xz", packed),
    Subject("python3", "", "python3", python),
    Subject("sqlite3", "", "sqlite3",
            lambda work, seconds: ["sqlite3", ":memory:", COPIED_SQL.replace("SECONDS", str(seconds))]),
    Subject("perl", "", "perl", lambda work, seconds: ["perl", "-e", COPIED_PERL.replace("SECONDS", str(seconds))]),
    Subject("threads", "", "g++", threads),
]
