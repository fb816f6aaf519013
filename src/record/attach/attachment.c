/* SPDX-License-Identifier: MIT */
#include "record/attach/attachment.h"

#include "base/clock.h"
#include "base/pid_fd.h"
#include "perfdata/writer.h"
#include "record/attach/attach_targets.h"
#include "record/events/event_list.h"
#include "record/launch/kernel_access.h"
#include "record/launch/launch.h"
#include "record/launch/perf_event.h"
#include "record/procfs/proc.h"
#include "record/recorders/recorders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define NICE (-15)

/* A terminating signal ends the recording. A file beyond its size limit becomes a write error. */
static int take_signals(struct attachment *attachment)
{
    static const int ending[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaddset(&set, ending[i]);
    sigprocmask(SIG_BLOCK, &set, &attachment->old_mask);
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &attachment->old_file_size);
    attachment->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return attachment->signal_fd < 0 ? -errno : 0;
}

/* Events need a descriptor for each thread and processor. */
static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Beside a thousand busy threads of the same session, rec would get a thousandth of the processors,
 * lose most samples, and take a minute for the names. Without the privilege, the nearest permitted
 * priority. */
static void raise_priority(void)
{
    int before = getpriority(PRIO_PROCESS, 0);
    for (int nice = NICE; nice < before; nice++)
        if (setpriority(PRIO_PROCESS, 0, nice) == 0)
            break;
}

static uint32_t choose_frequency(struct attachment *attachment)
{
    struct record_summary *summary = &attachment->result->summary;
    uint32_t requested = attachment->options->frequency, limit = perf_event_rate_limit();
    summary->frequency_requested = requested;
    if (limit == 0 || limit >= requested)
        return requested;
    summary->frequency_limit = limit;
    return limit;
}

static int open_writer(struct attachment *attachment, uint64_t period_ns, struct error *error)
{
    const struct record_options *options = attachment->options;
    struct perfdata_config config = {
        .start_time_ns = attachment->start_ns,
        .start_wall_ns = clock_ns(CLOCK_REALTIME),
        .compression_level = options->compression_level,
    };
    recorders_describe(options->recorders, period_ns, config.events);
    event_list_describe(options, config.events);
    int err = perfdata_writer_open(&attachment->writer, options->output_fd, &config);
    return err ? error_set(error, err, "cannot write %s: %s", options->output_name, strerror(-err))
               : 0;
}

static int open_source(struct attachment *attachment, uint64_t period_ns,
                       const struct own_rights *own, struct error *error)
{
    const struct record_options *options = attachment->options;
    enum event_reach reach = options->records_system        ? REACH_SYSTEM
                             : options->targets_are_threads ? REACH_THREAD
                             : options->no_inherit          ? REACH_PROCESS
                                                            : REACH_CHILDREN;
    const struct ring_source_config config = {.file = attachment->writer,
                                              .summary = &attachment->result->summary,
                                              .round = &attachment->round,
                                              .open_files = &attachment->result->open_files,
                                              .period_ns = period_ns,
                                              .reach = reach,
                                              .options = options,
                                              .processors = options->processors};
    int err = ring_source_open(&attachment->source, &config);
    if (err == -ENODEV || err == -EINVAL)
        return error_set(error, err, "cannot record processors %s: not all of them are online",
                         options->processors ? options->processors : "");
    return err ? refusal_explain_rings(own, err, error) : 0;
}

/* Before the events of the targets: starts of targets enter the file. */
static int open_off_cpu(struct attachment *attachment, struct error *error)
{
    const struct record_options *options = attachment->options;
    const struct off_recorder_config config = {
        .interval_ns = options->off_cpu_interval_ns,
        .reach = attachment->source.events.reach,
        .open_files = &attachment->result->open_files,
        .file = attachment->writer,
        .accounts_fd = -1,
        .is_quiet = true,
        .with_kernel_stacks = !options->exclude_kernel,
        .has_kernel_image = options->kernel_stacks,
        .processors = options->processors,
        .meet = options->records_system ? ring_source_meet : NULL,
        .meet_context = &attachment->source,
    };
    if (!recorders_have_off_cpu(options->recorders))
        return 0;
    int err = off_recorder_open(&attachment->off_cpu, &config);
    return err ? error_set(error, err, "cannot record off-CPU time: %s", strerror(-err)) : 0;
}

