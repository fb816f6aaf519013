/* SPDX-License-Identifier: MIT */
/* The source text that viewers show for the hand-made profile (profile.h); it is not compiled. */
static int inner(int x)
{
    int square = x * x;
    return square + 1;
}

static int mid(int x)
{
    return inner(x) +
#include "demo.inc"
}

int outer(int x)
{
    return mid(x);
}

void *run(void *argument)
{
    outer(1);
    library_call();
    return argument;
}

int main(void)
{
    outer(2);
    weird();
    library_call();
    return 0;
}
