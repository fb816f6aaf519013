/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "cli/options/view_options.h"
#include "cli/tables/view_table.h"
#include "cli/report/report.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/diagnostics.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>

static int show(const struct view_request *request, struct error *error)
{
    struct profile *profile = NULL;
    struct report report = {0};
    int err = symbolized_load_all(&profile, &request->inputs, &request->from, error);
    if (err)
        return err;
    if (request->short_names)
        symbolized_shorten(profile);
    err = report_build(&report, profile);
    if (err) {
        error_set(error, err, "out of memory");
    } else if (request->json) {
        struct buffer out = {0};
        report_json(&report, &request->inputs, &out);
        fwrite(out.bytes, 1, out.size, stdout);
        err = out.failed ? error_set(error, -ENOMEM, "out of memory") : 0;
        buffer_free(&out);
    } else {
        report_print(&report, &request->inputs, !filter_is_empty(&request->from.filter),
                     pager_columns());
    }
    pager_finish();
    diagnostics_print_for_file(profile, request->from.symfs);
    report_free(&report);
    profile_free(profile);
    return err;
}

int cmd_report(char *const *words)
{
    return view_run(words, &report_command, show);
}
