/* SPDX-License-Identifier: MIT */
/* The units around the needed addresses, by .debug_aranges. */
#pragma once

#include "base/containers/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partial_unit {
    uint64_t offset;  /* of the unit's header */
    bool has_aranges; /* listed with code */
    bool is_needed;
};

struct partial_units {
    struct partial_unit *units; /* by offset; a unit may come several times */
    size_t count, capacity;
    /* All needed addresses are covered; otherwise, units without entries are needed, too. */
    bool is_complete;
    uint64_t end; /* nothing from here on is needed */
};

/* needed: ascending. 0, -ENOMEM, or -EBADMSG: malformed. */
int partial_units_read(struct partial_units *units, struct cursor aranges, const uint64_t *needed,
                       size_t needed_count);
void partial_units_free(struct partial_units *units);

/* Whether the unit with its header at the offset is needed. */
bool partial_units_need(const struct partial_units *units, uint64_t offset);
