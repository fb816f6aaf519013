/* SPDX-License-Identifier: MIT */
/*
 * The summary as text, a feature of the file: "version=1", then a line "key=value" for each figure,
 * list element and cause. Keys are stable: they become notes of the profile
 * (convert/load/metadata.c). Figures of rare causes are left out while 0.
 */
#include "record/options.h"
#include "record/summary.h"

#include "base/containers/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *record_loss_name(enum record_loss loss)
{
    static const char *const names[RECORD_LOSSES] = {
        [RECORD_LOST_RING_FULL] = "ring-full", [RECORD_LOST_BUSY] = "busy",
        [RECORD_LOST_NO_THREAD] = "no-thread", [RECORD_LOST_AWAY] = "away",
        [RECORD_LOST_OTHER] = "other",
    };
    return loss < RECORD_LOSSES ? names[loss] : "unknown";
}

const char *record_blind_name(enum record_blind blind)
{
    static const char *const names[RECORD_BLINDS] = {
        [RECORD_BLIND_BLOCKED] = "signal-blocked",
        [RECORD_BLIND_UNHANDLED] = "signal-unhandled",
        [RECORD_BLIND_UNKNOWN_THREAD] = "unknown-thread",
        [RECORD_BLIND_NO_TIMER] = "no-timer",
        [RECORD_BLIND_ELSEWHERE] = "other-recording",
        [RECORD_BLIND_OTHER] = "other",
    };
    return blind < RECORD_BLINDS ? names[blind] : "unknown";
}

const char *record_cut_name(enum record_cut cut)
{
    static const char *const names[RECORD_CUTS] = {
        [RECORD_CUT_NO_CFI] = "no-cfi",
        [RECORD_CUT_UNMAPPED] = "unmapped",
        [RECORD_CUT_STACK_COPY] = "stack-copy",
        [RECORD_CUT_STACK_PAGE] = "stack-page",
        [RECORD_CUT_FOREIGN] = "foreign-stack",
        [RECORD_CUT_DEEP] = "deep",
        [RECORD_CUT_GUESS] = "guess",
        [RECORD_CUT_NO_FP] = "no-frame-pointer",
        [RECORD_CUT_ROOT] = "root",
        [RECORD_CUT_SIGNAL] = "signal-stack",
    };
    return cut < RECORD_CUTS ? names[cut] : "unknown";
}

const char *record_end_name(enum record_end end)
{
    switch (end) {
    case RECORD_END_COMMAND:
        return "command";
    case RECORD_END_DURATION:
        return "duration";
    case RECORD_END_SIZE:
        return "max-size";
    case RECORD_END_SPACE:
        return "keep-free";
    case RECORD_END_SIGNAL:
        return "signal";
    }
    return "unknown";
}

void record_processes_add(struct record_processes *processes, pid_t pid, const char *name,
                          const char *reason)
{
    struct record_process *entry =
        processes->count < RECORD_PROCESSES_MAX
            ? ARRAY_PUSH(processes->items, processes->count, processes->capacity)
            : NULL;
    if (!entry) {
        processes->more++;
        return;
    }
    entry->pid = pid;
    entry->reason = reason;
    snprintf(entry->name, sizeof(entry->name), "%s", name);
}

static uint64_t sum_of(const uint64_t losses[RECORD_LOSSES])
{
    uint64_t lost = 0;
    for (enum record_loss loss = 0; loss < RECORD_LOSSES; loss++)
        lost += losses[loss];
    return lost;
}

uint64_t record_lost(const struct record_summary *summary)
{
    return sum_of(summary->lost);
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t record_files_left_out(const struct record_summary *summary)
{
    return most(summary->files_left_out, summary->off_cpu.files_left_out);
}

uint64_t record_tables_left_out(const struct record_summary *summary)
{
    return most(summary->tables_left_out, summary->off_cpu.tables_left_out);
}

uint64_t record_lost_events(const struct record_summary *summary)
{
    return sum_of(summary->lost_events);
}

uint64_t record_taken(const struct record_summary *summary)
{
    return summary->samples + summary->other_samples + record_lost(summary);
}

const char record_started_late[] = "started while rec was busy";

void record_add_not_followed(struct record_summary *summary, pid_t pid, const char *name,
                             const char *reason)
{
    struct record_processes *processes = &summary->not_followed;
    /* record_started_late is added when the process withdraws its request, and again if the
     * process is later found without a sampler. */
    if (reason != record_started_late || !record_processes_have(processes, pid, reason))
        record_processes_add(processes, pid, name, reason);
}

bool record_processes_have(const struct record_processes *processes, pid_t pid, const char *reason)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->items[i].pid == pid && processes->items[i].reason == reason)
            return true;
    return false;
}

void record_processes_add_cpu(struct record_processes *processes, pid_t pid, uint64_t cpu_ns)
{
    for (size_t i = processes->count; i-- > 0;) {
        if (processes->items[i].pid == pid) {
            processes->items[i].cpu_ns += cpu_ns;
            return;
        }
    }
    if (processes->more)
        processes->more_cpu_ns += cpu_ns;
}

