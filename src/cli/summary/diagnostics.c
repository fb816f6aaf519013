/* SPDX-License-Identifier: MIT */
#include "cli/summary/diagnostics.h"

#include "base/budget.h"
#include "base/text/log.h"
#include "cli/summary/diagnostic_list.h"
#include "cli/summary/kernel_hint.h"
#include "cli/summary/missing_names.h"
#include "cli/summary/runtimes.h"
#include "cli/terminal/format.h"
#include "profile/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAS_AWAY "rec was stopped, or got no CPU time"
#define TOO_MANY_THREADS "too many threads at one time: rec records 1024 of a process"

static const char *remedy_for_loss(enum record_loss loss, const struct record_summary *summary)
{
    switch (loss) {
    case RECORD_LOST_RING_FULL:
        return summary->lost[RECORD_LOST_AWAY] ? WAS_AWAY
                                               : "rec could not keep up: lower the rate (-F, -c)";
    case RECORD_LOST_BUSY:
        return "the next sample was due during a sample: lower the rate with -F";
    case RECORD_LOST_NO_THREAD:
        return summary->threads_without_slot
                   ? TOO_MANY_THREADS
                   : "in starting or ending threads, or threads started after the program "
                     "entered a sandbox";
    case RECORD_LOST_AWAY:
        return WAS_AWAY;
    default:
        return "handlers of SIGSEGV and SIGBUS are not sampled; see `rec info` for counts";
    }
}

static bool are_rings_short(const struct record_summary *summary, enum record_loss loss)
{
    return loss == RECORD_LOST_RING_FULL && !summary->lost[RECORD_LOST_AWAY] &&
           summary->short_ring_bytes > 0;
}

static enum record_loss worst_of(const uint64_t losses[RECORD_LOSSES])
{
    enum record_loss worst = 0;
    for (enum record_loss loss = 0; loss < RECORD_LOSSES; loss++)
        if (losses[loss] > losses[worst])
            worst = loss;
    return worst;
}

static void find_lost_events(struct diagnostic_list *list, const struct record_summary *summary)
{
    const enum record_loss worst = worst_of(summary->lost_events);
    if (record_lost_events(summary) > 0)
        diagnostic_add(list, DIAGNOSTIC_PERCENT_MIN,
                       "lost %s events of threads (%s), so names, creations and joins may be "
                       "missing: %s",
                       format_count(record_lost_events(summary)).text, record_loss_name(worst),
                       worst == RECORD_LOST_BUSY ? "in signal handlers of the program"
                                                 : remedy_for_loss(worst, summary));
}

static void find_losses(struct diagnostic_list *list, const struct record_summary *summary)
{
    uint64_t lost = record_lost(summary), taken = record_taken(summary);
    const enum record_loss worst = worst_of(summary->lost);
    if (diagnostic_percent(lost, taken) < DIAGNOSTIC_PERCENT_MIN)
        return;
    if (are_rings_short(summary, worst))
        diagnostic_add(list, diagnostic_percent(lost, taken),
                       "lost %s of the samples (%s): the limit of locked memory leaves %s for each "
                       "of the %s rings; raise the limit (ulimit -l, kernel.perf_event_mlock_kb), "
                       "choose fewer events or a longer period (-e, -c, -F), or run rec as root",
                       format_percent(lost, taken).text, record_loss_name(worst),
                       format_bytes(summary->short_ring_bytes).text,
                       format_count(summary->short_rings).text);
    else
        diagnostic_add(list, diagnostic_percent(lost, taken), "lost %s of the samples (%s): %s",
                       format_percent(lost, taken).text, record_loss_name(worst),
                       remedy_for_loss(worst, summary));
}

static const char *explain_blind(const struct record_summary *summary, enum record_blind blind)
{
    switch (blind) {
    case RECORD_BLIND_BLOCKED:
        return "the program blocks the signal of the sampler: by a system call, sighold() or "
               "sigblock(), or while other processes send the signal (try the other --engine)";
    case RECORD_BLIND_UNHANDLED:
        return "the program removed the signal handler of the sampler by a system call, sigset() "
               "or "
               "sigignore() (try the other --engine), or a sandbox forbids the return from signal "
               "handlers";
    case RECORD_BLIND_UNKNOWN_THREAD:
        return summary->threads_without_slot
                   ? TOO_MANY_THREADS
                   : "threads created by clone() instead of pthread_create(), internal threads of "
                     "the C library (asynchronous I/O, timers), or threads created in a sandbox";
    case RECORD_BLIND_NO_TIMER:
        return "the kernel (see ulimit -i) or a sandbox refuses CPU timers (try "
               "--engine=perf-trap)";
    case RECORD_BLIND_ELSEWHERE:
        return "recorded by another rec, started within this recording";
    default:
        return "unknown cause";
    }
}

