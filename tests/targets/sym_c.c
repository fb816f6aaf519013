/* SPDX-License-Identifier: MIT */
/*
 * Names for the symbol tests: inlined chains, static functions that are called the same in two
 * files, aliases, and assembly without sizes. Compiled a second time with -DSECOND_FILE where a
 * test wants two files; alone it is a program that ends at once.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef SECOND_FILE
#define ENTRY second_file
#define STEP 2
#else
#define ENTRY first_file
#define STEP 1
int second_file(int x) __attribute__((weak));
#endif
int ENTRY(int x);

static inline __attribute__((always_inline)) int innermost(int x)
{
    return x / 3 + atoi("7"); /* line: innermost */
}

static inline __attribute__((always_inline)) int middle(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += innermost(i); /* line: middle */
    return sum;
}

static inline __attribute__((always_inline)) int outermost(int x)
{
    return middle(x) * 5; /* line: outermost */
}

static __attribute__((noinline)) int same_name(int x)
{
    if (__builtin_expect(x == 12345, 0))
        abort();
    return outermost(x + STEP); /* line: same_name */
}

__attribute__((noinline)) int ENTRY(int x)
{
    return same_name(x) + STEP;
}

#ifndef SECOND_FILE
/* Four names for one place, and code whose symbols have no size. */
__asm__(".text\n"
        ".globl alias_global\n.globl _alias_global\n.weak alias_weak\n"
        ".type alias_global,@function\n.type _alias_global,@function\n"
        ".type alias_weak,@function\n.type a_local,@function\n"
        "a_local: alias_weak: _alias_global: alias_global:\n"
        "    nop\n    nop\n    ret\n"
        ".size alias_global, 2\n.size _alias_global, 2\n.size alias_weak, 2\n.size a_local, 2\n"
        ".globl without_size\nwithout_size:\n    nop\n    nop\n    nop\n    ret\n"
        ".globl after_it\n.type after_it,@function\nafter_it:\n    ret\n.size after_it, 1\n");
void without_size(void);

int main(int argc, char **argv)
{
    (void)argv;
    without_size();
    int sum = first_file(argc);
    if (second_file)
        sum += second_file(argc);
    printf("%d\n", sum);
    return 0;
}
#endif
