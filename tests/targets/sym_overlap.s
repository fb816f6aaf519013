# SPDX-License-Identifier: MIT
# Symbols that overlap, one byte of code a column:
#
#   byte        0   4   8 10 12  16  20  24
#   outer       ├──────────────────┤
#   inner           ├──┤
#   inner_C2        ├──┤
#   inner_C1        ├────┤
#   label                 ·                     no size, inside outer
#   across                   ├──────┤
#   loose                           ├──┤        no size: up to the next
#   last                                ├┤

        .macro  function name, start, bytes
        .type   \name, @function
        .set    \name, outer + \start
        .size   \name, \bytes
        .endm

        .text
        .globl  main
        .type   main, @function
main:   ret
        .size   main, 1
        .balign 64
outer:  .fill   10, 1, 0x90
label:  .fill   10, 1, 0x90
loose:  .fill   12, 1, 0x90
        .type   outer, @function
        .size   outer, 16
        function inner, 4, 4
        function inner_C2, 4, 4
        function inner_C1, 4, 6
        function across, 12, 8
        function last, 24, 2
        .section .note.GNU-stack, "", @progbits
