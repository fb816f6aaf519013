/* SPDX-License-Identifier: MIT */
/*
 * Memory for the headers and unwind tables of all mapped files: BUDGET_TABLE_BYTES. In a recording
 * of root, the files mapped by processes of other users have limited time (reading_time.h), and
 * memory apart.
 * The user of a recording may end it anyway, so that files of its own have no limit of time.
 *
 * For the compiler thread alone.
 */
#pragma once

#include "record/account/reading_time.h"
#include "record/tables/modules/known_module.h"
#include "record/tables/modules/left_out.h"
#include "unwind/rows/row_room.h"

#include <stdbool.h>
#include <stdint.h>

/* Headers and unwind tables of the files of other users; Chromium has 30 MiB. Indexes and rules
 * made of the tables take RULE_ROOM_TIMES as much. */
#define FILE_BYTES_MAX (UINT64_C(48) << 20)
enum { RULE_ROOM_TIMES = 2 };

struct reading_budget {
    struct reading_time time; /* of users other than root */
    uid_t payer;              /* of the present reading */
    uint64_t begin_cpu_ns;
    uint64_t held_bytes[2]; /* by all files but those of limited users; by these files */
    struct row_room rule_room[2];
    struct left_out_files left_out;
};

void reading_budget_open(struct reading_budget *budget);

/* False: no user of the module has time left. True: to be followed by reading_budget_end(). */
bool reading_budget_begin(struct reading_budget *budget, struct known_module *module);
void reading_budget_end(struct reading_budget *budget);

/* For a mapping of this user, before a module is there; ends with the next reading. */
void reading_budget_pay(struct reading_budget *budget, uid_t payer);

/* Bytes left for headers and tables in the present reading. */
uint64_t reading_budget_bytes(const struct reading_budget *budget);
/* Of the rules made of these tables, which the module returns when it is freed. */
struct row_room *reading_budget_rule_room(struct reading_budget *budget);
/* Counts bytes held by a module until the module is freed. */
void reading_budget_hold(struct reading_budget *budget, struct known_module *module, size_t bytes);
void reading_budget_drop(struct reading_budget *budget, const struct known_module *module);

/* Count a file once, for the user with the budget: a file without room for a module, or a part. */
void reading_budget_refuse(struct reading_budget *budget, const struct mapped_file *file);
void reading_budget_leave_out(struct reading_budget *budget, const struct known_module *module);
