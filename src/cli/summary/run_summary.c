/* SPDX-License-Identifier: MIT */
#include "cli/summary/run_summary.h"

#include "base/text/log.h"
#include "cli/summary/diagnostics.h"
#include "cli/terminal/format.h"
#include "cli/waits/waits_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES_MAX = 6 };

struct run_summary_ending run_summary_ending(int wait_status)
{
    struct run_summary_ending ending;
    const char *name = WIFSIGNALED(wait_status) ? sigabbrev_np(WTERMSIG(wait_status)) : NULL;
    if (name)
        snprintf(ending.text, sizeof(ending.text), "killed by SIG%s", name);
    else if (WIFSIGNALED(wait_status))
        snprintf(ending.text, sizeof(ending.text), "killed by signal %d", WTERMSIG(wait_status));
    else
        snprintf(ending.text, sizeof(ending.text), "status %d", WEXITSTATUS(wait_status));
    return ending;
}

static bool is_attached(const struct run_summary *run)
{
    return run->result->summary.target[0] != '\0';
}

static const char *ran(const struct run_summary *run)
{
    bool are_several = run->result->summary.has_several_targets;
    return !is_attached(run) ? "ran" : are_several ? "were recorded for" : "was recorded for";
}

static struct run_summary_ending ending(const struct run_summary *run)
{
    struct run_summary_ending none = {""}, ended = {"ended"}, running = {"still running"};
    if (is_attached(run))
        return run->result->has_target_ended ? ended : none;
    return run->result->is_running ? running : run_summary_ending(run->result->wait_status);
}

static int print_ran(const struct run_summary *run)
{
    const struct record_summary *summary = &run->result->summary;
    struct run_summary_ending end = ending(run);
    log_info("%s %s %s and used %s CPU (%s, %s %s)%s%s", run->command, ran(run),
             format_duration(summary->wall_ns).text, format_duration(summary->cpu_billed_ns).text,
             format_number_of(summary->threads, "thread").text,
             format_count(summary->processes).text,
             summary->processes == 1 ? "process" : "processes", end.text[0] ? ", " : "", end.text);
    return 1;
}

/* CPU time explained without samples. */
static uint64_t settled_ns(const struct record_summary *summary)
{
    return summary->cpu_ends_ns + summary->cpu_unsampled_kernel_ns;
}

bool run_summary_lacks_samples(const struct record_summary *summary)
{
    return summary->samples + summary->other_samples == 0 && !summary->event &&
           summary->cpu_billed_ns > settled_ns(summary) + RUN_SUMMARY_CPU_WORTH_SAMPLING_NS;
}

static bool ended_before_sampling(const struct record_summary *summary)
{
    return summary->wall_ns < summary->delay_ns;
}

/* Most CPU time is unexplained, though not enough for a failure. */
static bool was_out_of_sight(const struct record_summary *summary)
{
    uint64_t billed_ns = summary->cpu_billed_ns, known_ns = settled_ns(summary);
    return billed_ns > known_ns && billed_ns - known_ns > known_ns;
}

static int print_why_no_samples(const struct record_summary *summary)
{
    if (run_summary_lacks_samples(summary) || summary->off_cpu_only)
        return 0;
    if (summary->event) {
        log_info("no samples: %s did not occur in the recorded processes", summary->event);
        return 1;
    }
    if (summary->cpu_unsampled_kernel_ns > summary->cpu_ends_ns) {
        log_info("no samples: internal threads of io_uring or the C library used %s in the kernel",
                 format_duration(summary->cpu_unsampled_kernel_ns).text);
        return 1;
    }
    uint32_t limit = summary->frequency_limit;
    uint32_t frequency = limit ? limit : summary->frequency_requested;
    log_info(
        "no samples: no thread used the CPU time of a sampling period, %s; shorten the period with "
        "a higher -F",
        format_duration(frequency ? 1000000000 / frequency : 0).text);
    return 1;
}

static int print_nothing_to_sample(const struct run_summary *run)
{
    const struct record_summary *summary = &run->result->summary;
    if (ended_before_sampling(summary))
        return 0; /* see print_part() */
    log_info("%s used %s CPU in %s: nothing to sample%s", run->command,
             format_duration(summary->cpu_billed_ns).text, format_duration(summary->wall_ns).text,
             summary->off_cpu.method ? "" : "; rec records CPU time, and waiting with --off-cpu");
    return 1;
}

