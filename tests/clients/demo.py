# SPDX-License-Identifier: MIT
"""The hand-made profile of demo/profile.h: its files, and what they say, worked out by hand."""
import atexit
import contextlib
import os
import shutil
import subprocess
import tempfile

from tally import Tally

# Copies older than the recording: newer source text is not embedded.
SOURCES = tempfile.mkdtemp()
atexit.register(shutil.rmtree, SOURCES)
for name in ('demo.c', 'demo.inc'):
    shutil.copy(os.path.join(os.environ['SOURCE'], 'tests', 'clients', 'demo', name), SOURCES)
    os.utime(os.path.join(SOURCES, name), (1600000000, 1600000000))
SOURCE = os.path.join(SOURCES, 'demo.c')
INCLUDE = os.path.join(SOURCES, 'demo.inc')
PERIOD_NS = 1000000

# As written, with what is not UTF-8 replaced byte by byte; and as collapsed stacks can hold it.
WEIRD = 'we;ird<"q\\"> \x01\t</script>\ufffd\ufffd\ufffd é 12'
WEIRD_PLAIN = 'we:ird<"q\\">   </script>\ufffd\ufffd\ufffd é_12'
WORKER = 'work;er "1"\n'

TOTAL = 9950001
FUNCTIONS = {  # self, total
    'main': (0, 4800001),
    'run': (0, 3500000),
    'outer': (0, 4700001),
    'mid': (0, 4700001),
    'inner': (4700001, 4700001),
    WEIRD_PLAIN: (500000, 500000),
    '[libdemo.so.1]': (600000, 3100000),
    '[kernel]': (2500000, 2500000),
    '[unknown]': (1000000, 1000000),
    '[exit]': (400000, 400000),
    '[no stack]': (250000, 250000),
}

# 9.95 periods are 10 counts. The whole parts are 7; the three left over go to the shares with the
# largest fractions: helper's .7, libdemo's .6, and of the two with .5 the one that comes first.
# "[no stack]" (.25) and helper's "[exit]" (.4) are left with nothing.
COLLAPSED = f'''\
app;[unknown] 1
app;main;[libdemo.so.1] 1
app;main;outer;mid;inner 3
app;main;{WEIRD_PLAIN} 1
app;run;[libdemo.so.1];[kernel] 2
app;run;outer;mid;inner 1
helper_2;main;outer;mid;inner 1
'''

# The section "Recording" of the info panel: label, format, value, text that is shown.
RECORDING = [
    ('Sampling engine', 'string', 'perf-trap', 'perf-trap'),
    ('Samples', 'integer', 12, '12'),
    ('Run time', 'duration', 12, '12ms'),
    ('Lost samples: ring full', 'integer', 3, '3'),
    ('later ns', 'duration', 0.0015, '1.500μs'),
    ('Not recorded, process: 0', 'string', '7 "x" setuid', '7 "x" setuid'),
]


def truth():
    tally = Tally()
    tally.total = TOTAL
    for name, (own, total) in FUNCTIONS.items():
        tally.add_function(name, own, total)
    return tally


def collapsed_truth():
    """What is left of it in whole periods."""
    tally = Tally()
    for line in COLLAPSED.splitlines():
        stack, count = line.rsplit(' ', 1)
        tally.add(stack.split(';')[1:], int(count) * PERIOD_NS)
    return tally


@contextlib.contextmanager
def files():
    """The prefix of the files: prefix + '.pb.gz' and so on."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([os.environ['WRITE_DEMO'], directory, SOURCES], check=True)
        yield os.path.join(directory, 'demo')
