/* SPDX-License-Identifier: MIT */
#include "cli/options/record/record_values.h"

#include "base/budget.h"
#include "cli/options/options.h"
#include "cli/options/record/recorder_names.h"
#include "cli/options/units.h"
#include "perfdata/zstd/pack.h"
#include "record/recorders/recorders.h"
#include "wire/records.h"

#include <errno.h>
#include <string.h>

#define SELF_CHECK_DEFAULT 100
#define INCOMPLETE_DEFAULT_PERCENT 5

/* Limits are in the table of the recorder. */
static int parse_number(const char *value, const char *parameter, const char *what,
                        unsigned long *number, struct error *error)
{
    const struct record_parameter *row = recorders_parameter(parameter);
    return options_number(value, what, row->least, row->most, number, error);
}

int record_value_frequency(struct record_request *request, const char *value, struct error *error)
{
    unsigned long frequency = RECORD_FREQUENCY_MAX;
    if (strcmp(value, "max") != 0) {
        int err = parse_number(value, "freq", "-F (samples per second, or max)", &frequency, error);
        if (err)
            return err;
    }
    request->options.frequency = (uint32_t)frequency;
    request->has_frequency = true;
    return 0;
}

int record_value_off_cpu_interval(struct record_request *request, const char *value,
                                  struct error *error)
{
    const struct record_parameter *row = recorders_parameter("off-cpu-interval");
    uint64_t *interval_ns = &request->options.off_cpu_interval_ns;
    int err = units_parse_time(value, "--off-cpu-interval", interval_ns, error);
    if (err == 0 && (*interval_ns < row->least || *interval_ns > row->most))
        err = error_set(error, -EINVAL, "--off-cpu-interval takes a time from 1ms to 1s, not '%s'",
                        value);
    if (err == 0)
        err = recorder_names_add(&request->options.recorders, "off-cpu", error);
    return err;
}

int record_value_self_check(struct record_request *request, const char *value, struct error *error)
{
    unsigned long every = SELF_CHECK_DEFAULT;
    int err = value ? options_number(value, "--self-check", 1, 1000000, &every, error) : 0;
    request->options.self_check_every = (uint32_t)every;
    return err;
}

/* "incomplete" or "incomplete:PERCENT". */
int record_value_fail_on(struct record_request *request, const char *value, struct error *error)
{
    static const char name[] = "incomplete";
    const size_t length = sizeof(name) - 1;
    request->fails_on_incomplete = true;
    request->incomplete_max_percent = INCOMPLETE_DEFAULT_PERCENT;
    if (strcmp(value, name) == 0)
        return 0;
    if (strncmp(value, name, length) == 0 && value[length] == ':')
        return units_parse_percent(value + length + 1, "--fail-on=incomplete:PERCENT",
                                   &request->incomplete_max_percent, error);
    return error_set(error, -EINVAL, "--fail-on takes incomplete or incomplete:PERCENT, not '%s'",
                     value);
}

/* In milliseconds, as in perf record. */
int record_value_delay(struct record_request *request, const char *value, struct error *error)
{
    unsigned long delay_ms;
    if (strcmp(value, "-1") == 0)
        return error_set(error, -EINVAL,
                         "-D -1 is not supported (no control interface); use -D "
                         "MILLISECONDS");
    int err =
        parse_number(value, "delay", "-D, milliseconds before sampling begins,", &delay_ms, error);
    if (!err)
        request->options.delay_ns = (uint64_t)delay_ms * 1000000;
    return err;
}

int record_value_compression(struct record_request *request, const char *value, struct error *error)
{
    unsigned long level = PACK_LEVEL_MIN;
    if (!pack_is_there())
        return error_set(error, -ENOSYS,
                         "-z is not supported: libzstd is missing, or rec was built without zstd");
    int err = value ? options_number(value, "-z, level of compression,", PACK_LEVEL_MIN,
                                     PACK_LEVEL_MAX, &level, error)
                    : 0;
    request->options.compression_level = (int)level;
    return err;
}

int record_value_mappings(const char *value, struct error *error)
{
    unsigned long count;
    int err = options_number(value, "--max-mappings", 64, 1 << 24, &count, error);
    if (!err)
        budget_set(BUDGET_MAPPINGS, count);
    return err;
}

int record_value_frames(const char *value, struct error *error)
{
    unsigned long count;
    int err = options_number(value, "--max-frames", 64, RECORD_FRAMES_MAX, &count, error);
    if (!err)
        budget_set(BUDGET_FRAMES, count);
    return err;
}

int record_value_memory(struct record_request *request, const char *value, struct error *error)
{
    int err = units_parse_bytes(value, "--memory-limit", &request->memory_bytes, error);
    if (err == 0)
        budget_set(BUDGET_TABLE_BYTES, request->memory_bytes / 2);
    return err;
}
