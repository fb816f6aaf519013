/* SPDX-License-Identifier: MIT */
/*
 * Names of kernel code from /proc/kallsyms. The kernel's address changes with each boot: only for
 * captures of the present boot. Of the 100 000 names, only the wanted names are kept: the memory
 * for all costs as much time as a tenth of a conversion.
 */
#pragma once

#include "perfdata/reader.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stdio.h>

struct kallsyms; /* opaque */

enum kallsyms_state {
    KALLSYMS_READ,
    KALLSYMS_ELSEWHERE, /* another machine's capture, or of another boot */
    KALLSYMS_HIDDEN,    /* kptr_restrict: all addresses are 0 */
};

/* The names of addresses in ascending order. *out is NULL unless the state is KALLSYMS_READ. */
enum kallsyms_state kallsyms_open(struct kallsyms **out, const struct perfdata_facts *facts,
                                  const uint64_t *avmas, size_t count);
void kallsyms_close(struct kallsyms *kallsyms);

/* The result is valid until the next call. False: no symbol around avma, or not wanted. */
bool kallsyms_find(struct kallsyms *kallsyms, uint64_t avma, struct symbol_result *result);

/* NULL: no symbol with an address, or out of memory. */
struct kallsyms *kallsyms_read(FILE *file, const uint64_t *avmas, size_t count);
