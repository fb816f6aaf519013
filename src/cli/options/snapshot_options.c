/* SPDX-License-Identifier: MIT */
#include "cli/options/snapshot_options.h"

#include "cli/options/input_options.h"
#include "cli/options/units.h"
#include "cli/tables/snapshot_table.h"

#include <errno.h>

#define SECOND_NS UINT64_C(1000000000)
#define LIMIT_SECONDS 5
#define COUNT_MAX 1000000000

static int take_count(struct snapshot_options *parsed, const char *value, struct error *error)
{
    unsigned long count;
    int err = options_number(value, "--count", 1, COUNT_MAX, &count, error);
    if (err == 0)
        parsed->count = count;
    return err;
}

/* A process, or the program of a core file. */
static int take_operand(struct snapshot_options *parsed, const char *value, struct error *error)
{
    if (*value >= '0' && *value <= '9')
        return target_list_add(&parsed->targets, "rec", value, error);
    if (parsed->executable)
        return error_set(error, -EINVAL, "more than one program: %s and %s", parsed->executable,
                         value);
    parsed->executable = value;
    return 0;
}

static int take(struct snapshot_options *parsed, int id, const char *value, struct error *error)
{
    int err = 0;
    switch (id) {
    case 'p':
        return target_list_add(&parsed->targets, "-p", value, error);
    case OPTIONS_OPERAND:
        return take_operand(parsed, value, error);
    case SNAPSHOT_CORE:
        parsed->core = value;
        break;
    case SNAPSHOT_INTERVAL:
        return units_parse_time(value, "--interval", &parsed->interval_ns, error);
    case SNAPSHOT_TIMEOUT:
        return units_parse_time(value, "--timeout", &parsed->limit_ns, error);
    case SNAPSHOT_COUNT:
        return take_count(parsed, value, error);
    case SNAPSHOT_JSON:
        parsed->json = true;
        break;
    case SNAPSHOT_STOP:
        parsed->is_stopping = true;
        break;
    case SNAPSHOT_SHORT_NAMES:
        parsed->short_names = true;
        break;
    case SNAPSHOT_ALL_USER:
        parsed->kernel_stacks = false;
        break;
    case OPTIONS_HELP:
        parsed->help = true;
        break;
    default:
        (void)input_option(&parsed->from, id, value, &err, error);
    }
    return err;
}

/* An interval alone repeats for ever, a count alone every second, neither: once. */
static void complete(struct snapshot_options *parsed)
{
    if (parsed->count == 0)
        parsed->count = parsed->interval_ns ? UINT64_MAX : 1;
    if (parsed->interval_ns == 0)
        parsed->interval_ns = SECOND_NS;
}

static int check(const struct snapshot_options *parsed, const struct command_spec *command,
                 struct error *error)
{
    if (parsed->help)
        return 0;
    if (parsed->executable && !parsed->core)
        return error_set(error, -EINVAL, "rec %s takes ids as in 123,456, not '%s'", command->name,
                         parsed->executable);
    if (parsed->core && parsed->targets.count > 0)
        return error_set(error, -EINVAL, "either a process or a core file: -p or --core");
    if (!parsed->core && parsed->targets.count == 0)
        return error_set(error, -EINVAL, "rec %s needs a process: rec %s -p PID", command->name,
                         command->name);
    return 0;
}

int snapshot_options_parse(struct snapshot_options *parsed, char *const *words,
                           const struct command_spec *command, struct error *error)
{
    struct options options = options_of(words, command->options);
    const char *value;
    int id;
    *parsed = (struct snapshot_options){.limit_ns = LIMIT_SECONDS * SECOND_NS,
                                        .kernel_stacks = command == &stacks_command};
    while ((id = options_next(&options, &value, error)) > 0) {
        int err = take(parsed, id, value, error);
        if (err)
            return err;
    }
    if (id < 0)
        return id;
    complete(parsed);
    return check(parsed, command, error);
}

void snapshot_options_free(struct snapshot_options *parsed)
{
    target_list_free(&parsed->targets);
}
