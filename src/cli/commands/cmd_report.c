/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "cli/options/view_options.h"
#include "cli/tables/view_table.h"
#include "cli/report/lifecycle.h"
#include "cli/report/report.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/diagnostics.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>

/* Prints the JSON text, and frees the buffer. */
static int print_json(struct buffer *out, struct error *error)
{
    int err = out->failed ? error_set(error, -ENOMEM, "out of memory") : 0;
    if (err == 0)
        fwrite(out->bytes, 1, out->size, stdout);
    buffer_free(out);
    return err;
}

static int show_functions(const struct view_request *request, const struct profile *profile,
                          struct error *error)
{
    struct report report = {0};
    struct buffer out = {0};
    int err = report_build(&report, profile);
    if (err) {
        error_set(error, err, "out of memory");
    } else if (request->json) {
        report_json(&report, &request->inputs, &out);
        err = print_json(&out, error);
    } else {
        report_print(&report, &request->inputs, !filter_is_empty(&request->from.filter),
                     pager_columns());
    }
    report_free(&report);
    return err;
}

static int show_lifecycle(const struct view_request *request, const struct profile *profile,
                          struct error *error)
{
    struct lifecycle lifecycle;
    struct buffer out = {0};
    const char *path = inputs_first(&request->inputs);
    if (!profile->has_life_events)
        return error_set(error, -EINVAL,
                         "%s has no thread lifecycle: record with rec --record thread-lifecycle "
                         "-- COMMAND",
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

static int show(const struct view_request *request, struct error *error)
{
    struct profile *profile = NULL;
    int err = symbolized_load_all(&profile, &request->inputs, &request->from, error);
    if (err)
        return err;
    if (request->short_names)
        symbolized_shorten(profile);
    err = request->lifecycle ? show_lifecycle(request, profile, error)
                             : show_functions(request, profile, error);
    pager_finish();
    diagnostics_print_for_file(profile, request->from.symfs);
    profile_free(profile);
    return err;
}

int cmd_report(char *const *words)
{
    return view_run(words, &report_command, show);
}
