/* SPDX-License-Identifier: MIT */
/*
 * What hostile programs and files may cost: every limit with its default, and the option that raises it.
 *
 * The limits of a conversion are shares of its memory, so one option raises all of them:
 *
 *     memory of a conversion = 480 MiB + 16 bytes for each byte of input beyond 10 MiB
 *
 * The limits of a recording are fixed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget {
    /* Of a conversion. */
    BUDGET_MEMORY_BYTES,    /* private memory of the process */
    BUDGET_ADDRESSES,       /* different code addresses of all samples */
    BUDGET_COPIED_MAPPINGS, /* that forked processes inherit */
    BUDGET_JIT_BYTES,       /* of perf maps and jitdumps, read for all processes together */
    BUDGET_JIT_PIECES,      /* of code that these describe */
    BUDGET_SECTION_BYTES,   /* of a decompressed section, beside 32 bytes for each that is stored */
    BUDGET_RECORD_BYTES,    /* of decompressed records, beside 64 bytes for each that is stored */
    /* Of a recording. */
    BUDGET_MAPPINGS,   /* executable mappings of a process */
    BUDGET_FREE_BYTES, /* of the capture's file system, left free */
    BUDGETS,
};

uint64_t budget_amount(enum budget budget);

/* A limit of a recording, as its option states. */
void budget_set(enum budget budget, uint64_t amount);

/* The option that raises the limit: "--memory-limit". */
const char *budget_option(enum budget budget);

/* Bounds the memory that this process takes from now on. memory_bytes 0: the default for an input of this size. */
void budget_begin_conversion(uint64_t input_bytes, uint64_t memory_bytes);

/* In a forked child that has limits of its own. */
void budget_lift_memory(void);

/* Whether an allocation of this size fits. Always true where the kernel enforces the limit; address sanitizers map too
 * much for that, so their builds compare the resident size. */
bool budget_has_memory(size_t bytes);
