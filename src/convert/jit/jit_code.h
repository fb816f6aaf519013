/* SPDX-License-Identifier: MIT */
/*
 * Code generated at run time, as described by the runtime: the piece of code at an address at a
 * time. A runtime reuses the addresses of freed code, so a piece has a time, and code in the place
 * of older code has a generation:
 *
 *     time    10    load f at 0x1000          generation 1
 *             20    load g at 0x2000          1
 *             30    load h at 0x1000          2    (replaces f; samples before 30 belong to f)
 *
 * (process, generation, address) identifies a piece of code at all times.
 */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_code {
    uint64_t since_ns; /* 0: from the beginning */
    uint64_t avma, bytes;
    size_t name;    /* offset in texts; 0: stored elsewhere */
    size_t code_at; /* offset of the machine code in a jitdump; 0: not there */
    size_t first_line, line_count;
    uint32_t generation; /* 0 until sorted */
    uint32_t order;      /* among all, by time; set when sorted */
    bool is_gone;        /* unloaded: nothing is there from since_ns on */
};

struct jit_line { /* up to the next line of the same code */
    uint64_t avma;
    size_t file; /* offset in texts */
    uint32_t line;
};

struct jit_codes {
    struct jit_code *codes; /* by address once sorted */
    size_t count, capacity;
    size_t room;    /* maximum number of pieces; later pieces are dropped */
    bool is_full;   /* something was */
    uint64_t steps; /* of all searches for overlaps */
    uint64_t *ends; /* a heap over the codes: the greatest end below each node */
    struct jit_line *lines;
    size_t line_count, line_capacity;
    struct buffer texts; /* terminated strings; the first is empty */
};

void jit_codes_free(struct jit_codes *codes);

/* Offset in texts; 0 when memory is out. */
size_t jit_codes_text(struct jit_codes *codes, const char *text, size_t length);

/* Once, between the last addition and the first search; sets generations where missing. 0 or
 * -ENOMEM. */
int jit_codes_sort(struct jit_codes *codes);

/* A new piece, zeroed; NULL: too many, or out of memory. */
struct jit_code *jit_codes_add(struct jit_codes *codes);

/* The piece at avma at a time, or NULL. */
const struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t avma, uint64_t time_ns);

/* The line entry for an address of a piece, or NULL. */
const struct jit_line *jit_codes_line(const struct jit_codes *codes, const struct jit_code *code,
                                      uint64_t avma);

/*
 * Reads a perf map: a line "START SIZE NAME" in hexadecimal for each piece of code; later lines
 * replace earlier lines. Malformed lines are skipped. 0 or -ENOMEM.
 */
int perf_map_parse(struct jit_codes *codes, const void *bytes, size_t size);

/* Conversion of the processor's counter: time = zero + ticks * multiplier / 2^shift. */
struct jit_counter {
    uint64_t shift, multiplier; /* multiplier 0: unknown */
    uint64_t zero_ns;
};

/*
 * Reads a jitdump (format: tools/perf/Documentation/jitdump-specification.txt in the kernel's
 * tree), up to the first damage. 0, -EBADMSG: not a jitdump, -ENOTSUP: times are counter values
 * without a conversion, or -ENOMEM.
 */
int jit_dump_parse(struct jit_codes *codes, const struct jit_counter *counter, const void *bytes,
                   size_t size);