static int start_off_cpu(struct attachment *attachment, const struct own_rights *own,
                         struct error *error)
{
    if (!attachment->off_cpu)
        return 0;
    int err = attach_targets_add_off_cpu(attachment->off_cpu, attachment->options,
                                         attachment->target_fds, own, error);
    if (err == 0 && (err = off_recorder_start(attachment->off_cpu)) != 0)
        err = error_set(error, err, "cannot record off-CPU time: %s", strerror(-err));
    return err;
}

/* The command is not recorded itself. Its signals, limits and priority are not those of rec: the
 * child exists before rec changes its own, and waits until the events of the targets are open. */
static int fork_command(struct attachment *attachment, struct error *error)
{
    struct record_result *result = attachment->result;
    char path[4096];
    int status = launch_find(attachment->options->argv[0], path, error);
    launch_block_signals(&result->launch);
    if (status == 0)
        status = launch_fork(&result->launch, path, attachment->options->argv, environ, error);
    if (status == 0)
        attachment->command_fd = pid_fd_open(result->launch.pid);
    result->exit_status = status ? status : result->exit_status;
    return status ? -ENOEXEC : 0;
}

static int start_command(struct attachment *attachment, struct error *error)
{
    struct record_result *result = attachment->result;
    int status = launch_exec(&result->launch, attachment->options->argv[0], error);
    result->exit_status = status ? status : result->exit_status;
    return status ? -ENOEXEC : 0;
}

static void close_target_fds(struct attachment *attachment)
{
    pid_fds_close(attachment->target_fds, attachment->options->target_count);
    attachment->target_fds = NULL;
}

static int open_file_and_source(struct attachment *attachment, const struct own_rights *own,
                                struct error *error)
{
    uint64_t period_ns = 1000000000 / choose_frequency(attachment);
    round_start(&attachment->round);
    attachment->start_ns = attachment->round.now_ns;
    attachment->round.is_quiet = true; /* until all threads have events */
    int err = open_writer(attachment, period_ns, error);
    if (err == 0)
        err = open_source(attachment, period_ns, own, error);
    if (err == 0 && take_signals(attachment) != 0)
        err = error_set(error, -errno, "cannot wait for signals: %s", strerror(errno));
    return err;
}

static int open_targets(struct attachment *attachment, const struct own_rights *own,
                        struct error *error)
{
    int err = attach_targets_open(&attachment->source, attachment->options, attachment->target_fds,
                                  own, error);
    attachment->busy_before_ns = proc_busy_ns();
    if (err == 0)
        err = start_off_cpu(attachment, own, error);
    close_target_fds(attachment);
    return err;
}

int attachment_open(struct attachment *attachment, struct error *error)
{
    const struct record_options *options = attachment->options;
    int err = options->argv ? fork_command(attachment, error) : 0;
    if (err == 0 && options->kernel_stacks)
        err = kernel_access_require(error);
    if (err)
        return err;
    raise_file_limit();
    raise_priority();
    struct own_rights own = own_rights_read();
    attachment->target_fds = pid_fds_open(options->targets, options->target_count);
    if (!attachment->target_fds)
        return error_set(error, -ENOMEM, "out of memory");
    err = attach_targets_check(options, &own, &attachment->result->summary, error);
    if (err == 0)
        err = open_file_and_source(attachment, &own, error);
    if (err == 0)
        err = open_off_cpu(attachment, error);
    if (err == 0)
        err = open_targets(attachment, &own, error);
    return err || !options->argv ? err : start_command(attachment, error);
}

void attachment_close(struct attachment *attachment)
{
    ring_source_close(&attachment->source);
    close_target_fds(attachment);
    open_file_cache_drop_present(&attachment->result->open_files);
    perfdata_writer_close(attachment->writer);
    off_recorder_free(attachment->off_cpu);
    if (attachment->command_fd >= 0)
        close(attachment->command_fd);
    launch_abandon(&attachment->result->launch);
    if (attachment->options->argv && !attachment->result->is_running)
        launch_restore_signals(&attachment->result->launch);
    if (attachment->signal_fd < 0)
        return;
    close(attachment->signal_fd);
    sigaction(SIGXFSZ, &attachment->old_file_size, NULL);
    sigprocmask(SIG_SETMASK, &attachment->old_mask, NULL);
}
