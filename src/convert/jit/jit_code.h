/* SPDX-License-Identifier: MIT */
/*
 * Code that a process made at run time, as its runtime described it: which piece lay at an address at a
 * time. A runtime that frees code puts other code there, so pieces have a time, and where one takes the
 * place of another, a generation:
 *
 *     time    10    load f at 0x1000          generation 1
 *             20    load g at 0x2000          1
 *             30    load h at 0x1000          2    (f was there: samples before 30 are still f's)
 *
 * (process, generation, address) is one piece of code, whatever the time.
 */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_code {
    uint64_t since_ns; /* 0: from the beginning */
    uint64_t avma, bytes;
    size_t name; /* offset in texts; 0: not known here */
    size_t first_line, line_count;
    uint32_t generation; /* 0 until sorted */
    uint32_t order;      /* among all, by time; set when sorted */
    bool is_gone;        /* unloaded: nothing is there from since_ns on */
};

struct jit_line { /* up to the next one of the same code */
    uint64_t avma;
    size_t file; /* offset in texts */
    uint32_t line;
};

struct jit_codes {
    struct jit_code *codes; /* by address once sorted */
    size_t count, capacity;
    size_t room;    /* for so many pieces; what comes after them is left out */
    bool is_full;   /* something was */
    uint64_t steps; /* of all searches for what overlaps */
    uint64_t *ends; /* a heap over the codes: the greatest end below each node */
    struct jit_line *lines;
    size_t line_count, line_capacity;
    struct buffer texts; /* terminated strings; starts with an empty one */
};

void jit_codes_free(struct jit_codes *codes);

/* Offset in texts; 0 when memory is out. */
size_t jit_codes_text(struct jit_codes *codes, const char *text, size_t length);

/* Once, after the last was added, and before any is looked for; gives generations to those that have
 * none. 0 or -ENOMEM. */
int jit_codes_sort(struct jit_codes *codes);

/* One more piece, zeroed; NULL when there are too many or memory is out. */
struct jit_code *jit_codes_add(struct jit_codes *codes);

/* The piece that lay at avma at that time, or NULL. */
const struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t avma, uint64_t time_ns);

/* The line entry for an address of a piece, or NULL. */
const struct jit_line *jit_codes_line(const struct jit_codes *codes, const struct jit_code *code,
                                      uint64_t avma);

/*
 * Reads a perf map: a line "START SIZE NAME" in hexadecimal for each piece of code, a later one in
 * the place of earlier ones. Lines that cannot be are left out. 0 or -ENOMEM.
 */
int perf_map_parse(struct jit_codes *codes, const void *bytes, size_t size);

/* What the processor's counter means: time = zero + ticks * multiplier / 2^shift. */
struct jit_counter {
    uint64_t shift, multiplier; /* multiplier 0: not known */
    uint64_t zero_ns;
};

/*
 * Reads a jitdump (the format is in the kernel's tools/perf/Documentation/jitdump-specification.txt). What
 * follows damage is left out. 0, -EBADMSG: no jitdump at all, -ENOTSUP: its times are counter values of
 * unknown meaning, or -ENOMEM.
 */
int jit_dump_parse(struct jit_codes *codes, const struct jit_counter *counter, const void *bytes,
                   size_t size);
