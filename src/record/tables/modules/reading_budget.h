/* SPDX-License-Identifier: MIT */
/*
 * In a recording of root, the files mapped by processes of other users have limited time
 * (reading_time.h), and limited memory for their unwind tables. The user of a recording may end it
 * anyway, so that files of its own have no limit.
 *
 * For the compiler thread alone.
 */
#pragma once

#include "record/account/reading_time.h"
#include "record/tables/modules/known_module.h"

#include <stdbool.h>
#include <stdint.h>

/* Unwind tables of the files of other users; Chromium has 30 MiB. Indexes take twice as much. */
#define CFI_BYTES_MAX (UINT64_C(48) << 20)

/* All zero is unused. */
struct reading_budget {
    struct reading_time time; /* of users other than root */
    uid_t payer;              /* of the present reading */
    uint64_t begin_cpu_ns;
    uint64_t cfi_bytes; /* of the files of other users */
    uint64_t files_left_out;
};

/* False: no user of the module has time left. True: to be followed by reading_budget_end(). */
bool reading_budget_begin(struct reading_budget *budget, struct known_module *module);
void reading_budget_end(struct reading_budget *budget);

/* Room for unwind tables in the present reading. */
uint64_t reading_budget_cfi_bytes(const struct reading_budget *budget);
/* Counts the unwind tables of a module until the module is freed. */
void reading_budget_hold_cfi(struct reading_budget *budget, struct known_module *module);
void reading_budget_drop_cfi(struct reading_budget *budget, const struct known_module *module);

/* Counts a file once. */
void reading_budget_leave_out(struct reading_budget *budget, struct known_module *module);
