/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/capture.h"
#include "profile/profile.h"

/* What the capture's header says about the recording as a whole: machine, command, times, summary. */
void facts_load(struct profile *profile, struct capture *capture);

/* A sum over the samples of which event, and what one of them weighs. */
struct facts_event {
    uint32_t type;
    uint64_t config;     /* without the bits that tell the cores of a hybrid machine apart */
    bool is_time;        /* its period is CPU time in ns */
    uint64_t nominal_ns; /* what a sample weighs that does not say so itself; 0: its period */
};

struct facts_event facts_event(const struct perfdata_attr *attr);
