/* SPDX-License-Identifier: MIT */
/*
 * Each run has a process of its own: recording and converting change signal actions and limits of
 * the process. Signals during a run are the run's; no further run starts after SIGINT, SIGQUIT,
 * SIGTERM or SIGHUP.
 */
#include "cli/commands/record/repeat.h"

#include "base/text/log.h"
#include "cli/commands/commands.h"
#include "cli/commands/record/end_as.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct repeat {
    struct record_request *request;
    int (*record)(struct record_request *request);
    sigset_t watched, before; /* signals that end the series, and SIGCHLD */
    bool is_interrupted;
};

static int check_directory(const struct record_request *request, struct error *error)
{
    struct dirent *entry;
    const char *found = NULL;
    if (request->output_names != 1 || request->outputs.count == 0 || !request->outputs.capture)
        return error_set(error, -EINVAL, "--repeat needs a directory for the captures: -o DIR/");
    DIR *directory = opendir(request->output_name);
    while (directory && !found && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name);
        if (length >= 5 && strcmp(entry->d_name + length - 5, ".data") == 0)
            found = entry->d_name;
    }
    int err = found ? error_set(error, -EEXIST,
                                "%s already has the capture %s: name a new or empty directory",
                                request->output_name, found)
                    : 0;
    if (directory)
        closedir(directory);
    return err;
}

/* Replaces the outputs by the capture of this run. */
static int set_outputs(struct record_request *request, unsigned long run, struct error *error)
{
    outputs_free(&request->outputs);
    return outputs_add_run(&request->outputs, request->output_name, run, error);
}

static void run_in_child(struct repeat *repeat, unsigned long run)
{
    struct error error = {{0}};
    sigprocmask(SIG_SETMASK, &repeat->before, NULL);
    int status = STATUS_FAILED;
    if (set_outputs(repeat->request, run, &error) == 0)
        status = repeat->record(repeat->request);
    else
        log_error("%s", error.text);
    exit(status);
}

/* A signal of the terminal reaches all processes of the group; a signal sent to this process only
 * is passed on. */
static void take_signal(struct repeat *repeat, pid_t child, const siginfo_t *info)
{
    if (info->si_signo == SIGCHLD)
        return;
    repeat->is_interrupted = true;
    if (info->si_code <= 0)
        kill(child, info->si_signo);
}

/* Stops together with the run. */
static int wait_for(struct repeat *repeat, pid_t child)
{
    for (;;) {
        siginfo_t info;
        int wait_status;
        pid_t got = waitpid(child, &wait_status, WNOHANG | WUNTRACED);
        if (got == child && WIFSTOPPED(wait_status))
            raise(SIGSTOP);
        else if (got != 0)
            return got == child ? wait_status : STATUS_FAILED << 8;
        else if (sigwaitinfo(&repeat->watched, &info) >= 0)
            take_signal(repeat, child, &info);
    }
}

static int run_once(struct repeat *repeat, unsigned long run)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_in_child(repeat, run);
    if (child > 0)
        return wait_for(repeat, child);
    log_error("cannot start run %lu: %s", run, strerror(errno));
    return STATUS_FAILED << 8;
}

static int severity(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Returns the status of waitpid(). */
static int run_all(struct repeat *repeat)
{
    int worst = 0;
    unsigned long runs = 0;
    while (runs < repeat->request->repeat && !repeat->is_interrupted) {
        int wait_status = run_once(repeat, ++runs);
        worst = severity(wait_status) > severity(worst) ? wait_status : worst;
        if (severity(wait_status) >= STATUS_FAILED && severity(wait_status) <= STATUS_NO_COMMAND)
            break;
    }
    if (runs < repeat->request->repeat)
        log_error("ended after %lu of %lu runs", runs, repeat->request->repeat);
    return worst;
}

int repeat_record(struct record_request *request, int (*record)(struct record_request *request))
{
    struct repeat repeat = {.request = request, .record = record};
    struct error error = {{0}};
    static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
    if (check_directory(request, &error) != 0) {
        log_error("%s", error.text);
        return STATUS_FAILED;
    }
    sigemptyset(&repeat.watched);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaddset(&repeat.watched, watched[i]);
    sigprocmask(SIG_BLOCK, &repeat.watched, &repeat.before);
    int worst = run_all(&repeat);
    sigprocmask(SIG_SETMASK, &repeat.before, NULL);
    return end_as(worst);
}
