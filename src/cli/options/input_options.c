/* SPDX-License-Identifier: MIT */
#include "cli/options/input_options.h"

#include "cli/options/filter_options.h"
#include "cli/options/symbol_options.h"
#include "cli/options/units.h"

static bool filter_option(struct filter *filter, int id, const char *value, int *err,
                          struct error *error)
{
    *err = 0;
    switch (id) {
    case FILTER_PID:
        *err = filter_parse_list(&filter->pids, value, "--pid", error);
        return true;
    case FILTER_TID:
        *err = filter_parse_list(&filter->tids, value, "--tid", error);
        return true;
    case FILTER_CPU:
        *err = filter_parse_list(&filter->cpus, value, "--cpu", error);
        return true;
    case FILTER_TIME:
        *err = filter_parse_time(filter, value, error);
        return true;
    case FILTER_COMM:
        filter->comms = value;
        return true;
    case FILTER_EVENT:
        filter->event = value;
        return true;
    case FILTER_METRIC:
        *err = filter_parse_metric(filter, value, error);
        return true;
    default:
        return false;
    }
}

static bool symbol_option(struct convert_options *options, int id, const char *value, int *err,
                          struct error *error)
{
    *err = 0;
    switch (id) {
    case SYMBOL_DEBUG_DIR:
        options->debug_directory = value;
        return true;
    case SYMBOL_SYMFS:
        options->symfs = value;
        return true;
    case SYMBOL_DEBUGINFOD:
        options->use_debuginfod = true;
        return true;
    case SYMBOL_NO_INLINE:
        options->symbols_only = true;
        return true;
    case MEMORY_LIMIT:
        *err = units_parse_bytes(value, "--memory-limit", &options->memory_bytes, error);
        return true;
    default:
        return false;
    }
}

bool input_option(struct convert_options *options, int id, const char *value, int *err,
                  struct error *error)
{
    return filter_option(&options->filter, id, value, err, error) ||
           symbol_option(options, id, value, err, error);
}
