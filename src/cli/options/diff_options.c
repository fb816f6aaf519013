/* SPDX-License-Identifier: MIT */
#include "cli/options/diff_options.h"

#include "cli/options/input_options.h"
#include "cli/options/options.h"
#include "cli/options/units.h"
#include "cli/tables/diff_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD_SHARE 0.01

static int parse_by(struct diff_request *request, const char *value, struct error *error)
{
    request->settings.by_share = strcmp(value, "share") == 0;
    if (request->settings.by_share || strcmp(value, "time") == 0)
        return 0;
    return error_set(error, -EINVAL, "--by takes time or share, not '%s'", value);
}

static int parse_what(struct diff_request *request, enum compare_what what, struct error *error)
{
    if (request->settings.what != COMPARE_SELF && request->settings.what != what)
        return error_set(error, -EINVAL, "--total and --lines cannot be combined");
    request->settings.what = what;
    return 0;
}

static int parse_fail_on(struct diff_request *request, const char *value, struct error *error)
{
    static const char *const names[] = {"regression", "change", "never"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            request->fail_on = (enum diff_fail_on)i;
            return 0;
        }
    }
    return error_set(error, -EINVAL, "--fail-on takes regression, change or never, not '%s'",
                     value);
}

static int parse_share(const char *value, const char *what, double *share, struct error *error)
{
    double percent;
    int err = units_parse_percent(value, what, &percent, error);
    if (!err)
        *share = percent / 100;
    return err;
}

/* side: of an operand. */
static int apply(struct diff_request *request, int id, const char *value, enum compare_side side,
                 struct error *error)
{
    int err;
    if (input_option(&request->from, id, value, &err, error))
        return err;
    switch (id) {
    case 'o':
        return outputs_add_difference(&request->outputs, value, error);
    case DIFF_BY:
        return parse_by(request, value, error);
    case DIFF_TOTAL:
        return parse_what(request, COMPARE_TOTAL, error);
    case DIFF_LINES:
        return parse_what(request, COMPARE_LINES, error);
    case DIFF_THRESHOLD:
        return parse_share(value, "--threshold", &request->settings.threshold_share, error);
    case DIFF_NOISE:
        return parse_share(value, "--noise", &request->settings.noise_share, error);
    case DIFF_FAIL_ON:
        return parse_fail_on(request, value, error);
    case DIFF_JSON:
        request->json = true;
        return 0;
    case DIFF_SHORT_NAMES:
        request->short_names = true;
        return 0;
    case OPTIONS_HELP:
        request->help = true;
        return 0;
    default:
        return inputs_add(&request->sides[side], value, error);
    }
}

/* BASE NEW without "--": the second operand is the new side. */
static int split_pair(struct diff_request *request, struct error *error)
{
    struct inputs *base = &request->sides[COMPARE_BASE], *next = &request->sides[COMPARE_NEW];
    if (next->count == 0 && base->count == 2)
        return inputs_add(next, base->paths[--base->count], error);
    if (base->count && next->count)
        return 0;
    return error_set(error, -EINVAL,
                     "rec diff compares two sides: `rec diff BASE NEW` or `rec diff BASE... -- "
                     "NEW...`, captures or directories");
}

/* Options may stand on both sides of "--". words: up to NULL. */
static int parse_side(struct diff_request *request, char *const *words, enum compare_side side,
                      struct error *error)
{
    struct options options = options_of(words, diff_command.options);
    const char *value;
    int id, err = 0;
    while (err == 0 && !request->help && (id = options_next(&options, &value, error)) != 0)
        err = id < 0 ? id : apply(request, id, value, side, error);
    return err;
}

static int parse_sides(struct diff_request *request, char *const *words, struct error *error)
{
    size_t count = 0, separator = 0;
    while (words[count])
        count++;
    while (separator < count && strcmp(words[separator], "--") != 0)
        separator++;
    char **base = calloc(separator + 1, sizeof(*base));
    if (!base)
        return error_set(error, -ENOMEM, "out of memory");
    for (size_t i = 0; i < separator; i++)
        base[i] = words[i];
    int err = parse_side(request, base, COMPARE_BASE, error);
    if (!err && separator < count)
        err = parse_side(request, words + separator + 1, COMPARE_NEW, error);
    free(base);
    return err;
}

int diff_request_parse(struct diff_request *request, char *const *words, struct error *error)
{
    *request = (struct diff_request){
        .from.adds_samples_up = true,
        .settings = {.threshold_share = THRESHOLD_SHARE, .noise_share = -1},
    };
    int err = parse_sides(request, words, error);
    if (err || request->help)
        return err;
    if (request->outputs.count && request->settings.what == COMPARE_LINES)
        return error_set(error, -EINVAL, "-o writes differences of functions, not of --lines");
    request->from.adds_samples_up = !outputs_have_times(&request->outputs);
    return split_pair(request, error);
}

void diff_request_free(struct diff_request *request)
{
    inputs_free(&request->sides[COMPARE_BASE]);
    inputs_free(&request->sides[COMPARE_NEW]);
    filter_free(&request->from.filter);
    outputs_free(&request->outputs);
}
