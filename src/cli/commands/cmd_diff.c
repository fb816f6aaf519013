/* SPDX-License-Identifier: MIT */
/* load ─▶ comparable? ─▶ comparison, for each capture ─▶ judge ─▶ text or JSON, status */
#include "cli/commands/commands.h"

#include "base/containers/intern.h"
#include "base/text/log.h"
#include "cli/diff/comparable.h"
#include "cli/diff/diff_text.h"
#include "cli/diff/sides.h"
#include "cli/files/confine_outputs.h"
#include "cli/options/diff_options.h"
#include "cli/options/help.h"
#include "cli/report/symbolized_load.h"
#include "cli/tables/diff_table.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>

struct diff {
    struct diff_request *request;
    struct comparison comparison;
    struct comparable comparable;
    struct sides sides;
    struct intern *printed; /* messages about files without names */
};

static int add_capture(struct diff *diff, enum compare_side side, const char *path,
                       struct error *error)
{
    struct profile *profile = NULL;
    int err = symbolized_load_silent(&profile, path, &diff->request->from, error);
    if (err)
        return err;
    symbolized_print_unread(profile, diff->printed);
    if (diff->request->short_names)
        symbolized_shorten(profile);
    err =
        comparable_check(&diff->comparable, profile, path, diff->request->settings.by_share, error);
    if (!err && comparison_add(&diff->comparison, side, profile) != 0)
        err = error_set(error, -ENOMEM, "out of memory");
    if (!err && diff->sides.merge &&
        sides_add(&diff->sides, side, profile, (uint32_t)diff->request->sides[side].count) != 0)
        err = error_set(error, -ENOMEM, "out of memory");
    profile_free(profile);
    return err;
}

static int add_side(struct diff *diff, enum compare_side side, struct error *error)
{
    const struct inputs *inputs = &diff->request->sides[side];
    int err = 0;
    for (size_t i = 0; i < inputs->count && !err; i++)
        err = add_capture(diff, side, inputs->paths[i], error);
    return err;
}

static bool fails(const struct diff *diff)
{
    const struct comparison *comparison = &diff->comparison;
    bool has_growth = compare_is_growth(&comparison->total);
    bool has_change = compare_is_change(&comparison->total);
    for (size_t i = 0; i < comparison->row_count; i++) {
        has_growth |= compare_is_growth(&comparison->rows[i]);
        has_change |= compare_is_change(&comparison->rows[i]);
    }
    enum diff_fail_on fail_on = diff->request->fail_on;
    return fail_on == DIFF_FAIL_REGRESSION ? has_growth : fail_on == DIFF_FAIL_CHANGE && has_change;
}

static int print(const struct diff *diff, bool is_failure, struct error *error)
{
    struct diff_view view = {.request = diff->request,
                             .comparison = &diff->comparison,
                             .event = diff->comparable.event,
                             .time = diff->comparable.time,
                             .fails = is_failure};
    struct buffer out = {0};
    if (!diff->request->json) {
        diff_print(&view, pager_columns());
        return 0;
    }
    diff_json(&view, &out);
    int err = out.failed ? error_set(error, -ENOMEM, "out of memory") : 0;
    if (err == 0)
        fwrite(out.bytes, 1, out.size, stdout);
    buffer_free(&out);
    return err;
}

static int write_outputs(struct diff *diff, struct error *error)
{
    const struct diff_request *request = diff->request;
    struct sudo_owner owner = sudo_owner_find();
    const struct export_options options = {.diff = &diff->sides.diff};
    if (sides_finish(&diff->sides, &diff->comparison) != 0)
        return error_set(error, -ENOMEM, "out of memory");
    int err = outputs_write(&request->outputs, diff->sides.profile, &options, &owner, error);
    for (size_t i = 0; i < request->outputs.count && !err; i++)
        log_info("wrote %s: %s", request->outputs.items[i].path,
                 request->outputs.items[i].exporter->description);
    return err;
}

static int compare(struct diff *diff, bool *is_failure, struct error *error)
{
    int err = add_side(diff, COMPARE_BASE, error);
    if (!err)
        err = add_side(diff, COMPARE_NEW, error);
    if (!err && comparison_judge(&diff->comparison) != 0)
        err = error_set(error, -ENOMEM, "out of memory");
    if (!err)
        err = comparable_check_common(&diff->comparison, error);
    if (!err && diff->sides.merge)
        err = write_outputs(diff, error);
    *is_failure = !err && fails(diff);
    return err ? err : print(diff, *is_failure, error);
}

static int check_noise(const struct diff_request *request, struct error *error)
{
    bool is_single =
        request->sides[COMPARE_BASE].count == 1 && request->sides[COMPARE_NEW].count == 1;
    if (request->settings.noise_share < 0 || is_single)
        return 0;
    return error_set(error, -EINVAL,
                     "--noise is for one run on each side: several runs show their own variation");
}

static int resolve(struct diff_request *request, struct error *error)
{
    int err = inputs_resolve(&request->sides[COMPARE_BASE], &diff_command, error);
    if (!err)
        err = inputs_resolve(&request->sides[COMPARE_NEW], &diff_command, error);
    if (!err)
        err =
            inputs_check_apart(&request->sides[COMPARE_BASE], &request->sides[COMPARE_NEW], error);
    return err ? err : check_noise(request, error);
}

/* Before the confinement, because a library is loaded. */
static int open_comparison(struct diff *diff, struct error *error)
{
    int err = comparison_open(&diff->comparison, &diff->request->settings);
    if (err == -ELIBACC)
        return error_set(error, err, "cannot load libm.so.6: install the C library anew");
    return err || !diff->printed ? error_set(error, -ENOMEM, "out of memory") : 0;
}

static int run(struct diff_request *request, bool *is_failure, struct error *error)
{
    struct diff diff = {.request = request, .printed = intern_new()};
    struct sudo_owner owner = sudo_owner_find();
    int err = resolve(request, error);
    if (!err)
        err = outputs_prepare(&request->outputs, &owner, error);
    if (!err && request->outputs.count &&
        sides_open(&diff.sides, request->from.adds_samples_up) != 0)
        err = error_set(error, -ENOMEM, "out of memory");
    if (!err)
        err = open_comparison(&diff, error);
    if (!err) {
        if (!request->json)
            pager_start();
        confine_to_outputs(&request->outputs, request->from.use_debuginfod);
        err = compare(&diff, is_failure, error);
    }
    comparison_close(&diff.comparison);
    sides_close(&diff.sides);
    intern_free(diff.printed);
    return err;
}

int cmd_diff(char *const *words)
{
    struct diff_request request;
    struct error error = {{0}};
    bool is_failure = false;
    int err = diff_request_parse(&request, words, &error);
    if (!err && request.help)
        help_print_command(stdout, &diff_command);
    else if (!err)
        err = run(&request, &is_failure, &error);
    pager_finish();
    inputs_log_error(&request.sides[COMPARE_NEW], err, &error);
    diff_request_free(&request);
    return err ? STATUS_FAILED : is_failure ? STATUS_CHANGED : STATUS_OK;
}
