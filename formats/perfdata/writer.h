/* SPDX-License-Identifier: MIT */
/*
 * Writes perf.data, version 2, seekable form, little-endian. Events are software events; the
 * weight of a sample is its period. Crash-safe: the header always describes a valid file;
 * perfdata_checkpoint() advances data.size at record boundaries, and perfdata_finish() adds the
 * feature table.
 *
 *     0    header: magic, sizes, places, feature bits (zero until finished)
 *     104  attrs, ids
 *     …    data: units and names of events, records   ◀── grows
 *     end  feature table and feature payloads   ◀── perfdata_finish()
 *
 * The first record is a FINISHED_ROUND: perf rejects files without data.
 *
 * Not thread-safe: one writer, one thread. Errors are sticky: every later call returns the first
 * negative errno. Invalid arguments (no frames, an unknown event, a build-id of more than 20 bytes,
 * a feature outside of the private range) give -EINVAL and leave the writer unchanged.
 */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callchain context markers, and record misc bits for callers. */
#define PERFDATA_CONTEXT_USER ((uint64_t)-512)
#define PERFDATA_CONTEXT_KERNEL ((uint64_t)-128)

/* Private feature bits: far above perf's own; unknown bits are ignored by every reader. */
enum {
    PERFDATA_FEATURE_SUMMARY = 240, /* versioned key=value text of the recording's summary */
    PERFDATA_FEATURE_SYMBOLS = 241, /* the names found, see src/convert/ */
};

struct perfdata_event_row {
    const char *name; /* "cpu-clock:u", …; NULL: the event is not in the file */
    const char *unit; /* of the weights: "ns", "count"; unused for clocks: always ns */
    uint64_t period;  /* nominal weight of a sample; 0: none */
    bool has_object;  /* samples carry an address and a number: ADDR, WEIGHT */
    /* Samples may have a copy of the stack instead of user frames (REGS_USER, STACK_USER), with
     * these registers: bits of the kernel's asm/perf_regs.h; 0: none has. */
    uint64_t registers;
};
#define PERFDATA_EVENTS_MAX 16

struct perfdata_config {
    uint64_t start_time_ns; /* CLOCK_MONOTONIC of the first possible sample */
    uint64_t start_wall_ns; /* CLOCK_REALTIME of the same instant */
    bool exclude_kernel;
    int compression_level;   /* of zstd; 0: records as they are. Only where pack_is_there() */
    const char *const *argv; /* NULL: the command line is left out; borrowed until finish */
    /* At least one row has a name. Strings are borrowed until finish. */
    struct perfdata_event_row events[PERFDATA_EVENTS_MAX];
};

struct perfdata_writer; /* opaque */

/* fd: an empty regular file, opened read-write; borrowed. */
int perfdata_writer_open(struct perfdata_writer **out, int fd,
                         const struct perfdata_config *config);
void perfdata_writer_close(struct perfdata_writer *writer);

/* time_ns 0 sorts before everything. */
struct perfdata_task {
    uint32_t pid, tid;
    uint32_t parent_pid, parent_tid; /* FORK and EXIT */
    uint64_t time_ns;
};

int perfdata_write_comm(struct perfdata_writer *writer, const struct perfdata_task *task,
                        const char *name, bool is_exec);
int perfdata_write_fork(struct perfdata_writer *writer, const struct perfdata_task *task);
int perfdata_write_exit(struct perfdata_writer *writer, const struct perfdata_task *task);

/* READ: the value of an event over the life of a task, at its end. */
int perfdata_write_value(struct perfdata_writer *writer, const struct perfdata_task *task,
                         uint32_t event, uint64_t value);

/* Called for each FORK, each COMM of an exec, and each EXIT, with its time in the file. */
struct perfdata_task_observer {
    void (*started)(void *context, uint32_t tid, bool is_fork, uint64_t time_ns);
    void (*ended)(void *context, uint32_t tid, uint64_t time_ns);
    void *context;
};
void perfdata_observe_tasks(struct perfdata_writer *writer,
                            const struct perfdata_task_observer *observer);

struct perfdata_mapping {
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t start_avma, bytes, file_offset;
    uint32_t protection; /* PROT_*; must hold PROT_EXEC to be seen by other readers */
    const char *path;
    uint8_t build_id[20];
    size_t build_id_bytes; /* 0: none; the build-ids also land in the BUILD_ID feature */
    bool is_kernel;        /* of all processes; path: PERFDATA_KERNEL_PATH */
};
#define PERFDATA_KERNEL_PATH "[kernel.kallsyms]_text"
int perfdata_write_mapping(struct perfdata_writer *writer, const struct perfdata_mapping *mapping);

/* Of a stack, from SP upwards, for readers that unwind. */
struct perfdata_stack_copy {
    const uint64_t *registers; /* of the row's registers, in the order of the bits */
    const uint8_t *bytes;
    size_t size;  /* of larger copies the innermost bytes that fit into a record are kept */
    bool is_full; /* the stack may be larger than the copy */
};

#define PERFDATA_KERNEL_FRAMES_MAX 1024
struct perfdata_sample {
    uint32_t pid, tid;
    uint64_t time_ns;
    uint32_t event;               /* row in config.events */
    uint64_t weight;              /* in the event's unit */
    uint64_t object_avma, number; /* of events with has_object */
    const uint64_t *frames;       /* innermost first: PC, then raw return addresses */
    size_t frame_count;
    const uint64_t *kernel_frames; /* the part of the stack in the kernel, innermost first */
    size_t kernel_count;           /* one of the counts is at least 1, or there is a leaf */
    uint64_t leaf;                 /* a user address inside of the kernel's part; 0: none */
    /* Of rows with registers; NULL: none. With a copy, only the innermost of the frames is written,
     * as IP. */
    const struct perfdata_stack_copy *copy;
};
/* 48 bytes and 8 per frame (IP, TID, TIME, PERIOD, CALLCHAIN), 8 more in a file with several events
 * (IDENTIFIER), 16 more with kernel frames (two markers), 8 more with a leaf (16 with kernel
 * frames, for a marker), 16 more with an object (ADDR, WEIGHT). A record holds 8185 frames, kernel
 * frames and markers included, 8184 with IDENTIFIER; of longer stacks the innermost frames are
 * kept. */
int perfdata_write_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample);

/* Marks a round: records before the mark are older than all records after the next mark, which
 * bounds the readers' sort window. Older times written later are raised to the bound. */
int perfdata_write_round(struct perfdata_writer *writer);

/* Flushes and publishes data.size: all records so far survive a crash. */
int perfdata_checkpoint(struct perfdata_writer *writer);

/* A private feature for finish(); the bytes are copied. */
int perfdata_set_feature(struct perfdata_writer *writer, unsigned bit, const void *bytes,
                         size_t size);

/* Flushes and writes the feature table; nothing can be written afterwards. */
int perfdata_finish(struct perfdata_writer *writer);

uint64_t perfdata_bytes_written(const struct perfdata_writer *writer);

/* Free bytes of the file's file system. 0 or a negative errno. */
int perfdata_free_bytes(const struct perfdata_writer *writer, uint64_t *bytes);

/* Adds or replaces a private feature of a finished file, crash-safely (readers see a valid file
 * at any time, with or without features). A replaced payload remains as unused bytes; an
 * identical payload changes nothing. fd is opened read-write. */
int perfdata_replace_feature(int fd, unsigned bit, const void *bytes, size_t size,
                             struct error *error);
