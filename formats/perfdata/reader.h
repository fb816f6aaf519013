/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data in its seekable form, whoever wrote it. Nothing in the file is trusted: a damaged
 * file yields what lies before the damage and says so. Borrowed pointers in events are valid until
 * the next call of perfdata_next().
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perfdata_event_kind {
    PERFDATA_SAMPLE,
    PERFDATA_MAPPING, /* MMAP and MMAP2 */
    PERFDATA_COMM,
    PERFDATA_FORK,
    PERFDATA_EXIT,
    PERFDATA_LOST,
    PERFDATA_ROUND, /* FINISHED_ROUND */
    PERFDATA_OTHER, /* stepped over; only `type` is set */
};

struct perfdata_event {
    enum perfdata_event_kind kind;
    uint32_t type; /* the record's own */
    uint16_t misc;
    uint32_t pid, tid;
    uint32_t parent_pid, parent_tid; /* FORK, EXIT */
    uint64_t time_ns;                /* 0 when the file has none */

    /* SAMPLE */
    size_t attr_index; /* which event */
    uint64_t ip;
    uint64_t period;
    uint32_t cpu;              /* UINT32_MAX when not recorded */
    const uint64_t *callchain; /* with context markers, as in the file; host byte order */
    size_t callchain_count;
    /* SAMPLE, from perf record --call-graph dwarf: user registers (a bit per register of the
     * kernel's perf_regs.h; their values in that order) and a copy of the stack from SP up. Mask 0:
     * none. */
    uint64_t user_registers_mask;
    const uint64_t *user_registers;
    const uint8_t *user_stack; /* in the byte order of the file */
    size_t user_stack_bytes;

    /* MAPPING */
    uint64_t start_avma, bytes, file_offset;
    uint32_t protection;
    bool is_kernel;
    const char *path;
    uint8_t build_id[20];
    size_t build_id_bytes; /* from the record, else from the BUILD_ID feature by path */

    const char *name; /* COMM */
    bool is_exec;     /* COMM */
    uint64_t lost;    /* LOST: records or samples */
};

struct perfdata_attr {
    uint32_t type;
    uint64_t config;
    uint64_t sample_type;
    uint64_t period_or_frequency;
    bool is_frequency;
    const char *name; /* from EVENT_DESC, or made from type and config */
};

struct perfdata_reader; /* opaque */

/* The file is read with pread; fd is borrowed until close. Both byte orders are read. Errors name
 * what is wrong: not a perf.data file, the pipe form, compressed records, truncated header. */
int perfdata_reader_open(struct perfdata_reader **out, int fd, const char *path,
                         struct error *error);
void perfdata_reader_close(struct perfdata_reader *reader);

size_t perfdata_attr_count(const struct perfdata_reader *reader);
const struct perfdata_attr *perfdata_attr(const struct perfdata_reader *reader, size_t index);

/* 1 and an event, 0 at the end or at damage, negative errno when reading failed. File order. */
int perfdata_next(struct perfdata_reader *reader, struct perfdata_event *event);
/* From the first record again. */
void perfdata_rewind(struct perfdata_reader *reader);

/* Damage found so far: a sentence, or NULL. */
const char *perfdata_damage(const struct perfdata_reader *reader);

/* The payload of a feature section; NULL when the file has none. Owned by the reader. */
const uint8_t *perfdata_feature(struct perfdata_reader *reader, unsigned bit, size_t *size);

/* Facts of the header features; empty or 0 where not recorded. */
struct perfdata_facts {
    const char *host, *os_release, *version, *arch, *cpu;
    const char *const *argv; /* NULL-terminated */
    size_t argc;
    uint32_t cpus_online;
    uint64_t first_sample_ns, last_sample_ns;
    uint64_t clock_ns, wall_ns; /* the same instant in the sample clock and in CLOCK_REALTIME */
};
const struct perfdata_facts *perfdata_facts(struct perfdata_reader *reader);
