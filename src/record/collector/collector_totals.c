/* SPDX-License-Identifier: MIT */
#include "record/collector/collector_totals.h"

#include "base/text/path_name.h"
#include "record/collector/collector_state.h"
#include "record/launch/exec_target.h"
#include "record/sample/task_records.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Samples may weigh this part more than the rusage: they include time that a hypervisor took. */
#define NOISE_PARTS 32

static uint64_t cpu_not_followed_ns(const struct record_summary *summary)
{
    uint64_t sum_ns = summary->not_followed.more_cpu_ns;
    for (size_t i = 0; i < summary->not_followed.count; i++)
        sum_ns += summary->not_followed.items[i].cpu_ns;
    return sum_ns;
}

/* When a pid namespace's init exits, the kernel kills the other processes of the namespace; they
 * are never waited for, so their rusage is lost. */
static bool lacks_rusage(const struct collector *collector, uint64_t billed_ns)
{
    const struct record_summary *summary = collector->config.summary;
    if (collector->handshake.has_inner_pids)
        return billed_ns < summary->cpu_seen_ns - summary->cpu_seen_ns / NOISE_PARTS;
    return billed_ns < cpu_not_followed_ns(summary);
}

/* A command that never joined: its name and synthetic mappings, and the reason in the summary. */
static void write_silent_command(struct collector *collector, struct process *command,
                                 const char *program)
{
    struct record_summary *summary = collector->config.summary;
    const char *reason = exec_target_inspect(program, 0).reason;
    snprintf(command->name, sizeof(command->name), "%.15s", path_name(program));
    command->start_ns = round_first_ns(&collector->round);
    task_write_start(collector->config.writer, command, false);
    summary->processes++;
    summary->threads++;
    record_add_not_followed(summary, command->pid, command->name,
                            reason ? reason : "its loader does not preload");
}

/* No wait of a process recorded from outside is known, so its children without one are found in
 * the sum only. */
static uint64_t with_orphans_ns(const struct collector *collector, uint64_t billed_ns)
{
    uint64_t recorded_ns = collector->has_command_outside ? outside_cpu_ns(&collector->outside) : 0;
    bool has_orphans = billed_ns < recorded_ns - recorded_ns / NOISE_PARTS;
    return has_orphans ? recorded_ns : billed_ns;
}

/* The rusage without the time before sampling. The seen time, where the kernel's figure lacks some,
 * and where user time is left out. */
static uint64_t sampled_rusage_ns(struct collector *collector, uint64_t billed_ns)
{
    struct record_summary *summary = collector->config.summary;
    if (collector->round.is_quiet && collector->quiet_until_ns != UINT64_MAX)
        summary->cpu_before_ns = billed_ns;
    billed_ns = billed_ns > summary->cpu_before_ns ? billed_ns - summary->cpu_before_ns : 0;
    bool is_seen = collector->config.options->kernel_only || lacks_rusage(collector, billed_ns);
    return is_seen ? summary->cpu_seen_ns : with_orphans_ns(collector, billed_ns);
}

void collector_settle_tree(struct collector *collector, const char *program, uint64_t billed_ns,
                           uint64_t end_ns)
{
    struct record_summary *summary = collector->config.summary;
    struct process command = {
        .pid = collector->tree.root_pid, .parent_pid = getpid(), .pid_fd = -1};
    bool is_silent = !collector->handshake.has_command && !collector->untracked.has_command &&
                     !collector->has_command_outside;
    enum synthetic rest =
        collector->has_command_outside ? SYNTHETIC_BETWEEN : SYNTHETIC_NOT_FOLLOWED;
    if (is_silent)
        write_silent_command(collector, &command, program);
    summary->cpu_billed_ns = sampled_rusage_ns(collector, billed_ns);
    /* CPU time of no recorded process: children that were never met, or ended before. Below a
     * millisecond, the difference is the resolution of the figures. */
    if (summary->cpu_billed_ns > summary->cpu_seen_ns + 1000000)
        sample_write_synthetic(&collector->samples, &command, command.pid, rest,
                               summary->cpu_billed_ns - summary->cpu_seen_ns, end_ns);
    if (is_silent) {
        record_processes_add_cpu(&summary->not_followed, command.pid, command.account.seen_ns);
        task_write_exit(collector->config.writer, &command, end_ns);
    }
    summary->handler_p50_ns = drain_handler_percentile_ns(&collector->drain, 50);
    summary->handler_p99_ns = drain_handler_percentile_ns(&collector->drain, 99);
    summary->handler_max_ns = drain_handler_max_ns(&collector->drain);
    summary->compile_ns = compiler_cpu_ns(collector->config.compiler);
    summary->rows = compiler_rows(collector->config.compiler);
    summary->cfi_conflicts = compiler_cfi_conflicts(collector->config.compiler);
    const struct left_out left_out = compiler_left_out(collector->config.compiler);
    summary->files_left_out += left_out.files;
    summary->tables_left_out += left_out.tables;
    summary->has_locked_tables = session_is_locked(collector->config.session);
}
