/* SPDX-License-Identifier: MIT */
/*
 * Time of the main event by source line and by instruction.
 *
 *     total    of a line: stacks with a frame of a chosen function on the line, each once
 *     self     stacks with such an innermost frame
 *
 * The same for instructions, where all code of a symbol counts, inlined functions included. These
 * are the numbers of the Firefox Profiler's source and assembly views. The instruction of a caller
 * is its call: profile addresses of callers lie inside of the call.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_line {
    uint32_t file;      /* string or PROFILE_NONE */
    uint32_t line;      /* 0: unknown */
    uint32_t lib, func; /* of some code of the line */
    uint64_t self, total;
};

struct tally_address {
    uint32_t symbol; /* index in the profile's symbols */
    uint64_t svma;
    uint64_t self, total;
};

struct tally {
    uint64_t whole;           /* time of all stacks */
    uint64_t self, total;     /* of the chosen functions together */
    struct tally_line *lines; /* by file, then line */
    size_t line_count, line_capacity;
    struct tally_address *addresses; /* by symbol, then address */
    size_t address_count, address_capacity;
};

struct tally_request {
    const struct profile *profile;
    const bool *chosen; /* by func */
    /* The start of the instruction around an address of a symbol; NULL: addresses stay. */
    uint64_t (*instruction_at)(const void *context, uint32_t symbol, uint64_t svma);
    const void *context;
};

/* 0 or -ENOMEM. */
int tally_build(struct tally *tally, const struct tally_request *request);
void tally_free(struct tally *tally);

/* The sums at an address; zeros: no samples. */
struct tally_address tally_of(const struct tally *tally, uint32_t symbol, uint64_t svma);
