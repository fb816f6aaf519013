/* SPDX-License-Identifier: MIT */
#pragma once

#include "symbols/split.h"

/*
 * Finds a unit in the .dwp of the linked file, which is the first ELF file in the places of
 * debug_path.h, and reads the unit's sections. 0 or -ENOENT. The index, of version 2 (GNU) or 5:
 *
 *     u32 version (5: u16, and u16 of padding)  u32 columns  u32 units  u32 slots
 *     u64 signatures[slots]                a hash table: where a dwo_id is, …
 *     u32 rows[slots]                      … and its row, counted from 1
 *     u32 section kinds[columns]
 *     u32 offsets[units][columns]
 *     u32 sizes[units][columns]
 */
int split_package_read(struct splits *splits, uint64_t dwo_id, struct split *split);
