/* SPDX-License-Identifier: MIT */
#include "record/attach/attach.h"

#include "base/clock.h"
#include "base/text/log.h"
#include "perfdata/writer.h"
#include "record/attach/attach_targets.h"
#include "record/events/event_list.h"
#include "record/launch/kernel_access.h"
#include "record/launch/launch.h"
#include "record/launch/perf_event.h"
#include "record/off_cpu/off_recorder.h"
#include "record/perf_ring/ring_growth.h"
#include "record/procfs/proc.h"
#include "record/recorders/recorders.h"
#include "record/sample/file_limit.h"
#include "record/sample/finished_round.h"
#include "wire/atomic.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NICE (-15)
enum { POLLED = 3 };
/* Time between two looks at CPU times, ends of processes and the size of the file. */
#define LOOK_NS 100000000
#define CHECKPOINT_NS 250000000
/* A record enters its ring shortly after its time was read. */
#define RECORD_DELAY_NS 1000000

struct attachment {
    const struct record_options *options;
    struct record_result *result;
    struct ring_source source;
    struct off_recorder *off_cpu; /* NULL: not recorded */
    struct round round;
    struct perfdata_writer *writer;
    struct finished_round finished_round;
    struct file_limit file_limit;
    /* Signals, the end of the command, and records copied by the thread of the rings. */
    struct pollfd polled[POLLED];
    int signal_fd;
    int command_fd;          /* pidfd of the command that ends the recording; -1: none */
    uint64_t busy_before_ns; /* CPU time of all processors at the start */
    sigset_t old_mask;
    struct sigaction old_file_size;
    uint64_t start_ns, quiet_until_ns, deadline_ns, look_due_ns, checkpoint_due_ns;
};

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

