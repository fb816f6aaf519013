/* SPDX-License-Identifier: MIT */
/*
 * From the off-CPU thread to the thread that writes the file: samples, mappings of their stacks,
 * and starts of programs.
 *
 *     off-CPU thread ─▶ off_queue_put_…() ─▶ off_queue_take() ─▶ entries, by off_entry_next()
 */
#pragma once

#include "base/containers/buffer.h"
#include "perfdata/writer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum off_entry_kind {
    OFF_ENTRY_SAMPLE,
    OFF_ENTRY_MAPPING, /* of this process, from its program on */
    OFF_ENTRY_PROGRAM, /* the process executes another program: its mappings are gone */
    OFF_ENTRY_END,     /* of a thread, or of its recording */
};

struct off_entry {
    uint32_t bytes; /* with frames or path; a multiple of 8 */
    uint32_t kind;  /* enum off_entry_kind */
    pid_t pid, tid;
    uint64_t time_ns;
    /* Start of the thread in its program, and of the program, by the kernel; 0: older than the
     * events. */
    uint64_t since_ns, program_ns;
    union {
        struct {
            uint64_t weight_ns;
            uint32_t frame_count;  /* behind the entry */
            uint32_t kernel_count; /* of them behind the first, in the kernel */
            uint64_t object_avma, object_number;
        } sample;
        struct {
            uint64_t start_avma, end_avma, file_offset; /* the path is behind the entry */
            uint8_t build_id[20];
            uint32_t build_id_bytes;
        } mapping;
        struct {
            uint64_t lifetime_ns; /* END: without time of lost records */
            bool ends_process;    /* END: the last thread */
        };
    };
};

struct off_queue {
    pthread_mutex_t mutex;
    struct buffer entries;
    uint64_t lost; /* entries without memory */
};

void off_queue_open(struct off_queue *queue);
void off_queue_close(struct off_queue *queue);

/* entry->bytes is set here. content: frames, or the path with its end. */
void off_queue_put(struct off_queue *queue, const struct off_entry *entry, const void *content,
                   size_t bytes);
/* Moves all entries behind those in `out`. */
void off_queue_take(struct off_queue *queue, struct buffer *out);

/* The entry at an offset, which moves behind it; NULL: the end. */
const struct off_entry *off_entry_next(const struct buffer *entries, size_t *at);
static inline const void *off_entry_content(const struct off_entry *entry)
{
    return entry + 1;
}
