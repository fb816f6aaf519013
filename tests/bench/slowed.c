/* SPDX-License-Identifier: MIT */
/*
 * Work in functions with fixed shares, for tests/bench/compare. Arguments: per cent of the usual
 * work of half() and of seventh(), and the share of added(), in per cent of the usual total. The
 * layout is the same for all arguments.
 *
 *     slowed 100 100 0     half 50 %, seventh 7 %, twelve others 43 %
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 400, UNIT = 24000, TABLE = 4096 };

static uint32_t table[TABLE];

#define WORK(name, factor)                                     \
    __attribute__((noinline)) static uint32_t name(long steps) \
    {                                                          \
        uint32_t state = 1;                                    \
        for (long i = 0; i < steps; i++) {                     \
            state = state * 1664525u + (factor);               \
            table[state >> 20] += state;                       \
        }                                                      \
        return state;                                          \
    }

WORK(half, 1013904223u)
WORK(seventh, 3u)
WORK(added, 5u)
WORK(other_a, 7u)
WORK(other_b, 9u)
WORK(other_c, 11u)
WORK(other_d, 13u)
WORK(other_e, 15u)
WORK(other_f, 17u)
WORK(other_g, 19u)
WORK(other_h, 21u)
WORK(other_i, 23u)
WORK(other_j, 25u)
WORK(other_k, 27u)
WORK(other_l, 29u)

int main(int argc, char **argv)
{
    long half_percent = argc > 1 ? atol(argv[1]) : 100;
    long seventh_percent = argc > 2 ? atol(argv[2]) : 100;
    long added_percent = argc > 3 ? atol(argv[3]) : 0;
    static uint32_t (*const others[])(long) = {other_a, other_b, other_c, other_d,
                                               other_e, other_f, other_g, other_h,
                                               other_i, other_j, other_k, other_l};
    static const long shares[] = {9, 7, 6, 5, 4, 3, 2, 2, 2, 1, 1, 1};
    uint32_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        sum += half(50L * UNIT * half_percent / 100);
        sum += seventh(7L * UNIT * seventh_percent / 100);
        if (added_percent)
            sum += added(added_percent * UNIT);
        for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            sum += others[i](shares[i] * UNIT);
    }
    printf("%u\n", sum);
    return 0;
}
