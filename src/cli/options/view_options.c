/* SPDX-License-Identifier: MIT */
#include "cli/options/view_options.h"

#include "base/text/log.h"
#include "cli/commands/commands.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/input.h"
#include "cli/files/memory_limit.h"
#include "cli/options/filter_options.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/options/units.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum {
    HELP = 1,
    JSON,
    DEBUG_DIR,
    SYMFS,
    DEBUGINFOD,
    NO_INLINE,
    MEMORY_LIMIT,
    SHORT_NAMES,
    AS_IT_IS,
    REFUSED
};

#define ONE_VIEW \
    "rec report has a fixed view; use `perf report`, or `rec convert` for other viewers"

static const struct option_spec specs[] = {
    {'i', 'i', "input", OPTION_VALUE, NULL},
    {JSON, 0, "json", OPTION_ALONE, NULL},
    {DEBUG_DIR, 0, "debug-dir", OPTION_VALUE, NULL},
    {SYMFS, 0, "symfs", OPTION_VALUE, NULL},
    {DEBUGINFOD, 0, "debuginfod", OPTION_ALONE, NULL},
    {NO_INLINE, 0, "no-inline", OPTION_ALONE, NULL},
    {MEMORY_LIMIT, 0, "memory-limit", OPTION_VALUE, NULL},
    FILTER_OPTION_SPECS,
    {SHORT_NAMES, 0, "short-names", OPTION_ALONE, NULL},
    {HELP, 'h', "help", OPTION_ALONE, NULL},
    /* Options of perf report: without effect here, or refused. */
    {AS_IT_IS, 0, "stdio", OPTION_ALONE, NULL},
    {AS_IT_IS, 0, "children", OPTION_ALONE, NULL},
    {AS_IT_IS, 0, "no-children", OPTION_ALONE, NULL},
    {REFUSED, 'g', "call-graph", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 'G', "inverted", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 's', "sort", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 'F', "fields", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 'n', "show-nr-samples", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 'd', "dsos", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 'S', "symbols", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 0, "percent-limit", OPTION_REFUSED, ONE_VIEW},
    {REFUSED, 0, "tui", OPTION_REFUSED, ONE_VIEW},
    {0},
};

int view_take_input(const char **input, const char *value, struct error *error)
{
    if (*input)
        return error_set(error, -EINVAL, "more than one input: %s and %s", *input, value);
    *input = value;
    return 0;
}

static int parse(struct view_request *request, char *const *words, struct error *error)
{
    *request = (struct view_request){.from.adds_samples_up = true};
    struct options options = options_of(words, specs);
    const char *value;
    int id;
    while ((id = options_next(&options, &value, error)) > 0) {
        int err = 0;
        if (filter_option(&request->from.filter, id, value, &err, error))
            ;
        else if (id == HELP)
            request->help = true;
        else if (id == JSON)
            request->json = true;
        else if (id == SHORT_NAMES)
            request->short_names = true;
        else if (id == DEBUGINFOD)
            request->from.use_debuginfod = true;
        else if (id == NO_INLINE)
            request->from.symbols_only = true;
        else if (id == DEBUG_DIR)
            request->from.debug_directory = value;
        else if (id == SYMFS)
            request->from.symfs = value;
        else if (id == MEMORY_LIMIT)
            err = units_parse_bytes(value, "--memory-limit", &request->from.memory_bytes, error);
        else if (id == AS_IT_IS)
            ;
        else
            err = view_take_input(&request->input, value, error);
        if (err)
            return err;
    }
    if (!request->input)
        request->input = CAPTURE_DEFAULT;
    return id;
}

int view_run(char *const *words, const char *command,
             int (*show)(const struct view_request *request, struct error *error))
{
    struct view_request request;
    struct error error = {{0}};
    int err = parse(&request, words, &error);
    if (!err && request.help)
        help_print_command(stdout, command);
    else if (!err && (err = input_resolve(&request.input, &error)) == 0) {
        confine_to_outputs(NULL, request.from.use_debuginfod);
        err = show(&request, &error);
    }
    if (err == -ENOMEM)
        memory_limit_explain(request.input, &error);
    if (err)
        log_error("%s", error.text);
    filter_free(&request.from.filter);
    return err ? STATUS_FAILED : STATUS_OK;
}

struct view_age view_age(const char *path)
{
    static const struct {
        long long seconds;
        const char *unit;
    } units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    struct view_age age = {{0}};
    struct stat status;
    if (stat(path, &status) != 0)
        return age;
    long long seconds = (long long)time(NULL) - (long long)status.st_mtim.tv_sec;
    seconds = seconds > 0 ? seconds : 0;
    size_t unit = 0;
    while (unit < 3 && seconds < 2 * units[unit].seconds)
        unit++;
    snprintf(age.text, sizeof(age.text), "%lld %s old", seconds / units[unit].seconds,
             units[unit].unit);
    return age;
}

void view_one_line(char *line, size_t size, const char *text)
{
    snprintf(line, size, "%s", text);
    for (char *p = line; *p; p++)
        *p = *p == '\n' || *p == '\t' ? ' ' : *p;
}
