/* SPDX-License-Identifier: MIT */
/*
 * Recurses to the depth given, notes every return address on the way as the compiler knows it, and
 * stops itself (SIGSTOP) at the bottom: once directly, once inside a signal handler. The test finds
 * the notes through the address printed first.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notes {
    unsigned long count;
    unsigned long return_addresses[1024];
};

static struct notes notes;
static volatile int sink;

static void note(void *return_address)
{
    notes.return_addresses[notes.count++] = (unsigned long)return_address;
}

__attribute__((noinline)) static void on_signal(int number)
{
    note(__builtin_return_address(0));
    sink = number;
    raise(SIGSTOP);
    sink++;
}

__attribute__((noinline, noclone)) static int descend(int depth, int signal_number)
{
    volatile char room[64];
    memset((void *)room, depth, sizeof(room));
    note(__builtin_return_address(0));
    if (depth > 1)
        return descend(depth - 1, signal_number) + room[depth % 64];
    raise(signal_number);
    return room[1];
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    signal(SIGUSR1, on_signal);
    printf("%p\n", (void *)&notes);
    fflush(stdout);
    return descend(atoi(argv[1]), strcmp(argv[2], "signal") == 0 ? SIGUSR1 : SIGSTOP) & 1;
}
