/* SPDX-License-Identifier: MIT */
/*
 * check command and outputs ─▶ claim the capture ─▶ run ─▶ symbolize, convert ─▶ print the summary
 * ─▶ end with the command's status or signal
 */
#include "cli/commands/commands.h"

#include "base/files/kept_roots.h"
#include "base/sandbox/step_process.h"
#include "base/text/log.h"
#include "cli/commands/command_check.h"
#include "cli/commands/record/end_as.h"
#include "cli/commands/record/repeat.h"
#include "cli/commands/view_exec.h"
#include "cli/files/capture_file.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/embedded_sources.h"
#include "cli/files/memory_limit.h"
#include "cli/options/help.h"
#include "cli/tables/record_table.h"
#include "cli/options/record_options.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/diagnostics.h"
#include "cli/summary/incomplete.h"
#include "cli/summary/run_summary.h"
#include "convert/convert.h"
#include "record/attach/attach.h"
#include "record/events/event_list.h"
#include "record/recorders/recorders.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Claims the capture. If another rec is writing to the same file, all outputs get names with this
 * process' pid. */
static int claim(struct record_request *request, struct capture_file *capture, bool *is_private,
                 struct error *error)
{
    struct sudo_owner owner = sudo_owner_find();
    struct outputs *outputs = &request->outputs;
    /* Outputs are opened by descriptor through /proc/self/fd; so are the files of the command. */
    if (access("/proc/self/fd", X_OK) != 0)
        return error_set(error, -ENOENT,
                         "cannot record: /proc is not mounted (mount -t proc proc /proc)");
    if (!outputs->capture)
        return capture_file_claim_unnamed(capture, outputs->items[0].path, error);
    int err = capture_file_claim(capture, outputs->capture, &owner, error);
    if (err != -EBUSY)
        return err;
    err = outputs_make_private(outputs, error);
    if (!err)
        err = capture_file_claim(capture, outputs->capture, &owner, error);
    *is_private = !err;
    return err;
}

/* Stores symbol names in the capture. convert_store_names() takes the lock of the file: release
 * ours first. */
static int store_names(struct capture_file *capture, const struct profile *profile,
                       struct error *error)
{
    struct error reason = {{0}};
    capture_file_unlock(capture);
    int err = convert_store_names(profile, capture->opened, &reason);
    return err ? error_set(error, err, "cannot store symbol names in %s: %s", capture->name,
                           reason.text)
               : 0;
}

static const char *find_gone(const void *context, const char *path, const uint8_t *build_id,
                             size_t build_id_bytes)
{
    return open_file_cache_find(context, path, build_id, build_id_bytes);
}

static const char *find_kernel(const void *context, uint64_t avma, uint64_t *start_avma)
{
    const struct kernel_range *range = kernel_ranges_find(context, avma);
    if (!range)
        return NULL;
    *start_avma = range->start_avma;
    return range->name;
}

/* Few stacks, in a recording of waits alone. */
enum { BRIEF_LOOKS_MAX = 16 };

/* Waits alone have few frames in libraries: not worth reading the compressed debug info of the C
 * library, 10 ms. */
static bool is_brief(const struct record_request *request, const struct record_result *result)
{
    const struct record_summary *summary = &result->summary;
    bool has_few_stacks = !summary->off_cpu_only || summary->off_cpu.looks <= BRIEF_LOOKS_MAX;
    return summary->samples == 0 && has_few_stacks && request->outputs.count == 0;
}

/* Symbolizes the capture and writes the other formats. */
static int convert(struct record_request *request, struct capture_file *capture,
                   struct record_result *result, struct profile **profile, struct error *error)
{
    struct sudo_owner owner = sudo_owner_find();
    bool has_times = outputs_have_times(&request->outputs) ||
                     recorders_have_off_cpu(request->options.recorders); /* for long waits */
    int gone_fds[OPEN_FILES_MAX];
    struct convert_options from = {.input_name = capture->name,
                                   .debug_directory = request->debug_directory,
                                   .find_gone = find_gone,
                                   .find_gone_context = &result->open_files,
                                   .find_kernel = find_kernel,
                                   .find_kernel_context = &result->summary.off_cpu.kernel,
                                   .gone_fds = gone_fds,
                                   .gone_fd_count =
                                       open_file_cache_descriptors(&result->open_files, gone_fds),
                                   .memory_bytes = request->memory_bytes,
                                   .use_debuginfod = request->use_debuginfod,
                                   .symbols_only = request->symbols_only,
                                   .leaves_separate_debug_info = is_brief(request, result),
                                   .adds_samples_up = !has_times};
    int err = capture_file_check_name(capture, error);
    if (!err)
        err = symbolized_load(profile, capture->opened, &from, error);
    if (err)
        return err;
    struct embedded_sources embedded;
    embedded_sources_open(&embedded, &request->export_options);
    err = outputs_write(&request->outputs, *profile, &request->export_options, &owner, error);
    if (!err)
        embedded_sources_print(&embedded, request->verbose);
    embedded_sources_close(&embedded);
    if (!err && !capture->is_unnamed)
        err = store_names(capture, *profile, error);
    return err == -ENOMEM ? memory_limit_explain(capture->name, error) : err;
}

