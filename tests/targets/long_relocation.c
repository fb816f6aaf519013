/* SPDX-License-Identifier: MIT */
/* A third of a second of work in the dynamic linker, before any constructor, as of programs with 200 libraries. */
static int none(void)
{
    return 0;
}

/* Runs before the C library can be called. */
static void *choose(void)
{
    long rounds = 1000000000;
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds));
    return (void *)none;
}

int chosen(void) __attribute__((ifunc("choose")));

int main(void)
{
    return chosen();
}
