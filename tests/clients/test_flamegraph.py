#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flamegraph.pl draws the collapsed stacks of the hand-made profile as they are."""
import check
import clients
import demo


def boxes_have_the_profile_s_functions_and_total(prefix):
    # It draws angle brackets as parentheses.
    shown = str.maketrans('<>', '()')
    expected = demo.collapsed_truth().renamed(lambda name: name.translate(shown))
    check.agree(expected, clients.flamegraph(prefix + '.folded', demo.PERIOD_NS), 0)


if __name__ == '__main__':
    with demo.files() as files:
        check.run([boxes_have_the_profile_s_functions_and_total], files)
