/* SPDX-License-Identifier: MIT */
/*
 * A recording of a command:
 *
 *     prepare         engine ─▶ session: shared memory, environment ─▶ writer of the file
 *     start           fork, the child waits ─▶ off-CPU events ─▶ compiler, collector ─▶ exec
 *     wait_for_end    end of the command, duration, size, or signal
 *     finish          last records ─▶ CPU time of the command ─▶ accounts ─▶ summary ─▶ file
 *
 * The engine decides about the session. At the exec the events of the command exist, and the
 * collector answers handshakes.
 */
#include "record/record.h"

#include "base/clock.h"
#include "base/containers/buffer.h"
#include "perfdata/writer.h"
#include "record/events/event_list.h"
#include "record/launch/kernel_access.h"
#include "record/launch/engine_choice.h"
#include "record/collector/collector.h"
#include "record/collector/collector_totals.h"
#include "record/tables/compiler.h"
#include "record/perf_ring/thread_events.h"
#include "record/procfs/proc.h"
#include "record/off_cpu/off_recorder.h"
#include "record/recorders/recorders.h"
#include "record/launch/exec_target.h"
#include "record/session/session.h"
#include "record/sample/tsc_clock.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Under perf-trap: CPU time between two reads of the kernel's share. */
#define KERNEL_INTERVAL_NS 10000000
/* --wait-all: interval of the checks, and number of successive checks without a process. */
#define WAIT_ALL_NS 100000000
#define WAIT_ALL_LOOKS 2
#define FILES_FEWEST 16

/* All resources of a recording; released in the reverse order. */
struct recording {
    const struct record_options *options;
    struct record_result *result;
    struct launch *launch; /* in the result */
    struct session session;
    struct session_environment environment;
    struct compiler *compiler;
    struct perfdata_writer *writer;
    struct collector *collector;
    struct off_recorder *off_cpu; /* NULL: not recorded */
    struct engine_choice engine;
    uint64_t start_ns;
    char program[4096];
    struct exec_target target; /* the program */
};

static int open_writer(struct recording *recording, struct error *error)
{
    const struct record_options *options = recording->options;
    struct perfdata_config config = {
        .start_time_ns = recording->start_ns,
        .start_wall_ns = clock_ns(CLOCK_REALTIME),
        .compression_level = options->compression_level,
        .argv = options->no_command_line ? NULL : (const char *const *)options->argv,
    };
    recorders_describe(options->recorders, recording->session.tables->header.period_ns,
                       config.events);
    event_list_describe(options, config.events);
    int err = perfdata_writer_open(&recording->writer, options->output_fd, &config);
    return err ? error_set(error, err, "cannot write %s: %s", options->output_name, strerror(-err))
               : 0;
}

static int open_session(struct recording *recording, struct error *error)
{
    const struct record_options *options = recording->options;
    char sampler[4096];
    const struct event_request *injected = event_list_injected(options);
    struct session_config config = {
        .period_ns = 1000000000 / engine_choose_frequency(&recording->result->summary),
        .kernel_interval_ns = options->kernel_stacks ? 0 : KERNEL_INTERVAL_NS,
        .event = event_list_main_row(options),
        .event_weight = injected ? injected->period : 0,
        .self_check_every = options->self_check_every,
        .withhold_tables = options->withhold_tables,
        .no_inherit = options->no_inherit,
        .is_quiet = options->delay_ns > 0 || options->off_cpu_only,
        .command_linker = recording->target.linker,
        .takes_accounts = recorders_have_off_cpu(options->recorders),
        .takes_departures = options->engine == RECORD_ENGINE_AUTO && thread_events_probe() == 0,
    };
    char *sampler_path = recording->result->sampler_path;
    int err = session_find_sampler(sampler, recorders_have_hooks(options->recorders), error);
    if (err == 0)
        err = preload_path_find(sampler_path, sampler, error);
    if (err == 0)
        err = session_open(&recording->session, &config, error);
    if (err == 0) {
        session_name_sampler(&recording->session, sampler_path);
        err = session_environment(&recording->session, &recording->environment);
    }
    /* after the session's descriptors have got their numbers */
    launch_raise_files(recording->launch);
    return err;
}