static enum record_blind worst_blind(const struct record_summary *summary)
{
    enum record_blind worst = 0;
    for (enum record_blind blind = 0; blind < RECORD_BLINDS; blind++)
        if (summary->blind_ns[blind] > summary->blind_ns[worst])
            worst = blind;
    return worst;
}

const char *diagnostics_gap_cause(const struct record_summary *summary)
{
    enum record_blind worst = worst_blind(summary);
    bool is_known = summary->blind_ns[worst] > 0 && worst != RECORD_BLIND_OTHER;
    return is_known ? explain_blind(summary, worst) : NULL;
}

static void find_blind(struct diagnostic_list *list, const struct record_summary *summary)
{
    uint64_t sum_ns = 0;
    enum record_blind worst = worst_blind(summary);
    for (enum record_blind blind = 0; blind < RECORD_BLINDS; blind++)
        sum_ns += summary->blind_ns[blind];
    if (diagnostic_percent(sum_ns, summary->cpu_billed_ns) >= DIAGNOSTIC_PERCENT_MIN)
        diagnostic_add(list, diagnostic_percent(sum_ns, summary->cpu_billed_ns),
                       "no samples for %s of the CPU time: %s",
                       format_percent(sum_ns, summary->cpu_billed_ns).text,
                       explain_blind(summary, worst));
}

/* Mappings without a file: code generated at run time. */
static bool is_generated(const char *path)
{
    return path[0] != '/' || strncmp(path, "//anon", 6) == 0 || strncmp(path, "/memfd:", 7) == 0 ||
           strncmp(path, "/dev/zero", 9) == 0;
}

static const char *explain_missing_cfi(const char *path)
{
    if (!path)
        return "code without unwind data and frame pointers: JIT code, or built without "
               "-fasynchronous-unwind-tables";
    return is_generated(path) ? "no unwind data and frame pointers"
                              : "no unwind data and frame pointers (built without "
                                "-fasynchronous-unwind-tables, or written by hand)";
}

/* A sampler walks stacks in place. */
static const char *explain_copy(const struct record_summary *summary)
{
    if (summary->engine != RECORD_ENGINE_PERF_RING)
        return "stacks larger than the copied part";
    return summary->lacks_sampler
               ? "stacks larger than the kernel's copies (64 KiB at most); the sampler has no such "
                 "limit, but cannot record this program or event"
               : "stacks larger than the kernel's copies (64 KiB at most): with `rec -- COMMAND` "
                 "and without --engine, a dynamic program of glibc has no such limit";
}

/* path: where most of these stacks end; NULL: unknown. */
static const char *explain_cut(const struct record_summary *summary, enum record_cut cut,
                               const char *path)
{
    switch (cut) {
    case RECORD_CUT_NO_CFI:
        return explain_missing_cfi(path);
    case RECORD_CUT_GUESS:
        return "code without unwind data and with indirect calls: build with "
               "-fasynchronous-unwind-tables";
    case RECORD_CUT_UNMAPPED:
        return "unknown code: JIT code without frame pointers, or a library loaded just before the "
               "end of the process";
    case RECORD_CUT_STACK_COPY:
        return explain_copy(summary);
    case RECORD_CUT_STACK_PAGE:
        return "pages of the stack not written yet, where the kernel ends its copy";
    case RECORD_CUT_FOREIGN:
        return "stacks allocated by the program, as of coroutines: only a page of each can be read "
               "safely until perf-ring takes over, which needs perf events and no --engine option "
               "(see `rec doctor`)";
    case RECORD_CUT_SIGNAL:
        return "signal handlers on an alternate stack: the kernel copies no other stack";
    case RECORD_CUT_NO_FP:
        return "JIT code without frame pointers, so callers are missing";
    case RECORD_CUT_DEEP:
        return "too deep, the middle is left out: raise --max-frames";
    default:
        return "the walk ended before the start of the thread";
    }
}

/* ", most in libx.so", or ", most in generated code". */
static void put_place(char *text, size_t size, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    text[0] = 0;
    if (path && is_generated(path))
        snprintf(text, size, ", most in code generated at run time");
    else if (slash)
        snprintf(text, size, ", most in %.80s", slash + 1);
}

/* The cause by the runtimes of the profile. False: none of them is the cause. */
static bool explain_runtime(const struct profile *profile, enum record_cut cut, const char *path,
                            char *text, size_t size)
{
    bool is_without_module = !path || is_generated(path);
    bool is_missing_cfi = cut == RECORD_CUT_NO_CFI || cut == RECORD_CUT_GUESS ||
                          cut == RECORD_CUT_UNMAPPED || cut == RECORD_CUT_NO_FP;
    if (!profile || (is_without_module && !is_missing_cfi))
        return false;
    runtimes_explain_stacks(profile, is_without_module ? NULL : path, is_missing_cfi, text, size);
    return text[0];
}

