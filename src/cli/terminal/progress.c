/* SPDX-License-Identifier: MIT */
#include "cli/terminal/progress.h"

#include "base/text/decimal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *volatile current_what;
static volatile size_t current_done, current_of;
static volatile sig_atomic_t is_shown;
static bool is_started;
static struct sigaction before;

static char *append(char *at, const char *text)
{
    size_t size = strlen(text);
    memcpy(at, text, size);
    return at + size;
}

static char *append_number(char *at, size_t number)
{
    char digits[24];
    char *end = digits + sizeof(digits);
    char *start = decimal_before(end, number);
    memcpy(at, start, (size_t)(end - start));
    return at + (end - start);
}

/* A signal handler: no stdio. A single write(). */
static void show(int signal_number)
{
    (void)signal_number;
    char line[160];
    char *at = append(line, "\r\033[Krec: ");
    const char *what = current_what;
    int saved = errno;
    at = append(at, what ? what : "working");
    if (current_of) {
        at = append(at, ", ");
        at = append_number(at, current_done);
        at = append(at, " of ");
        at = append_number(at, current_of);
    }
    is_shown = write(STDERR_FILENO, line, (size_t)(at - line)) > 0;
    errno = saved;
}

void progress_start(void)
{
    if (is_started || !isatty(STDERR_FILENO))
        return;
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
    struct itimerval each_second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &each_second, NULL);
    is_started = true;
}

void progress_end(void)
{
    if (!is_started)
        return;
    struct itimerval never = {0};
    static const char erase[] = "\r\033[K";
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    is_started = false;
    if (is_shown && write(STDERR_FILENO, erase, sizeof(erase) - 1) > 0)
        is_shown = 0;
}

void progress_set(const char *what, size_t done, size_t of)
{
    current_what = what;
    current_done = done;
    current_of = of;
}

void progress_report(void *context, const char *what, size_t done, size_t of)
{
    (void)context;
    progress_set(what, done, of);
}
