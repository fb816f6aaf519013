/* SPDX-License-Identifier: MIT */
#include "cli/cut_options.h"

bool cut_option(struct cut *cut, int id, const char *value, int *err, struct error *error)
{
    *err = 0;
    switch (id) {
    case CUT_PID:
        *err = cut_parse_list(&cut->pids, value, "--pid", error);
        return true;
    case CUT_TID:
        *err = cut_parse_list(&cut->tids, value, "--tid", error);
        return true;
    case CUT_CPU:
        *err = cut_parse_list(&cut->cpus, value, "--cpu", error);
        return true;
    case CUT_TIME:
        *err = cut_parse_time(cut, value, error);
        return true;
    case CUT_COMM:
        cut->comms = value;
        return true;
    case CUT_EVENT:
        cut->event = value;
        return true;
    default:
        return false;
    }
}
