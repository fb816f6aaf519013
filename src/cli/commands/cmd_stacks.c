/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/pid_fd.h"
#include "base/text/log.h"
#include "cli/commands/program_hint.h"
#include "cli/files/confine_outputs.h"
#include "cli/options/help.h"
#include "cli/snapshot/stacks_json.h"
#include "cli/snapshot/stacks_text.h"
#include "cli/tables/snapshot_table.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static int print_json(const struct named_snapshot *named, bool with_frames)
{
    struct buffer out = {0};
    stacks_json(named, with_frames, &out);
    int err = out.failed ? -ENOMEM : 0;
    if (!err)
        fwrite(out.bytes, 1, out.size, stdout);
    buffer_free(&out);
    return err;
}

static int print(const struct named_snapshot *named, const struct snapshot_options *options,
                 const struct command_spec *command)
{
    bool with_frames = command == &stacks_command;
    if (options->json)
        return print_json(named, with_frames);
    if (with_frames)
        return stacks_print(named, pager_columns());
    threads_print(named);
    return 0;
}

/* pid 0: the core file. */
static int show(const struct snapshot_options *options, const struct command_spec *command,
                pid_t pid)
{
    struct named_snapshot named;
    struct error error = {{0}};
    int err = named_snapshot_take(&named, pid, options, &error);
    if (err == 0 && print(&named, options, command) != 0)
        err = error_set(&error, -ENOMEM, "out of memory");
    if (err)
        log_error("%s", error.text);
    named_snapshot_free(&named);
    return err;
}

/* Returns the number of processes that could not be read. */
static size_t show_all(const struct snapshot_options *options, const struct command_spec *command,
                       const int *pid_fds)
{
    size_t failures = 0;
    for (size_t i = 0; i < options->targets.count; i++) {
        const pid_t pid = options->targets.ids[i];
        bool is_gone = pid_fd_is_reaped(pid_fds[i]);
        if (is_gone)
            log_error("cannot read process %d: no such process", (int)pid);
        failures += is_gone || show(options, command, pid) != 0;
    }
    fflush(stdout);
    return failures;
}

/* Until all targets are gone. */
static int repeat(const struct snapshot_options *options, const struct command_spec *command,
                  const int *pid_fds)
{
    size_t failures = 0;
    for (uint64_t i = 0; i < options->count && failures < options->targets.count; i++) {
        struct timespec pause = {.tv_sec = (time_t)(options->interval_ns / 1000000000),
                                 .tv_nsec = (long)(options->interval_ns % 1000000000)};
        if (i > 0)
            nanosleep(&pause, NULL);
        failures = show_all(options, command, pid_fds);
    }
    return failures ? STATUS_FAILED : STATUS_OK;
}

/* The processes of the start: a later one with the same pid is not shown. */
static int watch(const struct snapshot_options *options, const struct command_spec *command)
{
    const struct target_list *targets = &options->targets;
    int *pid_fds = pid_fds_open(targets->ids, targets->count);
    if (!pid_fds)
        log_error("out of memory");
    int status = pid_fds ? repeat(options, command, pid_fds) : STATUS_FAILED;
    pid_fds_close(pid_fds, targets->count);
    return status;
}

static int run(char *const *words, const struct command_spec *command)
{
    struct snapshot_options options;
    struct error error = {{0}};
    int status = STATUS_FAILED;
    if (snapshot_options_parse(&options, words, command, &error) != 0) {
        program_hint_append(command->name, words[0], &error);
        log_error("%s", error.text);
    } else if (options.help) {
        help_print_command(stdout, command);
        status = STATUS_OK;
    } else if (options.core) {
        confine_to_outputs(NULL, options.from.use_debuginfod);
        status = show(&options, command, 0) ? STATUS_FAILED : STATUS_OK;
    } else {
        status = watch(&options, command);
    }
    snapshot_options_free(&options);
    return status;
}

int cmd_stacks(char *const *words)
{
    return run(words, &stacks_command);
}

int cmd_threads(char *const *words)
{
    return run(words, &threads_command);
}