static void find_cuts(struct diagnostic_list *list, const struct record_summary *summary,
                      const struct profile *profile)
{
    uint64_t cuts = 0;
    enum record_cut worst = 0;
    char place[128], by_runtime[320];
    for (enum record_cut cut = 0; cut < RECORD_CUTS; cut++) {
        cuts += summary->cut[cut];
        if (summary->cut[cut] > summary->cut[worst])
            worst = cut;
    }
    const struct record_cut_module *module = record_cut_worst(summary);
    bool is_module = module && module->samples > cuts / 2;
    const char *path = is_module ? module->path : NULL;
    enum record_cut cut = is_module ? module->cut : worst;
    put_place(place, sizeof(place), path);
    bool is_runtime = explain_runtime(profile, cut, path, by_runtime, sizeof(by_runtime));
    if (diagnostic_percent(cuts, summary->samples) >= DIAGNOSTIC_PERCENT_MIN)
        diagnostic_add(list, diagnostic_percent(cuts, summary->samples),
                       "%s of the stacks are incomplete%s: %s",
                       format_percent(cuts, summary->samples).text, place,
                       is_runtime ? by_runtime : explain_cut(summary, cut, path));
}

/* The timer engine samples on the tick of the kernel: exact weights, fewer samples. */
static void find_rate(struct diagnostic_list *list, const struct record_summary *summary)
{
    uint64_t signals = summary->samples + summary->merged;
    double achieved = (double)signals * 1e9 / (double)(summary->cpu_billed_ns + 1);
    double missing = 100 - diagnostic_percent((uint64_t)achieved, summary->frequency_requested);
    if (summary->engine == RECORD_ENGINE_TIMER && missing > 20)
        diagnostic_add(
            list, missing,
            "%.0f samples per CPU second instead of %u, by the timer engine%s%s: see `rec doctor`",
            achieved, summary->frequency_requested, summary->engine_reason ? ", because " : "",
            summary->engine_reason ? summary->engine_reason : "");
    else if (summary->frequency_limit)
        diagnostic_add(list, missing,
                       "%.0f samples per CPU second instead of %u: the kernel allows %u "
                       "(kernel.perf_event_max_sample_rate)",
                       achieved, summary->frequency_requested, summary->frequency_limit);
    else if (diagnostic_percent(summary->merged, signals) > 10)
        diagnostic_add(
            list, diagnostic_percent(summary->merged, signals),
            "%s of the samples were merged: the rate is too high, lower the rate with -F",
            format_percent(summary->merged, signals).text);
}

/* Weight of [not followed]. */
static uint64_t not_followed_ns(const struct profile *profile)
{
    uint64_t sum_ns = 0;
    if (!profile)
        return 0;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (sample->call == PROFILE_NONE || !profile_is_main(profile, sample))
            continue;
        uint32_t lib = profile->addresses[profile->calls[sample->call].address].lib;
        if (lib != PROFILE_NONE &&
            strcmp(profile_text(profile, profile->libs[lib].path), "[not followed]") == 0)
            sum_ns += sample->weight;
    }
    return sum_ns;
}

const struct record_process *diagnostics_worst_not_followed(const struct record_summary *summary)
{
    const struct record_process *worst = NULL;
    for (size_t i = 0; i < summary->not_followed.count; i++)
        if (!worst || summary->not_followed.items[i].cpu_ns > worst->cpu_ns)
            worst = &summary->not_followed.items[i];
    return worst;
}

static void find_not_followed(struct diagnostic_list *list, const struct record_summary *summary,
                              const struct profile *profile)
{
    uint64_t billed = summary->cpu_billed_ns, seen = summary->cpu_seen_ns;
    uint64_t unseen_ns = not_followed_ns(profile);
    if (summary->not_followed.count > 0 && billed > seen)
        unseen_ns += billed - seen;
    double percent = diagnostic_percent(unseen_ns, billed);
    struct formatted share = format_percent(unseen_ns, billed);
    uint64_t count = summary->not_followed.count + summary->not_followed.more;
    if (count == 0 && percent >= DIAGNOSTIC_PERCENT_MIN)
        diagnostic_add(
            list, percent,
            "%s of the CPU time is in processes without a sampler (short, privileged or sandboxed "
            "programs), or after the last sample of a process",
            share.text);
    if (count == 0)
        return;
    const struct record_process *worst = diagnostics_worst_not_followed(summary);
    char more[80] = "";
    if (count > 1)
        snprintf(more, sizeof(more), "; and %s more, see `rec info`", format_count(count - 1).text);
    diagnostic_add(list, percent, "not recorded (%s of the CPU time): %s, process %d: %s%s",
                   share.text, worst->name, (int)worst->pid, worst->reason, more);
}

