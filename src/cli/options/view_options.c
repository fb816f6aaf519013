/* SPDX-License-Identifier: MIT */
#include "cli/options/view_options.h"

#include "cli/options/options.h"
#include "cli/options/units.h"
#include "cli/tables/view_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int take_by(struct view_request *request, enum report_by by, struct error *error)
{
    if (request->has_by && request->by != by)
        return error_set(error, -EINVAL, "--by and --lines: choose one kind of rows");
    request->by = by;
    request->has_by = true;
    return 0;
}

static int parse_by(struct view_request *request, const char *value, struct error *error)
{
    static const struct {
        const char *name;
        enum report_by by;
    } kinds[] = {
        {"thread", REPORT_THREADS}, {"process", REPORT_PROCESSES}, {"module", REPORT_MODULES}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, value) == 0)
            return take_by(request, kinds[i].by, error);
    return error_set(error, -EINVAL, "--by needs thread, process or module, not '%s'", value);
}

static int take_around(struct view_request *request, const char *value, bool is_upwards,
                       struct error *error)
{
    if (request->around)
        return error_set(error, -EINVAL, "--callers and --callees take one function together");
    request->around = value;
    request->is_upwards = is_upwards;
    return 0;
}

static int parse_limit(struct view_request *request, const char *value, struct error *error)
{
    char *end;
    request->least_percent = strtod(value, &end);
    request->has_limit = true;
    if (value[0] >= '0' && value[0] <= '9' && *end == '\0' && request->least_percent <= 100)
        return 0;
    return error_set(error, -EINVAL, "--percent-limit needs a number from 0 to 100, not '%s'",
                     value);
}

int view_option(struct input_request *input, int id, const char *value, struct error *error)
{
    struct view_request *request = (struct view_request *)input;
    switch (id) {
    case VIEW_JSON:
        request->json = true;
        return 0;
    case VIEW_LIFECYCLE:
        request->lifecycle = true;
        return 0;
    case VIEW_OFF_CPU:
        request->off_cpu = true;
        return 0;
    case VIEW_STUCK:
        request->stuck = true;
        return 0;
    case VIEW_IDLE:
        request->with_idle = true;
        return 0;
    case VIEW_STUCK_AFTER:
        request->stuck = true;
        return units_parse_time(value, "--stuck-after", &request->stuck_after_ns, error);
    case VIEW_MARKDOWN:
        request->markdown = true;
        return 0;
    case VIEW_SHORT_NAMES:
        request->short_names = true;
        return 0;
    case VIEW_BY:
        return parse_by(request, value, error);
    case VIEW_LINES:
        return take_by(request, REPORT_LINES, error);
    case VIEW_CALLERS:
    case VIEW_CALLEES:
        return take_around(request, value, id == VIEW_CALLERS, error);
    case VIEW_PERCENT_LIMIT:
        return parse_limit(request, value, error);
    case OPTIONS_WITHOUT_EFFECT:
        return 0;
    default:
        return inputs_add(&input->inputs, value, error);
    }
}

static int check_waits(const struct view_request *request, struct error *error)
{
    if (request->off_cpu + request->stuck + request->lifecycle > 1)
        return error_set(error, -EINVAL, "--off-cpu, --stuck and --lifecycle: choose one");
    if ((request->off_cpu || request->stuck) &&
        (request->around || request->has_by || request->markdown || request->has_limit))
        return error_set(error, -EINVAL,
                         "--off-cpu and --stuck print waits: leave out other views; `rec report "
                         "--metric=off-cpu` has them");
    if (request->stuck && request->input.inputs.count > 1)
        return error_set(error, -EINVAL, "--stuck shows a single capture");
    return 0;
}

int view_check(struct input_request *input, struct error *error)
{
    const struct view_request *request = (struct view_request *)input;
    if (request->off_cpu || request->stuck) /* waits have a start and an end */
        input->from.adds_samples_up = false;
    int err = check_waits(request, error);
    if (err)
        return err;
    if (request->around && request->has_by)
        return error_set(error, -EINVAL,
                         "--callers and --callees print calls: leave out --by and --lines");
    if (request->json && request->markdown)
        return error_set(error, -EINVAL, "--json and --markdown: choose one");
    if (request->lifecycle && input->inputs.count > 1)
        return error_set(error, -EINVAL,
                         "--lifecycle shows a single capture: times of several have no common "
                         "start");
    if (request->lifecycle && (request->around || request->has_by || request->markdown))
        return error_set(error, -EINVAL, "--lifecycle prints threads: leave out other views");
    return 0;
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
