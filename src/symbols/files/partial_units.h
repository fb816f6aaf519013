/* SPDX-License-Identifier: MIT */
/* What .debug_aranges says about the units that wanted addresses need. */
#pragma once

#include "base/containers/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partial_unit {
    uint64_t offset;  /* of its header */
    bool has_aranges; /* it is mentioned with code */
    bool is_needed;
};

struct partial_units {
    struct partial_unit *units; /* by offset; a unit may come several times */
    size_t count, capacity;
    /* It says where all wanted addresses are; otherwise units that it does not mention are needed. */
    bool is_complete;
    uint64_t end; /* what begins from here on is not needed */
};

/* 0, -EBADMSG: it cannot be relied on, or -ENOMEM. wanted: ascending. */
int partial_units_read(struct partial_units *units, struct cursor aranges, const uint64_t *needed,
                       size_t needed_count);
void partial_units_free(struct partial_units *units);

/* Whether the unit whose header is at the offset is needed. */
bool partial_units_need(const struct partial_units *units, uint64_t offset);