/* Per second of CPU time. */
static uint64_t rate_of(const struct record_summary *summary)
{
    return summary->cpu_billed_ns
               ? (uint64_t)((double)summary->samples * 1e9 / (double)summary->cpu_billed_ns)
               : 0;
}

/* Of the main event and, shortly, of the others. */
static int print_samples(const struct record_summary *summary)
{
    const uint64_t lost = record_lost(summary);
    const struct formatted complete = format_percent(summary->complete, summary->samples),
                           others = format_count(summary->other_samples),
                           shown_lost = summary->event
                                            ? format_count(lost)
                                            : format_percent(lost, record_taken(summary));
    const char *lost_text = lost ? shown_lost.text : "none";
    const char *engine = record_engine_name(summary->engine);
    char what[128] = "", more[64] = "";
    if (summary->event)
        snprintf(what, sizeof(what), " of %s", summary->event);
    else
        snprintf(what, sizeof(what), ", %s per CPU second", format_count(rate_of(summary)).text);
    if (summary->other_samples)
        snprintf(more, sizeof(more), ", %s of other events", others.text);
    if (summary->samples == 0)
        log_info("no samples of %s%s, %s lost (%s)", summary->event ? summary->event : "CPU time",
                 more, lost_text, engine);
    else
        log_info("%s%s, %s complete stacks%s, %s lost (%s)",
                 format_number_of(summary->samples, "sample").text, what, complete.text, more,
                 lost_text, engine);
    return 1;
}

static int print_off_cpu(const struct record_off_cpu *off_cpu)
{
    char torn[80] = "", incomplete[80] = "", refused[128] = "", hanging[128] = "",
         runnable[80] = "", lost[80] = "", storm[128] = "", pace[80] = "";
    if (!off_cpu->method)
        return 0;
    if (off_cpu->is_stuck) {
        log_info("off-CPU: stacks are missing: the memory of a process could not be read within "
                 "2 s; the process hangs in the kernel");
        return 1;
    }
    if (off_cpu->runnable_ns)
        snprintf(runnable, sizeof(runnable), ", %s runnable without a processor",
                 format_duration(off_cpu->runnable_ns).text);
    if (off_cpu->torn)
        snprintf(torn, sizeof(torn), ", %s discarded", format_count(off_cpu->torn).text);
    if (off_cpu->incomplete)
        snprintf(incomplete, sizeof(incomplete), ", %s incomplete",
                 format_count(off_cpu->incomplete).text);
    if (off_cpu->refused)
        snprintf(refused, sizeof(refused), ", %s refused: no right to trace %s program%s",
                 format_count(off_cpu->refused).text, format_count(off_cpu->refused_programs).text,
                 off_cpu->refused_programs == 1 ? "" : "s");
    if (off_cpu->hanging)
        snprintf(hanging, sizeof(hanging), ", %s without an answer: %s program%s in the kernel",
                 format_count(off_cpu->hanging).text, format_count(off_cpu->hanging_programs).text,
                 off_cpu->hanging_programs == 1 ? " hangs" : "s hang");
    if (off_cpu->lost_ns)
        snprintf(lost, sizeof(lost), ", %s unknown: switch records were lost",
                 format_duration(off_cpu->lost_ns).text);
    else if (off_cpu->filled_ns)
        snprintf(lost, sizeof(lost), ", %s as sums: switch records were lost",
                 format_duration(off_cpu->filled_ns).text);
    if (off_cpu->storm || off_cpu->start_storm)
        snprintf(storm, sizeof(storm),
                 " after a storm of %s context switches/s and %s new threads/s",
                 format_count(off_cpu->storm).text, format_count(off_cpu->start_storm).text);
    if (off_cpu->longest_interval_ns > off_cpu->interval_ns)
        snprintf(pace, sizeof(pace), " up to %s apart to save CPU time",
                 format_duration(off_cpu->longest_interval_ns).text);
    log_info("off-CPU: %s waiting, %s of it with stacks%s%s (%s%s, %s %s%s%s%s%s%s%s)",
             format_duration(off_cpu->waiting_ns).text,
             format_percent(off_cpu->with_stack_ns, off_cpu->waiting_ns).text, runnable, lost,
             off_cpu->method, storm, format_count(off_cpu->looks).text,
             off_cpu->looks == 1 ? "look" : "looks", pace, torn, incomplete, refused, hanging,
             off_cpu->without_kernel_threads ? ", without threads of the kernel" : "");
    return 1;
}