void record_cut_add(struct record_summary *summary, enum record_cut cut, const char *path)
{
    struct record_cut_module *modules = summary->cut_modules;
    size_t i = 0, length = sizeof(modules->path) - 1;
    summary->cut[cut]++;
    if (!path)
        return;
    while (i < summary->cut_module_count &&
           (modules[i].cut != cut || strncmp(modules[i].path, path, length) != 0))
        i++;
    if (i == RECORD_CUT_MODULES_MAX)
        return;
    if (i == summary->cut_module_count) {
        summary->cut_module_count++;
        modules[i].cut = cut;
        snprintf(modules[i].path, sizeof(modules[i].path), "%s", path);
    }
    modules[i].samples++;
}

const struct record_cut_module *record_cut_worst(const struct record_summary *summary)
{
    const struct record_cut_module *worst = NULL;
    for (size_t i = 0; i < summary->cut_module_count; i++)
        if (!worst || summary->cut_modules[i].samples > worst->samples)
            worst = &summary->cut_modules[i];
    return worst;
}

void record_summary_free(struct record_summary *summary)
{
    free(summary->not_followed.items);
    free(summary->earlier_children.items);
    free(summary->left_running.items);
    namespace_ids_free(&summary->namespace_ids);
    for (size_t i = 0; i < summary->off_cpu.object_count; i++)
        free(summary->off_cpu.objects[i].text);
    free(summary->off_cpu.objects);
    kernel_ranges_free(&summary->off_cpu.kernel);
    *summary = (struct record_summary){0};
}

/* Appends a word of a value, or the whole rest if blanks may stay. */
static void append_escaped(struct buffer *out, const char *text, bool keep_blanks)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f || c == '\\' || (c == ' ' && !keep_blanks))
            buffer_printf(out, "\\x%02x", c);
        else
            buffer_append(out, text, 1);
    }
}

static void append_text(struct buffer *out, const char *key, const char *value)
{
    buffer_printf(out, "%s=", key);
    append_escaped(out, value, true);
    buffer_text(out, "\n");
}

static void append_processes(struct buffer *out, const char *key,
                             const struct record_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        const struct record_process *process = &processes->items[i];
        buffer_printf(out, "%s.%zu=%d ", key, i, (int)process->pid);
        append_escaped(out, process->name, false);
        if (process->reason) {
            buffer_text(out, " ");
            append_escaped(out, process->reason, true);
        }
        buffer_text(out, "\n");
        if (process->cpu_ns)
            buffer_printf(out, "%s_cpu_ns.%zu=%" PRIu64 "\n", key, i, process->cpu_ns);
    }
    if (processes->more)
        buffer_printf(out, "%s.more=%" PRIu64 "\n", key, processes->more);
    if (processes->more_cpu_ns)
        buffer_printf(out, "%s_cpu_ns.more=%" PRIu64 "\n", key, processes->more_cpu_ns);
}

static void append_counters(const struct record_summary *summary, struct buffer *out)
{
    const struct {
        const char *key;
        uint64_t value;
    } counters[] = {
        {"frequency_asked", summary->frequency_requested},
        {"frequency_limit", summary->frequency_limit},
        {"wall_ns", summary->wall_ns},
        {"cpu_billed_ns", summary->cpu_billed_ns},
        {"cpu_seen_ns", summary->cpu_seen_ns},
        {"cpu_complete_ns", summary->cpu_complete_ns},
        {"cpu_ends_ns", summary->cpu_ends_ns},
        {"cpu_kernel_ns", summary->cpu_kernel_ns},
        {"cpu_unsampled_kernel_ns", summary->cpu_unsampled_kernel_ns},
        {"produced", summary->produced},
        {"samples", summary->samples},
        {"other_samples", summary->other_samples},
        {"complete", summary->complete},
        {"fibers", summary->fibers},
        {"lost_events", record_lost_events(summary)},
        {"short_ring_bytes", summary->short_ring_bytes},
        {"merged", summary->merged},
        {"misses", summary->misses},
        {"callers_verified", summary->callers_verified},
        {"callers_plausible", summary->callers_plausible},
        {"checked", summary->checked},
        {"check_differed", summary->check_differed},
        {"processes", summary->processes},
        {"threads", summary->threads},
        {"mappings_left_out", summary->mappings_left_out},
        {"files_left_out", record_files_left_out(summary)},
        {"tables_left_out", record_tables_left_out(summary)},
        {"locked_tables", summary->has_locked_tables},
        {"threads_without_slot", summary->threads_without_slot},
        {"handler_p50_ns", summary->handler_p50_ns},
        {"handler_p99_ns", summary->handler_p99_ns},
        {"handler_max_ns", summary->handler_max_ns},
        {"tables_ready_ns", summary->tables_ready_ns},
        {"compile_ns", summary->compile_ns},
        {"rows", summary->rows},
        {"cfi_conflicts", summary->cfi_conflicts},
        {"launcher_cpu_ns", summary->launcher_cpu_ns},
        {"delay_ns", summary->delay_ns},
        {"cpu_before_ns", summary->cpu_before_ns},
    };
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        buffer_printf(out, "%s=%" PRIu64 "\n", counters[i].key, counters[i].value);
}

