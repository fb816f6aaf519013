/* SPDX-License-Identifier: MIT */
#include "cli/options/filter_options.h"

bool filter_option(struct filter *filter, int id, const char *value, int *err, struct error *error)
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