/* A recording of a part of the run. */
static int print_part(const struct run_summary *run)
{
    const struct record_summary *summary = &run->result->summary;
    const char *then = is_attached(run)         ? ""
                       : run->result->was_ended ? "; sent SIGTERM to the command"
                                                : "; the command goes on";
    char end[128] = "";
    char start[200] = "";
    if (summary->end != RECORD_END_COMMAND && summary->end != RECORD_END_SIGNAL)
        snprintf(end, sizeof(end), "recording ended by --%s%s%s", record_end_name(summary->end),
                 summary->end == RECORD_END_SPACE ? ": the disk is nearly full" : "", then);
    if (ended_before_sampling(summary))
        snprintf(start, sizeof(start),
                 "the command ended after %s, before sampling began at %s; %s CPU not recorded",
                 format_duration(summary->wall_ns).text, format_duration(summary->delay_ns).text,
                 format_duration(summary->cpu_before_ns).text);
    else if (summary->cpu_before_ns)
        snprintf(
            start, sizeof(start), "sampling began after %s; %s CPU used before are not recorded",
            format_duration(summary->delay_ns).text, format_duration(summary->cpu_before_ns).text);
    else if (summary->delay_ns) /* of the system, the CPU time before is unknown */
        snprintf(start, sizeof(start), "sampling began after %s",
                 format_duration(summary->delay_ns).text);
    if (!end[0] && !start[0])
        return 0;
    log_info("%s%s%s", start, start[0] && end[0] ? "; " : "", end);
    return 1;
}

/* "left running: sh, process 12 and 2 more, see `rec info`; use --wait-all to wait" */
static int print_processes(const char *what, const struct record_processes *processes,
                           const char *remedy)
{
    char more[80] = "";
    if (processes->count == 0)
        return 0;
    if (processes->count + processes->more > 1)
        snprintf(more, sizeof(more), " and %s more, see `rec info`",
                 format_count(processes->count + processes->more - 1).text);
    log_info("%s: %s, process %d%s; %s", what, processes->items[0].name,
             (int)processes->items[0].pid, more, remedy);
    return 1;
}

static int print_others(const struct record_summary *summary)
{
    return print_processes("left running", &summary->left_running, "use --wait-all to wait") +
           print_processes("children from before, not recorded", &summary->earlier_children,
                           "give their pids to -p, too");
}

/* At least a line, if there are such threads; `room`: without the lines of defects. */
static int print_stuck(const struct run_summary *run, int room)
{
    struct stuck stuck;
    if (!run->profile || !run->result->summary.off_cpu.method ||
        stuck_find(&stuck, run->profile, run->stuck_after_ns, false) != 0)
        return 0;
    int lines = stuck_log(&stuck, room > 1 ? room : 1);
    stuck_free(&stuck);
    return lines;
}

/* Threads waiting at the end, then defects. A line of each is worth more than the limit of lines,
 * and a defect more than a second group of threads. The hint takes the place of the smallest
 * defect. */
static void print_stuck_and_diagnostics(const struct run_summary *run, int room)
{
    struct diagnostic diagnostics[DIAGNOSTICS_MAX];
    int count = (int)diagnostics_find(&run->result->summary, run->profile, diagnostics);
    room -= print_stuck(run, room - count);
    if (count > 0 && room < 1)
        room = 1;
    bool has_hint = run->kernel_hint.text[0] && (count == 0 ? room > 0 : room > 1);
    for (int i = 0; i < count && i < room - has_hint; i++)
        log_info("%s", diagnostics[i].text);
    if (has_hint)
        log_info("%s", run->kernel_hint.text);
}

/* "rec.data 5.8 MB, rec.pb.gz". */
static void list_files(const struct outputs *outputs, char *list, size_t size)
{
    struct stat status;
    size_t used = 0;
    list[0] = '\0';
    if (outputs->capture && stat(outputs->capture, &status) == 0)
        used = (size_t)snprintf(list, size, "%s %s", outputs->capture,
                                format_bytes((uint64_t)status.st_size).text);
    for (size_t i = 0; i < outputs->count && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "",
                                 outputs->items[i].path);
}

