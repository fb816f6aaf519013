/* SPDX-License-Identifier: MIT */
/*
 * Rows for functions without CFI, by their code: the sampler walks such stacks itself then, instead
 * of a copy for the caller search. Where CFI exists, CFI wins. Only functions accepted as a whole
 * get rows (code_flow.h), unless CFI for a part of the function gives another CFA there; the code
 * of other functions stays without.
 */
#pragma once

#include "unwind/code/code_image.h"
#include "unwind/rows/compile.h"

#include <stdint.h>

/* Fills the gaps of the rows of [start, end), as compiled from CFI, relative to base_svma; of files
 * in pieces by ROW_SEARCH, in functions with a sized symbol. No rows: no CFI at all. 0 or -ENOMEM;
 * then rows are unchanged. */
int code_rows_fill(const struct code_image *image, uint64_t base_svma, uint32_t start, uint64_t end,
                   struct compiled_rows *rows);