/* On the command, which waits before its exec. */
static int open_off_cpu(struct recording *recording, struct error *error)
{
    const struct record_options *options = recording->options;
    const struct off_recorder_config config = {
        .interval_ns = options->off_cpu_interval_ns,
        .reach = options->no_inherit ? REACH_PROCESS : REACH_CHILDREN,
        .open_files = &recording->result->open_files,
        .file = recording->writer,
        .accounts_fd = recording->session.requests_fd,
        .is_quiet = options->delay_ns > 0 || options->off_cpu_only,
        .with_kernel_stacks = !options->exclude_kernel,
        .has_kernel_image = options->kernel_stacks,
    };
    int err = off_recorder_open(&recording->off_cpu, &config);
    if (err == 0)
        err = off_recorder_await_exec(recording->off_cpu, recording->launch->pid);
    return err ? error_set(error, err, "cannot record off-CPU time: %s", strerror(-err)) : 0;
}

static int start_threads(struct recording *recording, struct error *error)
{
    int err = compiler_start(&recording->compiler, &recording->session,
                             &recording->result->open_files, error);
    if (err)
        return err;
    bool has_kernel = recording->options->kernel_stacks && !recording->engine.is_outside;
    const struct collector_config config = {
        .session = &recording->session,
        .compiler = recording->compiler,
        .writer = recording->writer,
        .options = recording->options,
        .summary = &recording->result->summary,
        .open_files = &recording->result->open_files,
        .off_cpu = recording->off_cpu,
        .outside_pid = recording->engine.is_outside ? recording->launch->pid : 0,
        .kernel_pid = has_kernel ? recording->launch->pid : 0,
        .may_arm = recording->result->summary.engine == RECORD_ENGINE_PERF_TRAP,
    };
    return collector_start(&recording->collector, &config, error);
}

/* With a lower limit, the first files missing are the programs', and stacks end in these
 * modules. */
static int check_files(const struct recording *recording, struct error *error)
{
    unsigned long long most = recording->launch->old_files.rlim_max;
    if (most >= FILES_FEWEST)
        return 0;
    return error_set(error, -EMFILE,
                     "no more than %llu files may be open at once here (ulimit -Hn): rec needs %d",
                     most, FILES_FEWEST);
}

static int prepare(struct recording *recording, struct error *error)
{
    int err = check_files(recording, error);
    if (err == 0 && recording->options->kernel_stacks)
        err = kernel_access_require(error);
    if (err == 0)
        err = engine_choose(&recording->engine, recording->options, recording->target.takes_ring,
                            &recording->result->summary, error);
    if (err == 0)
        err = open_session(recording, error);
    if (err == 0)
        err = open_writer(recording, error);
    return err;
}

/* The command exists before the events of perf-ring, and the collector runs before the command. 0,
 * or the exit status. */
static int start(struct recording *recording, struct error *error)
{
    const struct record_options *options = recording->options;
    /* An incompatible dynamic linker gets the environment unchanged. */
    bool is_unchanged = recording->target.is_foreign || recording->engine.is_outside;
    int status = launch_fork(recording->launch, recording->program, options->argv,
                             is_unchanged ? environ : recording->environment.variables, error);
    if (status == 0 && recorders_have_off_cpu(options->recorders) &&
        open_off_cpu(recording, error) != 0)
        status = 125;
    if (status == 0 && start_threads(recording, error) != 0)
        status = 125;
    if (status == 0)
        status = launch_exec(recording->launch, options->argv[0], error);
    launch_abandon(recording->launch);
    return status;
}

