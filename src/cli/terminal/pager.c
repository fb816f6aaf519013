/* SPDX-License-Identifier: MIT */
#include "cli/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TERMINAL_COLUMNS = 80, FILE_COLUMNS = 160 };

static struct {
    pid_t pid;
    bool is_running;
    int terminal; /* the standard output before */
    unsigned columns;
} pager;

/* -F: quit if all fits on a screen; -R: bold; -X: leave the text on the screen. Under sudo, less
 * executes no commands. */
__attribute__((noreturn)) static void run(const char *command, const int ends[2])
{
    struct pollfd first = {.fd = ends[0], .events = POLLIN};
    close(ends[1]);
    while (poll(&first, 1, -1) < 0 && errno == EINTR)
        ;
    if (!(first.revents & POLLIN))
        _exit(0); /* no output */
    setenv("LESS", "FRX", 0);
    if (getenv("SUDO_UID"))
        setenv("LESSSECURE", "1", 1);
    dup2(ends[0], STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static const char *command_of(void)
{
    const char *named = getenv("PAGER"), *terminal = getenv("TERM");
    if (!isatty(STDOUT_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return NULL;
    if (!named)
        return access("/usr/bin/less", X_OK) == 0 ? "less" : NULL;
    return named[0] ? named : NULL;
}

void pager_start(void)
{
    const char *command = command_of();
    int ends[2];
    if (!command)
        return;
    pager.columns = pager_columns();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pager.pid = fork();
    if (pager.pid == 0)
        run(command, ends);
    if (pager.pid > 0) {
        pager.terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        dup2(ends[1], STDOUT_FILENO);
        pager.is_running = true;
        (void)signal(SIGINT, SIG_IGN); /* Ctrl-C is the pager's */
    }
    close(ends[0]);
    close(ends[1]);
}

void pager_finish(void)
{
    if (!pager.is_running)
        return;
    fflush(stdout);
    dup2(pager.terminal, STDOUT_FILENO); /* closes the pipe */
    close(pager.terminal);
    while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    (void)signal(SIGINT, SIG_DFL);
    pager.is_running = false;
}

bool pager_is_terminal(void)
{
    return pager.is_running || isatty(STDOUT_FILENO);
}

unsigned pager_columns(void)
{
    struct winsize size;
    if (pager.is_running)
        return pager.columns;
    if (!isatty(STDOUT_FILENO))
        return FILE_COLUMNS;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return is_known && size.ws_col > TERMINAL_COLUMNS ? size.ws_col : TERMINAL_COLUMNS;
}
