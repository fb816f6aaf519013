/* SPDX-License-Identifier: MIT */
/*
 * Limits on the resources that hostile programs and files can take: every limit with its default
 * and the option to raise it.
 *
 * The limits of a conversion are shares of its memory, so one option raises all of them:
 *
 *     memory of a conversion = 480 MiB + 16 bytes for each byte of input beyond 10 MiB
 *
 * The limits of a recording are fixed, but for the memory of unwind tables: half of --memory-limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget {
    /* Of a conversion. */
    BUDGET_MEMORY_BYTES,    /* private memory of the process */
    BUDGET_ADDRESSES,       /* different code addresses of all samples */
    BUDGET_COPIED_MAPPINGS, /* inherited by forked processes */
    BUDGET_JIT_BYTES,       /* of perf maps and jitdumps, read for all processes together */
    BUDGET_JIT_PIECES,      /* of code, described by these files */
    BUDGET_SECTION_BYTES,   /* of a decompressed section, plus 32 bytes for each stored byte */
    BUDGET_STEPS,           /* from frames to callers, of all copied stacks */
    BUDGET_RECORD_BYTES,    /* of decompressed records, plus 64 bytes for each stored byte */
    /* Of a recording. */
    BUDGET_MAPPINGS,    /* executable mappings of a process */
    BUDGET_FRAMES,      /* of a stack: at most RECORD_FRAMES_MAX */
    BUDGET_FREE_BYTES,  /* of the capture's file system, left free */
    BUDGET_TABLE_BYTES, /* unwind tables of all mapped files together */
    BUDGETS,
};

uint64_t budget_amount(enum budget budget);

/* Sets a limit of a recording from its command line option. */
void budget_set(enum budget budget, uint64_t amount);

/* The option to raise the limit, for messages: "--memory-limit". */
const char *budget_option(enum budget budget);

/* Bounds the memory of this process from now on. memory_bytes 0: the default for the input size. */
void budget_begin_conversion(uint64_t input_bytes, uint64_t memory_bytes);

/* Restores the previous limit, in a forked child with its own limits. */
void budget_lift_memory(void);

/* Whether an allocation of this size fits. Always true where the kernel enforces the limit.
 * Sanitizers map too much memory for RLIMIT_DATA, so sanitizer builds compare the resident size. */
bool budget_has_memory(size_t bytes);
