/* SPDX-License-Identifier: MIT */
#include "cli/options/filter_options.h"

bool filter_option(struct cut *cut, int id, const char *value, int *err, struct error *error)
{
    *err = 0;
    switch (id) {
    case FILTER_PID:
        *err = cut_parse_list(&cut->pids, value, "--pid", error);
        return true;
    case FILTER_TID:
        *err = cut_parse_list(&cut->tids, value, "--tid", error);
        return true;
    case FILTER_CPU:
        *err = cut_parse_list(&cut->cpus, value, "--cpu", error);
        return true;
    case FILTER_TIME:
        *err = cut_parse_time(cut, value, error);
        return true;
    case FILTER_COMM:
        cut->comms = value;
        return true;
    case FILTER_EVENT:
        cut->event = value;
        return true;
    default:
        return false;
    }
}