/* A printed summary already contains the reason. */
static void print_why_no_samples(const struct record_summary *summary, bool was_quiet)
{
    const struct record_process *worst = diagnostics_worst_not_followed(summary);
    const char *cause = worst ? NULL : diagnostics_gap_cause(summary);
    if ((worst || cause) && !was_quiet)
        log_error("no samples at all");
    else if (cause)
        log_error("no samples at all: %s", cause);
    else if (worst)
        log_error("no samples at all: %s, process %d: %s", worst->name, (int)worst->pid,
                  worst->reason);
    else
        log_error("no samples at all; see `rec doctor`");
}

/* The status of the command. Death by the SIGTERM of --end-command is no failure. */
static int status_of(const struct record_result *result)
{
    int wait_status = result->wait_status;
    if (result->was_ended && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGTERM)
        return STATUS_OK;
    return end_as(wait_status);
}

/* 0, or STATUS_INCOMPLETE by --fail-on. */
static int check_completeness(const struct record_request *request,
                              const struct record_summary *summary)
{
    double percent = incomplete_percent(summary);
    if (!request->fails_on_incomplete || percent <= request->incomplete_max_percent)
        return STATUS_OK;
    log_error("incomplete: %.1f %% of the CPU time has no complete stack (lost, not followed or "
              "truncated); --fail-on allows %g %%",
              percent, request->incomplete_max_percent);
    return STATUS_INCOMPLETE;
}

/* `rec view` in place of this process, with the same sources of names. */
static int view(const struct record_request *request, const struct capture_file *capture)
{
    char input[sizeof(capture->name) + 16], debug_directory[4200];
    char *words[5] = {input};
    size_t count = 1;
    snprintf(input, sizeof(input), "--input=%s", capture->name);
    if (request->debug_directory) {
        snprintf(debug_directory, sizeof(debug_directory), "--debug-dir=%s",
                 request->debug_directory);
        words[count++] = debug_directory;
    }
    if (request->use_debuginfod)
        words[count++] = (char[]){"--debuginfod"};
    if (request->symbols_only)
        words[count++] = (char[]){"--no-inline"};
    return view_exec(words);
}

static bool is_attached(const struct record_request *request)
{
    return request->targets.count > 0 || request->options.records_system;
}

/* What the conversion needs after the recording. */
struct conversion {
    struct record_request *request;
    struct capture_file *capture;
    struct record_result *result;
    bool is_private, is_confined;
    int recorded; /* 0, or the error of the recording */
    struct kernel_hint kernel_hint;
    struct error *error;
};

static void print_summary(const struct conversion *conversion, const struct profile *profile)
{
    struct record_request *request = conversion->request;
    const char *target = conversion->result->summary.target;
    struct run_summary run = {
        .command = target[0] ? target : request->options.argv[0],
        .result = conversion->result,
        .profile = profile,
        .outputs = &request->outputs,
        .is_private = conversion->is_private,
        .is_verbose = request->verbose,
        .kernel_hint = conversion->kernel_hint,
        .stuck_after_ns = request->stuck_after_ns,
    };
    run_summary_print(&run);
}

/* Perf maps of processes that still run may lie in a container. */
static void hold_roots(const struct conversion *conversion)
{
    const struct record_processes *left = &conversion->result->summary.left_running;
    size_t count = 0;
    pid_t *pids = is_attached(conversion->request) ? proc_list("/proc", &count) : NULL;
    for (size_t i = 0; i < count; i++)
        kept_roots_hold(pids[i], rights_reader());
    for (size_t i = 0; i < left->count; i++)
        kept_roots_hold(left->items[i].pid, rights_reader());
    free(pids);
}

