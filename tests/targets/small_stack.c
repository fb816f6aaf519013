/* SPDX-License-Identifier: MIT */
/*
 * small_stack WORK_MS
 *
 * Works that long. A child made by clone() does so, too, on 4 KiB within its parent's stack, which suffice for it, and
 * looks then whether its parent's words right below are what they were.
 *
 *     stack    ─ small_stack()'s frame ─┬─ words[] ─┬─ stack[] ─┬─
 *                                                    ◀── child
 */
#include "burn.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 1500, VALUE = 0x1111 };

struct place {
    uint64_t work_ns;
    uint64_t words[WORDS];
    char stack[4096];
};

static int count_changed(void *argument)
{
    const struct place *place = argument;
    int changed = 0;
    volatile char room[1500];
    room[0] = room[sizeof(room) - 1] = 0;
    burn_until_ns(place->work_ns);
    for (int i = 0; i < WORDS; i++)
        changed += place->words[i] != VALUE;
    return changed < 255 ? changed : 255;
}

int main(int argc, char **argv)
{
    struct place place;
    int status;
    if (argc != 2)
        return 2;
    place.work_ns = strtoull(argv[1], NULL, 10) * 1000000;
    for (int i = 0; i < WORDS; i++)
        place.words[i] = VALUE;
    burn_until_ns(place.work_ns);
    pid_t pid = clone(count_changed, place.stack + sizeof(place.stack), SIGCHLD, &place);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 3;
    printf("%d words changed\n", WEXITSTATUS(status));
    return 0;
}