/* The difference between rusage and the sum of weights. */
static void find_gap(struct diagnostic_list *list, const struct record_summary *summary)
{
    uint64_t billed = summary->cpu_billed_ns, seen = summary->cpu_seen_ns;
    uint64_t gap = billed > seen ? billed - seen : seen - billed;
    if (summary->not_followed.count > 0 || diagnostic_percent(gap, billed) < 2)
        return;
    diagnostic_add(list, diagnostic_percent(gap, billed),
                   billed > seen
                       ? "%s of the CPU time has no samples"
                       : "the samples have %s more CPU time than the rusage of the program",
                   format_percent(gap, billed).text);
}

static void find_left_out(struct diagnostic_list *list, const struct record_summary *summary)
{
    uint64_t mappings = summary->mappings_left_out + summary->off_cpu.mappings_left_out;
    if (mappings)
        diagnostic_add(
            list, DIAGNOSTIC_PERCENT_MIN,
            "%s mappings were left out, so code there has no names; raise the limit with "
            "%s=N (now %" PRIu64 " for a process)",
            format_count(mappings).text, budget_option(BUDGET_MAPPINGS),
            budget_amount(BUDGET_MAPPINGS));
    const uint64_t files = record_files_left_out(summary), tables = record_tables_left_out(summary);
    if (files)
        diagnostic_add(
            list, DIAGNOSTIC_PERCENT_MIN,
            "%s mapped files of other users take too much time or memory to read, so stacks may "
            "end there",
            format_count(files).text);
    if (tables)
        diagnostic_add(
            list, DIAGNOSTIC_PERCENT_MIN,
            "%s mapped files have more headers and unwind tables than rec reads, so stacks may end "
            "there; raise the limit with %s=SIZE (half of SIZE is for these, "
            "now %s)",
            format_count(tables).text, budget_option(BUDGET_TABLE_BYTES),
            format_bytes(budget_amount(BUDGET_TABLE_BYTES)).text);
    if (summary->has_locked_tables)
        diagnostic_add(
            list, DIAGNOSTIC_PERCENT_MIN,
            "a program locked its memory (mlockall), and so 60 MiB of rec's tables, too");
}

static int by_percent(const void *a, const void *b)
{
    const struct diagnostic *left = a, *right = b;
    return (left->percent < right->percent) - (left->percent > right->percent);
}

size_t diagnostics_find(const struct record_summary *summary, const struct profile *profile,
                        struct diagnostic diagnostics[DIAGNOSTICS_MAX])
{
    struct diagnostic_list list = {.diagnostics = diagnostics};
    find_losses(&list, summary);
    find_lost_events(&list, summary);
    find_cuts(&list, summary, profile);
    if (!summary->event)
        find_blind(&list, summary);
    find_left_out(&list, summary);
    find_not_followed(&list, summary, profile);
    if (summary->samples > 0 && !summary->event) {
        find_rate(&list, summary);
        find_gap(&list, summary);
    }
    if (summary->samples > 0 && profile)
        missing_names_find(&list, profile);
    if (summary->check_differed > 0)
        diagnostic_add(&list, diagnostic_percent(summary->check_differed, summary->checked),
                       "self-check: %s of %s stacks differ, a defect of rec: please report",
                       format_count(summary->check_differed).text,
                       format_count(summary->checked).text);
    qsort(diagnostics, list.count, sizeof(*diagnostics), by_percent);
    return list.count;
}

static void find_lost_records(struct diagnostic_list *list, const struct profile *profile)
{
    const char *note = profile_note(profile, "lost_records");
    if (!note)
        return;
    uint64_t lost = strtoull(note, NULL, 10), samples = 0;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));)
        samples += profile->events[sample->event].is_off_cpu ? 0 : sample->count;
    if (diagnostic_percent(lost, lost + samples) >= DIAGNOSTIC_PERCENT_MIN)
        diagnostic_add(
            list, diagnostic_percent(lost, lost + samples),
            "%s records were lost in addition to %s samples: the recorder could not keep up",
            format_count(lost).text, format_count(samples).text);
}

void diagnostics_print_for_file(const struct profile *profile, const char *symfs)
{
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    struct diagnostic_list list = {.diagnostics = diagnostics, .symfs = symfs};
    find_lost_records(&list, profile);
    missing_names_find(&list, profile);
    for (size_t i = 0; i < list.count; i++)
        log_info("%s", diagnostics[i].text);
    struct kernel_hint hint = kernel_hint_of_capture(profile);
    if (hint.text[0])
        log_info("%s", hint.text);
}