static void append_off_cpu(const struct record_off_cpu *off_cpu, struct buffer *out)
{
    const struct {
        const char *key;
        uint64_t value;
    } counters[] = {
        {"interval_ns", off_cpu->interval_ns},
        {"longest_interval_ns", off_cpu->longest_interval_ns},
        {"waiting_ns", off_cpu->waiting_ns},
        {"runnable_ns", off_cpu->runnable_ns},
        {"lost_ns", off_cpu->lost_ns},
        {"filled_ns", off_cpu->filled_ns},
        {"with_stack_ns", off_cpu->with_stack_ns},
        {"short_ns", off_cpu->short_ns},
        {"unseen_ns", off_cpu->unseen_ns},
        {"samples", off_cpu->samples},
        {"switches", off_cpu->switches},
        {"lost_records", off_cpu->lost_records},
        {"looks", off_cpu->looks},
        {"torn", off_cpu->torn},
        {"running", off_cpu->running},
        {"refused", off_cpu->refused},
        {"refused_programs", off_cpu->refused_programs},
        {"hanging", off_cpu->hanging},
        {"hanging_programs", off_cpu->hanging_programs},
        {"failed", off_cpu->failed},
        {"stackless", off_cpu->stackless},
        {"incomplete", off_cpu->incomplete},
        {"inferred", off_cpu->inferred},
        {"guessed", off_cpu->guessed},
        {"cpu_ns", off_cpu->cpu_ns},
        {"storm", off_cpu->storm},
        {"start_storm", off_cpu->start_storm},
        {"stuck", off_cpu->is_stuck},
        {"without_kernel_threads", off_cpu->without_kernel_threads},
    };
    if (!off_cpu->method)
        return;
    append_text(out, "off_cpu.method", off_cpu->method);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        buffer_printf(out, "off_cpu.%s=%" PRIu64 "\n", counters[i].key, counters[i].value);
    for (size_t i = 0; i < off_cpu->object_count; i++) {
        buffer_printf(out, "off_cpu.object.%zu=%" PRIu64 " ", i + 1, off_cpu->objects[i].waited_ns);
        append_escaped(out, off_cpu->objects[i].text, true);
        buffer_text(out, "\n");
    }
}

void record_summary_text(const struct record_summary *summary, struct buffer *out)
{
    buffer_text(out, "version=1\n");
    append_text(out, "engine", record_engine_name(summary->engine));
    if (summary->engine_reason)
        append_text(out, "engine_reason", summary->engine_reason);
    if (summary->target[0])
        append_text(out, "target", summary->target);
    append_counters(summary, out);
    for (enum record_cut cut = 0; cut < RECORD_CUTS; cut++)
        buffer_printf(out, "cut.%s=%" PRIu64 "\n", record_cut_name(cut), summary->cut[cut]);
    for (size_t i = 0; i < summary->cut_module_count; i++) {
        const struct record_cut_module *module = &summary->cut_modules[i];
        buffer_printf(out, "cut_module.%zu=%" PRIu64 " %s ", i, module->samples,
                      record_cut_name(module->cut));
        append_escaped(out, module->path, true);
        buffer_text(out, "\n");
    }
    for (enum record_loss loss = 0; loss < RECORD_LOSSES; loss++)
        buffer_printf(out, "lost.%s=%" PRIu64 "\n", record_loss_name(loss), summary->lost[loss]);
    for (enum record_loss loss = 0; loss < RECORD_LOSSES; loss++)
        if (summary->lost_events[loss])
            buffer_printf(out, "lost_events.%s=%" PRIu64 "\n", record_loss_name(loss),
                          summary->lost_events[loss]);
    for (enum record_blind blind = 0; blind < RECORD_BLINDS; blind++)
        if (summary->blind_ns[blind])
            buffer_printf(out, "blind_ns.%s=%" PRIu64 "\n", record_blind_name(blind),
                          summary->blind_ns[blind]);
    if (summary->worst_module.misses) {
        append_text(out, "worst_module", summary->worst_module.path);
        buffer_printf(out, "worst_module_misses=%" PRIu64 "\n", summary->worst_module.misses);
    }
    append_off_cpu(&summary->off_cpu, out);
    append_text(out, "end", record_end_name(summary->end));
    if (summary->has_exited)
        append_text(out, "exited", "1");
    append_processes(out, "not_followed", &summary->not_followed);
    append_processes(out, "earlier_child", &summary->earlier_children);
    append_processes(out, "left_running", &summary->left_running);
    namespace_ids_text(&summary->namespace_ids, out);
}
