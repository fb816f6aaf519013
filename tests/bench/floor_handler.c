/* SPDX-License-Identifier: MIT */
/* Preloaded by floor: a SIGTRAP handler with a counter, written to the file FLOOR_RESULT. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t samples;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    samples++;
}

__attribute__((constructor)) static void start(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(SIGTRAP, &action, NULL);
    raise(SIGSTOP);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FLOOR_RESULT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%llu\n", (unsigned long long)samples);
    fclose(file);
}
