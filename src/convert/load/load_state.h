/* SPDX-License-Identifier: MIT */
/* The state of a conversion between records and profile. */
#pragma once

#include "convert/jit/jits.h"
#include "convert/load/inner_ids.h"
#include "convert/load/ordered_events.h"
#include "convert/load/samples.h"
#include "convert/load/tasks.h"
#include "convert/maps/modules.h"
#include "convert/store/capture.h"

struct loader {
    struct profile *profile;
    struct capture *capture;
    struct early_names *early; /* borrowed; NULL: none */
    struct tasks tasks;
    struct modules modules;
    struct jits jits;
    struct address_map kernel;
    struct ordered_events events;
    struct samples samples;
    struct inner_ids inner_ids;
    struct filter filter; /* lists are borrowed */
    uint64_t lost_records, lost_samples;
    uint64_t unknown;           /* records */
    uint64_t first_ns, last_ns; /* of records with a time */
};
