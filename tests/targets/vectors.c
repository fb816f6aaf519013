/* SPDX-License-Identifier: MIT */
/* vectors ROUNDS: arithmetic in vector and x87 registers, the same numbers every time. */
#include <stdio.h>
#include <stdlib.h>

typedef double two_doubles __attribute__((vector_size(16)));

__attribute__((noinline)) static two_doubles turn(two_doubles v, long rounds)
{
    two_doubles a = {1.0000001, 0.9999999};
    two_doubles w = {4, 3};
    for (long i = 0; i < rounds; i++) {
        v = v * a + w * 1e-9;
        w = w * a - v * 1e-9;
    }
    return v + w;
}

__attribute__((noinline)) static long double turn_x87(long double value, long rounds)
{
    for (long i = 0; i < rounds; i++)
        value = value * 1.0000001L + 1e-9L;
    return value;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 50000000;
    two_doubles v = turn((two_doubles){1, 2}, rounds);
    printf("%a %a %La\n", v[0], v[1], turn_x87(1, rounds));
    return 0;
}
