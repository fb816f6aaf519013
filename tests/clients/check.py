# SPDX-License-Identifier: MIT
"""Runs the functions of a test file, in their order; each one's name says what it proves."""
import sys
import traceback

from tally import differences


def run(tests, *arguments):
    failed = False
    for test in tests:
        try:
            test(*arguments)
            print(f'ok      {test.__name__}')
        except Exception:
            failed = True
            print(f'FAILED  {test.__name__}')
            traceback.print_exc(file=sys.stdout)
    sys.exit(1 if failed else 0)


def same(expected, actual, what=''):
    if expected != actual:
        raise AssertionError(f'{what}: {actual!r}, not {expected!r}')


def agree(truth, seen, slack_ns):
    found = differences(truth, seen, slack_ns)
    if found:
        raise AssertionError('\n'.join(found))