/* CPU time of the command with all children waited for, as launch_reap() has it. */
static uint64_t usage_ns(const struct rusage *usage)
{
    uint64_t seconds = (uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec;
    uint64_t microseconds = (uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec;
    return seconds * 1000000000 + microseconds * 1000;
}

/* The recording ends before the command. */
static void let_go(struct recording *recording)
{
    struct record_result *result = recording->result;
    result->is_running = true;
    if (!recording->options->end_command)
        return;
    result->was_ended = true;
    kill(recording->launch->pid, SIGTERM);
}

/* The total CPU time for the samples: the command's rusage, or its clock if the command still runs.
 * The clock is read before the reap: afterwards /proc/PID is gone. */
static uint64_t command_cpu_ns(struct recording *recording, bool command_runs)
{
    struct rusage usage = {0};
    uint64_t own_ns = proc_cpu_ns(recording->launch->pid);
    if (command_runs)
        let_go(recording);
    else
        launch_reap(recording->launch, &recording->result->wait_status, &usage);
    if (recording->options->no_inherit)
        return own_ns;
    return usage_ns(&usage) + collector_live_ns(recording->collector);
}

static bool has_exited(const struct record_result *result)
{
    return !result->is_running && WIFEXITED(result->wait_status);
}

static int finish(struct recording *recording, struct error *error)
{
    struct record_summary *summary = &recording->result->summary;
    struct buffer text = {0};
    bool command_runs = summary->end != RECORD_END_COMMAND;
    collector_stop(recording->collector, command_runs);
    uint64_t end_ns = monotonic_ns();
    uint64_t cpu_ns = command_cpu_ns(recording, command_runs);
    collector_settle_tree(recording->collector, recording->program, cpu_ns, end_ns);
    summary->wall_ns = end_ns - recording->start_ns;
    summary->has_exited = has_exited(recording->result);
    summary->launcher_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    record_summary_text(summary, &text);
    int err =
        perfdata_set_feature(recording->writer, PERFDATA_FEATURE_SUMMARY, text.bytes, text.size);
    if (err == 0)
        err = perfdata_finish(recording->writer);
    summary->file_bytes = perfdata_bytes_written(recording->writer);
    buffer_free(&text);
    return err ? error_set(error, err, "cannot write %s: %s", recording->options->output_name,
                           strerror(-err))
               : 0;
}

static void release(struct recording *recording)
{
    collector_free(recording->collector);
    compiler_stop(recording->compiler);
    open_file_cache_drop_present(&recording->result->open_files);
    perfdata_writer_close(recording->writer);
    off_recorder_free(recording->off_cpu);
    session_environment_free(&recording->environment);
    session_close(&recording->session);
    if (recording->engine.probe_fd >= 0)
        close(recording->engine.probe_fd);
    if (!recording->result->is_running)
        launch_restore_signals(recording->launch);
}

/* Waits for the rest of the tree. Two empty checks in a row: a child just forked may not have
 * requested a handshake yet. A terminating signal ends the wait. */
static enum record_end wait_for_all(struct recording *recording, uint64_t deadline_ns)
{
    for (int looks = 0; looks < WAIT_ALL_LOOKS;) {
        if (launch_pause(WAIT_ALL_NS))
            break;
        if (deadline_ns && monotonic_ns() >= deadline_ns)
            break;
        if (load_acquire(collector_full(recording->collector)))
            break;
        looks = collector_running(recording->collector) ? 0 : looks + 1;
    }
    return RECORD_END_COMMAND;
}

static enum record_end wait_for_end(struct recording *recording)
{
    const struct record_options *options = recording->options;
    uint64_t deadline_ns = 0;
    if (options->duration_ns)
        deadline_ns = monotonic_ns() + options->delay_ns + options->duration_ns;
    switch (launch_wait(recording->launch, deadline_ns, collector_full(recording->collector))) {
    case LAUNCH_TIMED_OUT:
        return RECORD_END_DURATION;
    case LAUNCH_CALLED:
        return load_acquire(collector_full(recording->collector));
    case LAUNCH_ENDED:
        break;
    }
    return options->wait_all ? wait_for_all(recording, deadline_ns) : RECORD_END_COMMAND;
}

void record_wait(struct record_result *result)
{
    struct rusage usage;
    if (!result->is_running)
        return;
    launch_wait(&result->launch, 0, NULL);
    launch_reap(&result->launch, &result->wait_status, &usage);
    launch_restore_signals(&result->launch);
    result->is_running = false;
}

int record_run(const struct record_options *options, struct record_result *result,
               struct error *error)
{
    struct recording recording = {
        .options = options, .result = result, .launch = &result->launch, .engine.probe_fd = -1};
    recording.session.tables_fd = recording.session.requests_fd = -1;
    tsc_measure();
    *result = (struct record_result){.exit_status = 125,
                                     .launch.link_fd = -1,
                                     .summary.delay_ns = options->delay_ns,
                                     .summary.event = event_list_main_name(options),
                                     .summary.off_cpu_only = options->off_cpu_only};
    int status = launch_find(options->argv[0], recording.program, error);
    if (status) {
        result->exit_status = status;
        return -ENOENT;
    }
    launch_block_signals(recording.launch);
    recording.start_ns = monotonic_ns();
    recording.target = exec_target_inspect(recording.program, 0);
    int err = prepare(&recording, error);
    if (err)
        goto out;
    status = start(&recording, error);
    if (status) {
        result->exit_status = status;
        if (recording.collector)
            collector_stop(recording.collector, false);
        err = -ENOEXEC;
        goto out;
    }
    result->started = true;
    collector_set_root(recording.collector, recording.launch->pid);
    if (recording.off_cpu)
        off_recorder_set_root(recording.off_cpu, recording.launch->pid);
    result->summary.end = wait_for_end(&recording);
    err = finish(&recording, error);
out:
    release(&recording);
    return err;
}
