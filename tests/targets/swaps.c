/* SPDX-License-Identifier: MIT */
/*
 * Repeats file system calls on names until it is killed: another user who changes a directory while
 * rec writes there. Each argument is a step, FUNCTION:NAME or FUNCTION:NAME:NAME. A step that fails
 * starts the sequence again, unless a minus sign precedes the step.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct step {
    const char *function, *first, *second;
    bool may_fail;
};

static struct step parse(char *text)
{
    struct step step = {.may_fail = text[0] == '-'};
    step.function = strtok(text + step.may_fail, ":");
    step.first = strtok(NULL, ":");
    step.second = strtok(NULL, ":");
    bool is_unlink = step.function && strcmp(step.function, "unlink") == 0;
    if (step.first && (is_unlink || step.second))
        return step;
    fprintf(stderr, "a step needs names\n");
    exit(2);
}

static int run(const struct step *step)
{
    if (strcmp(step->function, "unlink") == 0)
        return unlink(step->first);
    if (strcmp(step->function, "link") == 0)
        return link(step->first, step->second);
    if (strcmp(step->function, "symlink") == 0)
        return symlink(step->first, step->second);
    if (strcmp(step->function, "rename") == 0)
        return rename(step->first, step->second);
    if (strcmp(step->function, "exchange") == 0)
        return renameat2(AT_FDCWD, step->first, AT_FDCWD, step->second, RENAME_EXCHANGE);
    fprintf(stderr, "no such step: %s\n", step->function);
    exit(2);
}

int main(int argc, char **argv)
{
    struct step steps[16];
    int count = argc - 1;
    if (count < 1 || count > 16)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < count; i++)
        steps[i] = parse(argv[i + 1]);
    for (;;)
        for (int i = 0; i < count; i++)
            if (run(&steps[i]) != 0 && !steps[i].may_fail)
                break;
}