/* Returns 0 or 1: a failure, printed. */
static int convert_and_print(void *context)
{
    const struct conversion *conversion = context;
    struct record_request *request = conversion->request;
    struct profile *profile = NULL;
    int err = conversion->recorded;
    if (conversion->is_confined) {
        capture_file_enter_child(conversion->capture);
        hold_roots(conversion);
        confine_to_recording(&request->outputs, conversion->capture->path.directory,
                             request->use_debuginfod);
    }
    if (!err)
        err =
            convert(request, conversion->capture, conversion->result, &profile, conversion->error);
    if (!request->quiet)
        print_summary(conversion, profile);
    if (err)
        log_error("%s", conversion->error->text);
    profile_free(profile);
    return err != 0;
}

/* The capture, perf maps and jitdumps hold what the recorded programs wrote: parsed in a confined
 * process, another one if this process records again or executes a viewer. A fork costs 0.9 ms. */
static int convert_confined(struct conversion *conversion)
{
    const struct record_request *request = conversion->request;
    conversion->is_confined = true;
    if (!request->view && !request->repeat)
        return convert_and_print(conversion);
    int status = step_process_run(convert_and_print, conversion);
    if (status < 0) {
        log_error("the conversion is not confined: no process can be started: %s",
                  strerror(-status));
        conversion->is_confined = false;
        status = convert_and_print(conversion);
    }
    if (status >= STEP_PROCESS_SIGNAL)
        log_error("the conversion was ended by signal %d (%s); %s is complete",
                  status - STEP_PROCESS_SIGNAL, strsignal(status - STEP_PROCESS_SIGNAL),
                  conversion->capture->name);
    return status;
}

/* All steps after the recording. Returns the exit status. */
static int finish(struct conversion *conversion)
{
    struct record_request *request = conversion->request;
    struct record_result *result = conversion->result;
    conversion->kernel_hint = kernel_hint_of_recording(&request->options, &result->summary);
    int failed = convert_confined(conversion);
    if (run_summary_lacks_samples(&result->summary))
        print_why_no_samples(&result->summary, request->quiet);
    int own_status = check_completeness(request, &result->summary);
    record_wait(result);
    if (request->view && !failed)
        return view(request, conversion->capture);
    int status = status_of(result);
    if (status != STATUS_OK)
        return status;
    return failed ? STATUS_FAILED : own_status;
}

static int record(struct record_request *request)
{
    struct error error = {{0}};
    struct capture_file capture;
    bool is_private = false;
    struct sudo_owner owner = sudo_owner_find();
    int status = is_attached(request) ? 0 : command_check(request->options.argv[0], &error);
    if (status == 0 && outputs_prepare(&request->outputs, &owner, &error) != 0)
        status = STATUS_FAILED;
    if (status == 0 && claim(request, &capture, &is_private, &error) != 0)
        status = STATUS_FAILED;
    if (status) {
        log_error("%s", error.text);
        return status;
    }
    static struct record_result result; /* 10 KiB: `ulimit -s 64` is enough for the conversion */
    memset(&result, 0, sizeof(result));
    request->options.output_fd = capture.fd;
    request->options.output_name = capture.name;
    int err = event_list_settle(&request->options, &error);
    if (err == 0)
        err = is_attached(request) ? record_attach(&request->options, &result, &error)
                                   : record_run(&request->options, &result, &error);
    if (result.started) {
        status = finish(&(struct conversion){.request = request,
                                             .capture = &capture,
                                             .result = &result,
                                             .is_private = is_private,
                                             .recorded = err,
                                             .error = &error});
        capture_file_release(&capture);
    } else {
        log_error("%s", error.text);
        capture_file_abandon(&capture);
        status = result.exit_status ? result.exit_status : STATUS_FAILED;
    }
    open_file_cache_free(&result.open_files);
    record_summary_free(&result.summary);
    return status;
}

int cmd_record(char *const *words)
{
    struct record_request request;
    struct error error = {{0}};
    int status;
    if (record_request_parse(&request, words, &error) != 0) {
        log_error("%s", error.text);
        status = STATUS_FAILED;
    } else if (request.help || request.version) {
        if (request.version)
            help_print_version(stdout);
        else
            help_print_command(stdout, &record_command);
        status = STATUS_OK;
    } else {
        log_set_quiet(request.quiet);
        status = request.repeat ? repeat_record(&request, record) : record(&request);
    }
    record_request_free(&request);
    return status;
}
