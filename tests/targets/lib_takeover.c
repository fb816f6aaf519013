/* SPDX-License-Identifier: MIT */
/* Takes the sampler's place where the sampler's name is free: a program that loads it shows it. */
#include <unistd.h>

__attribute__((constructor)) static void show(void)
{
    static const char text[] = "taken over\n";
    (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
}
