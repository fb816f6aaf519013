/* SPDX-License-Identifier: MIT */
#include "record/attach/attach.h"

#include "base/clock.h"
#include "perfdata/writer.h"
#include "record/attach/attachment.h"
#include "record/events/event_list.h"
#include "record/perf_ring/ring_growth.h"
#include "record/perf_ring/ring_ends.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* Time between two looks at CPU times, ends of processes and the size of the file. */
#define LOOK_NS 100000000
#define CHECKPOINT_NS 250000000
/* A record enters its ring shortly after its time was read. */
#define RECORD_DELAY_NS 1000000

static void begin_sampling(struct attachment *attachment)
{
    attachment->round.is_quiet = attachment->options->off_cpu_only;
    attachment->quiet_until_ns = UINT64_MAX;
    if (attachment->off_cpu)
        off_recorder_begin(attachment->off_cpu, attachment->round.now_ns);
    uint64_t before_ns = ring_source_restart(&attachment->source);
    if (attachment->options->delay_ns)
        attachment->result->summary.cpu_before_ns = before_ns;
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
    ring_ends_look(&attachment->source.tasks);
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
        off_recorder_stop(attachment->off_cpu, summary);
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
    int err = attachment_open(attachment, error);
    if (err == 0) {
        prepare_wait(attachment);
        run(attachment);
        err = finish(attachment, error);
    }
    attachment_close(attachment);
    free(attachment);
    return err;
}
