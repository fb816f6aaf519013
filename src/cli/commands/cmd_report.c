/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "annotate/function.h"
#include "cli/files/confine_outputs.h"
#include "cli/options/view_options.h"
#include "cli/tables/view_table.h"
#include "cli/report/lifecycle/lifecycle.h"
#include "cli/report/report.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/diagnostics.h"
#include "cli/terminal/pager.h"
#include "cli/waits/waits_report.h"
#include "profile/metric.h"

#include <errno.h>
#include <stdio.h>

/* Prints the JSON text, and frees the buffer. */
static int print_json(struct buffer *out, struct error *error)
{
    int err = out->failed ? error_set(error, -ENOMEM, "out of memory") : 0;
    if (err == 0 && out->size > 0)
        fwrite(out->bytes, 1, out->size, stdout);
    buffer_free(out);
    return err;
}

enum { ROWS_SHOWN = 20 };

static int build(struct report *report, const struct profile *profile,
                 const struct view_request *request, struct error *error)
{
    struct function_choice choice;
    int err;
    if (!request->around) {
        err = report_build(report, profile);
    } else {
        err = function_choose(&choice, profile, request->around, error);
        if (err)
            return err;
        err = report_build_around(report, profile, choice.is_chosen, request->is_upwards);
        function_choice_free(&choice);
    }
    return err ? error_set(error, err, "out of memory") : 0;
}

static int print_report(const struct report *report, const struct view_request *request,
                        struct error *error)
{
    struct report_rows rows = {0};
    struct buffer out = {0};
    bool has_rows = !request->around && (!request->json || request->has_by);
    bool is_whole = request->json && !request->has_limit;
    const struct report_rows_limit limit = {
        .least_percent = request->has_limit ? request->least_percent : 0,
        .most = request->has_limit || is_whole ? SIZE_MAX : ROWS_SHOWN,
        .with_callers = is_whole};
    const struct report_style style = {.is_part = !filter_is_empty(&request->input.from.filter),
                                       .has_limit = request->has_limit,
                                       .least_percent = request->least_percent,
                                       .has_tree = !request->has_by,
                                       .around = request->around,
                                       .is_upwards = request->is_upwards,
                                       .columns = pager_columns()};
    if (has_rows && report_rows_build(&rows, report, request->by, &limit) != 0)
        return error_set(error, -ENOMEM, "out of memory");
    const struct report_rows *shown = has_rows ? &rows : NULL;
    if (request->json)
        report_json(report, shown, &request->input.inputs, &out);
    else if (request->markdown)
        report_print_markdown(report, shown, &request->input.inputs, &style);
    else
        report_print(report, shown, &request->input.inputs, &style);
    report_rows_free(&rows);
    return print_json(&out, error);
}

static int show_functions(const struct view_request *request, const struct profile *profile,
                          struct error *error)
{
    struct report report = {0};
    int err = build(&report, profile, request, error);
    if (!err)
        err = print_report(&report, request, error);
    report_free(&report);
    return err;
}

static int show_lifecycle(const struct view_request *request, const struct profile *profile,
                          struct error *error)
{
    struct lifecycle lifecycle;
    struct buffer out = {0};
    const char *path = inputs_first(&request->input.inputs);
    if (!profile->has_life_events)
        return error_set(error, -EINVAL,
                         "%s has no thread lifecycle: record with `rec --record thread-lifecycle "
                         "-- COMMAND`",
                         path);
    int err = lifecycle_build(&lifecycle, profile);
    if (err)
        return error_set(error, err, "out of memory");
    if (request->json) {
        lifecycle_json(&lifecycle, path, &out);
        err = print_json(&out, error);
    } else {
        lifecycle_print(&lifecycle, path);
    }
    lifecycle_free(&lifecycle);
    return err;
}

static int check_off_cpu(const struct view_request *request, const struct profile *profile,
                         struct error *error)
{
    if (profile_metric_event(profile, PROFILE_OFF_CPU) != PROFILE_NONE)
        return 0;
    return error_set(error, -EINVAL,
                     "%s has no off-CPU time: record with `rec --off-cpu -- COMMAND`",
                     inputs_first(&request->input.inputs));
}

static int show_off_cpu(const struct view_request *request, const struct profile *profile,
                        struct error *error)
{
    struct wait_groups groups;
    struct buffer out = {0};
    int err = check_off_cpu(request, profile, error);
    if (err)
        return err;
    if (wait_groups_build(&groups, profile, request->with_idle) != 0)
        return error_set(error, -ENOMEM, "out of memory");
    if (request->json)
        waits_json(&groups, inputs_first(&request->input.inputs), &out);
    else
        waits_print(&groups, inputs_label(&request->input.inputs).text, pager_columns());
    wait_groups_free(&groups);
    return print_json(&out, error);
}

static int show_stuck(const struct view_request *request, const struct profile *profile,
                      struct error *error)
{
    struct stuck stuck;
    struct buffer out = {0};
    uint64_t after_ns = request->stuck_after_ns ? request->stuck_after_ns : STUCK_AFTER_NS;
    const char *path = inputs_first(&request->input.inputs);
    int err = check_off_cpu(request, profile, error);
    if (err)
        return err;
    if (stuck_find(&stuck, profile, after_ns, request->with_idle) != 0)
        return error_set(error, -ENOMEM, "out of memory");
    if (request->json)
        stuck_json(&stuck, path, &out);
    else
        stuck_print(&stuck, after_ns, path, pager_columns());
    stuck_free(&stuck);
    return print_json(&out, error);
}

static int show_view(const struct view_request *request, const struct profile *profile,
                     struct error *error)
{
    return request->lifecycle ? show_lifecycle(request, profile, error)
           : request->off_cpu ? show_off_cpu(request, profile, error)
           : request->stuck   ? show_stuck(request, profile, error)
                              : show_functions(request, profile, error);
}

static int show(const struct view_request *request, struct error *error)
{
    struct profile *profile = NULL;
    int err = symbolized_load_all(&profile, &request->input.inputs, &request->input.from, error);
    if (err)
        return err;
    if (request->short_names)
        symbolized_shorten(profile);
    err = show_view(request, profile, error);
    pager_finish();
    if (!err)
        diagnostics_print_for_file(profile, request->input.from.symfs);
    profile_free(profile);
    return err;
}

static int run(struct input_request *input, struct error *error)
{
    const struct view_request *request = (struct view_request *)input;
    if (!request->json)
        pager_start();
    confine_to_outputs(NULL, input->from.use_debuginfod);
    int err = show(request, error);
    pager_finish();
    return err;
}

int cmd_report(char *const *words)
{
    static const struct input_command command = {
        .spec = &report_command, .apply = view_option, .check = view_check, .run = run};
    struct view_request request = {.input.from.adds_samples_up = true};
    return input_command_run(&command, &request.input, words);
}