/* Before the events of the targets, whose starts enter the file. */
static int open_off_cpu(struct attachment *attachment, struct error *error)
{
    const struct record_options *options = attachment->options;
    const struct off_recorder_config config = {
        .interval_ns = options->off_cpu_interval_ns,
        .reach = attachment->source.events.reach,
        .open_files = &attachment->result->open_files,
        .file = attachment->writer,
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
    int err = attach_targets_add_off_cpu(attachment->off_cpu, attachment->options, own, error);
    if (err == 0 && (err = off_recorder_start(attachment->off_cpu)) != 0)
        err = error_set(error, err, "cannot record off-CPU time: %s", strerror(-err));
    return err;
}

/* The command is not recorded itself. Its signals, limits and priority are not those of rec: the
 * child exists before rec changes its own, and waits. */
static int fork_command(struct attachment *attachment, struct error *error)
{
    struct record_result *result = attachment->result;
    char path[4096];
    int status = launch_find(attachment->options->argv[0], path, error);
    launch_block_signals(&result->launch);
    if (status == 0)
        status = launch_fork(&result->launch, path, attachment->options->argv, environ, error);
    if (status == 0)
        attachment->command_fd = (int)syscall(SYS_pidfd_open, result->launch.pid, 0);
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

static int prepare(struct attachment *attachment, struct error *error)
{
    int err = attachment->options->argv ? fork_command(attachment, error) : 0;
    if (err)
        return err;
    if (attachment->options->kernel_stacks && (err = kernel_access_require(error)) != 0)
        return err;
    raise_file_limit();
    raise_priority();
    struct own_rights own = own_rights_read();
    err = attach_targets_check(attachment->options, &own, &attachment->result->summary, error);
    if (err)
        return err;
    uint64_t period_ns = 1000000000 / choose_frequency(attachment);
    round_start(&attachment->round);
    attachment->start_ns = attachment->round.now_ns;
    attachment->round.is_quiet = true; /* until all threads have events */
    err = open_writer(attachment, period_ns, error);
    if (err == 0)
        err = open_source(attachment, period_ns, &own, error);
    if (err == 0 && take_signals(attachment) != 0)
        err = error_set(error, -errno, "cannot wait for signals: %s", strerror(errno));
    if (err)
        return err;
    if ((err = open_off_cpu(attachment, error)) != 0)
        return err;
    err = attach_targets_open(&attachment->source, attachment->options, &own, error);
    attachment->busy_before_ns = proc_busy_ns();
    if (err == 0)
        err = start_off_cpu(attachment, &own, error);
    return err || !attachment->options->argv ? err : start_command(attachment, error);
}

static void begin_sampling(struct attachment *attachment)
{
    attachment->round.is_quiet = attachment->options->off_cpu_only;
    attachment->quiet_until_ns = UINT64_MAX;
    if (attachment->off_cpu)
        off_recorder_begin(attachment->off_cpu, attachment->round.now_ns);
    ring_source_restart(&attachment->source);
}

static void begin(struct attachment *attachment)
{
    const struct record_options *options = attachment->options;
    uint64_t now_ns = monotonic_ns();
    attachment->quiet_until_ns = now_ns + options->delay_ns;
    if (options->duration_ns)
        attachment->deadline_ns = attachment->quiet_until_ns + options->duration_ns;
    if (options->delay_ns == 0)
        begin_sampling(attachment);
}

/* Waits for copied records, a signal, the end of a process, or the next point in time. */
static void wait_for_work(struct attachment *attachment)
{
    uint64_t due_ns = attachment->look_due_ns, now_ns = monotonic_ns();
    if (attachment->round.is_quiet && attachment->quiet_until_ns < due_ns)
        due_ns = attachment->quiet_until_ns;
    if (attachment->deadline_ns && attachment->deadline_ns < due_ns)
        due_ns = attachment->deadline_ns;
    if (attachment->source.has_left)
        due_ns = now_ns;
    uint64_t wait_ns =
        ring_growth_wait_ns(&attachment->source, due_ns > now_ns ? due_ns - now_ns : 0);
    struct timespec timeout = {.tv_sec = (time_t)(wait_ns / 1000000000),
                               .tv_nsec = (long)(wait_ns % 1000000000)};
    ppoll(attachment->polled, POLLED, &timeout, NULL);
}

static void look_around(struct attachment *attachment)
{
    uint64_t now_ns = attachment->round.now_ns;
    const struct finished_round_facts facts = {.now_ns = now_ns};
    attachment->look_due_ns = now_ns + LOOK_NS;
    ring_tasks_look(&attachment->source.tasks);
    if (attachment->off_cpu)
        off_recorder_write(attachment->off_cpu, now_ns);
    finished_round_write(&attachment->finished_round, attachment->writer, &facts);
    if (now_ns >= attachment->checkpoint_due_ns) {
        perfdata_checkpoint(attachment->writer);
        attachment->checkpoint_due_ns = now_ns + CHECKPOINT_NS;
    }
}

static bool is_interrupted(const struct attachment *attachment)
{
    struct signalfd_siginfo info;
    return read(attachment->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info);
}

static bool has_command_ended(const struct attachment *attachment)
{
    struct pollfd end = {.fd = attachment->command_fd, .events = POLLIN};
    return end.fd >= 0 && poll(&end, 1, 0) == 1;
}

/* True: the recording is over. */
static bool is_over(struct attachment *attachment)
{
    enum record_end *end = &attachment->result->summary.end;
    uint64_t now_ns = attachment->round.now_ns;
    bool has_targets =
        attachment->options->records_system || attachment->source.tasks.processes.count > 0;
    attachment->result->has_target_ended = !has_targets;
    bool has_ended = !has_targets || has_command_ended(attachment);
    if (has_ended)
        *end = RECORD_END_COMMAND;
    else if (is_interrupted(attachment))
        *end = RECORD_END_SIGNAL;
    else if (attachment->deadline_ns && now_ns >= attachment->deadline_ns)
        *end = RECORD_END_DURATION;
    else
        *end = file_limit_check(&attachment->file_limit, now_ns);
    return *end != RECORD_END_COMMAND || has_ended;
}

static void record(struct attachment *attachment)
{
    do {
        wait_for_work(attachment);
        round_begin(&attachment->round);
        uint64_t now_ns = attachment->round.now_ns;
        if (attachment->round.is_quiet && now_ns >= attachment->quiet_until_ns)
            begin_sampling(attachment);
        ring_source_drain(&attachment->source, now_ns - RECORD_DELAY_NS);
        ring_growth_round(&attachment->source);
        if (now_ns >= attachment->look_due_ns)
            look_around(attachment);
    } while (!is_over(attachment));
}

static void prepare_wait(struct attachment *attachment)
{
    const int polled[POLLED] = {attachment->signal_fd, attachment->command_fd,
                                attachment->source.copier.copied_fd};
    for (size_t i = 0; i < POLLED; i++)
        attachment->polled[i] = (struct pollfd){.fd = polled[i], .events = POLLIN};
    if (attachment->off_cpu)
        attachment->finished_round.hold_ns = off_recorder_age_ns(attachment->off_cpu);
    attachment->finished_round.begin_bytes = perfdata_bytes_written(attachment->writer);
    file_limit_open(&attachment->file_limit, attachment->writer, attachment->options->size_max,
                    attachment->options->keep_free_bytes);
}

/* Of all processors; of some, or of a cgroup, the samples are the only figure. */
static uint64_t system_cpu_ns(const struct attachment *attachment)
{
    const struct record_options *options = attachment->options;
    bool is_part = options->processors || options->cgroup || options->delay_ns;
    return is_part ? attachment->result->summary.cpu_seen_ns
                   : proc_busy_ns() - attachment->busy_before_ns;
}

/* The command goes on after --duration, and gets SIGTERM after a signal to rec. */
static void leave_command(struct attachment *attachment)
{
    struct record_result *result = attachment->result;
    if (attachment->command_fd < 0)
        return;
    result->is_running = true;
    result->was_ended = result->summary.end == RECORD_END_SIGNAL || result->has_target_ended;
    if (result->was_ended)
        kill(result->launch.pid, SIGTERM);
}

static int finish(struct attachment *attachment, struct error *error)
{
    struct record_summary *summary = &attachment->result->summary;
    struct buffer text = {0};
    round_begin(&attachment->round);
    ring_source_stop(&attachment->source);
    if (attachment->off_cpu)
        off_recorder_stop(attachment->off_cpu, &summary->off_cpu);
    if (attachment->options->records_system)
        summary->cpu_billed_ns = system_cpu_ns(attachment);
    summary->wall_ns = monotonic_ns() - attachment->start_ns;
    summary->launcher_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    record_summary_text(summary, &text);
    int err =
        perfdata_set_feature(attachment->writer, PERFDATA_FEATURE_SUMMARY, text.bytes, text.size);
    if (err == 0)
        err = perfdata_finish(attachment->writer);
    summary->file_bytes = perfdata_bytes_written(attachment->writer);
    buffer_free(&text);
    return err ? error_set(error, err, "cannot write %s: %s", attachment->options->output_name,
                           strerror(-err))
               : 0;
}

static void release(struct attachment *attachment)
{
    ring_source_close(&attachment->source);
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

static void run(struct attachment *attachment)
{
    attachment->result->started = true;
    begin(attachment);
    record(attachment);
    leave_command(attachment);
}

int record_attach(const struct record_options *options, struct record_result *result,
                  struct error *error)
{
    /* Too large for the stack of `ulimit -s 64`. */
    struct attachment *attachment = calloc(1, sizeof(*attachment));
    *result = (struct record_result){.exit_status = 125,
                                     .launch.link_fd = -1,
                                     .summary.engine = RECORD_ENGINE_PERF_RING,
                                     .summary.delay_ns = options->delay_ns,
                                     .summary.event = event_list_main_name(options),
                                     .summary.off_cpu_only = options->off_cpu_only};
    if (!attachment)
        return error_set(error, -ENOMEM, "out of memory");
    attachment->options = options;
    attachment->result = result;
    attachment->signal_fd = attachment->command_fd = attachment->source.tasks.end_fd = -1;
    int err = prepare(attachment, error);
    if (err == 0) {
        prepare_wait(attachment);
        run(attachment);
        err = finish(attachment, error);
    }
    release(attachment);
    free(attachment);
    return err;
}
