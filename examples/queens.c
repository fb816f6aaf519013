/* SPDX-License-Identifier: MIT */
/* The C part of the example: a recursion, so that the profile has a function below itself. */
#include "queens.h"

/* Bit i of each mask: column i of this row is threatened from above, or along a diagonal. */
static unsigned long place_row(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned long solutions = 0;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned queen = open & -open;
        solutions += place_row(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

unsigned long queens_solutions(unsigned size)
{
    return place_row((1u << size) - 1, 0, 0, 0);
}