static void print_files(const struct run_summary *run)
{
    char list[2048];
    if (!run->profile)
        return;
    list_files(run->outputs, list, sizeof(list));
    log_info("%swrote %s", run->is_private ? "another rec is writing the requested files; " : "",
             list);
}

/* Debian: in the package libdevel-nytprof-perl, outside of PATH. */
static const char *flamegraph_command(void)
{
    const char *debian = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl";
    return access(debian, R_OK) == 0 ? "in https://www.speedscope.app or "
                                       "`perl /usr/share/perl5/Devel/NYTProf/flamegraph.pl`"
                                     : "in https://www.speedscope.app or flamegraph.pl";
}

/* A viewer for each file. */
static void print_viewers(const struct outputs *outputs)
{
    const struct {
        const struct exporter *exporter;
        const char *viewer;
    } viewers[] = {
        {&export_firefox, "in https://profiler.firefox.com"},
        {&export_pprof, "in `go tool pprof -http=localhost:8000` at /ui/flamegraph"},
        {&export_collapsed, flamegraph_command()},
        {&export_speedscope, "in https://www.speedscope.app"},
        {&export_html, "in a browser"},
        {&export_svg, "in a browser"},
    };
    char text[1024] = "";
    size_t used = 0;
    if (outputs->capture && strcmp(outputs->capture, "rec.data") == 0)
        used = (size_t)snprintf(text, sizeof(text), "`rec report`, `rec view`");
    else if (outputs->capture)
        used = (size_t)snprintf(text, sizeof(text), "`rec report %s`, `rec view %s`",
                                outputs->capture, outputs->capture);
    for (size_t i = 0; i < sizeof(viewers) / sizeof(viewers[0]); i++)
        for (size_t j = 0; j < outputs->count && used < sizeof(text); j++)
            if (outputs->items[j].exporter == viewers[i].exporter)
                used +=
                    (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? ", " : "",
                                     outputs->items[j].path, viewers[i].viewer);
    if (used)
        log_info("view: %s", text);
}

static void print_more(const struct record_summary *summary)
{
    if (summary->handler_max_ns)
        log_info("a sample took %s (p50), %s (p99), %s at most",
                 format_duration(summary->handler_p50_ns).text,
                 format_duration(summary->handler_p99_ns).text,
                 format_duration(summary->handler_max_ns).text);
    log_info("%s unwind rows, compiled in %s CPU, first table after %s",
             format_count(summary->rows).text, format_duration(summary->compile_ns).text,
             format_duration(summary->tables_ready_ns).text);
    if (summary->cfi_conflicts)
        log_info("functions refused because their code and unwind data give other frames: %s",
                 format_count(summary->cfi_conflicts).text);
    log_info("rec used %s CPU while recording and finished %s itself%s%s",
             format_duration(summary->launcher_cpu_ns).text,
             format_number_of(summary->misses, "stack").text,
             summary->misses > 1 ? ", most of them in "
             : summary->misses   ? ", in "
                                 : "",
             summary->misses ? summary->worst_module.path : "");
    if (summary->checked)
        log_info("self-check: %s of %s stacks differ", format_count(summary->check_differed).text,
                 format_count(summary->checked).text);
}

void run_summary_print(const struct run_summary *run)
{
    const struct record_summary *summary = &run->result->summary;
    bool is_terminal = isatty(STDERR_FILENO);
    int room = LINES_MAX - 1 - is_terminal; /* without print_files() and print_viewers() */
    if (summary->samples + summary->other_samples > 0)
        room -= print_ran(run) + print_samples(summary);
    else if (was_out_of_sight(summary) && !summary->event)
        room -= print_ran(run);
    else if (summary->event || summary->cpu_billed_ns > RUN_SUMMARY_CPU_WORTH_SAMPLING_NS)
        room -= print_ran(run) + print_why_no_samples(summary);
    else
        room -= print_nothing_to_sample(run);
    room -= print_off_cpu(&summary->off_cpu) + print_part(run) + print_others(summary);
    print_stuck_and_diagnostics(run, room);
    print_files(run);
    if (is_terminal && summary->samples > 0 && run->profile)
        print_viewers(run->outputs);
    if (run->is_verbose)
        print_more(summary);
}
