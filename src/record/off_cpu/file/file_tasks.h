/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads of the file, by tid: since when the file has them. Readers take a
 * sample before the FORK of its thread, or before the COMM of its program, for another thread.
 */
#pragma once

#include "base/containers/buffer.h"
#include "record/tables/maps/mapping_room.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILE_STARTS_MAX = 8 };

struct file_start {
    uint64_t time_ns; /* of a FORK, or COMM of an exec */
    uint64_t end_ns;  /* of the task; 0: lives, or has a later start */
};

struct file_task {
    struct file_task *next_in_bucket;
    uint32_t tid;
    struct file_start starts[FILE_STARTS_MAX]; /* the latest ones, */
    uint32_t start_count;                      /* and their number; 0: not in the file */
    uint64_t life_ns;       /* of the latest FORK; without a FORK, of the first COMM */
    bool is_met;            /* has samples, and had no start then */
    uint64_t kernel_end_ns; /* of the latest ended process, by its last thread; 0: none */
    uint64_t program_ns;    /* of the exec, by the kernel; 0: none was seen */
    uint64_t mapped_ns;     /* the start that the following was written for */
    uint64_t frames;        /* mapped synthetic frames: a bit for each enum wait_frame */
    struct buffer mappings; /* of the program: struct off_entry */
    struct mapping_room room;
};

#define FILE_TASK_BUCKETS 1024u

struct file_tasks { /* zeros: empty */
    struct file_task *buckets[FILE_TASK_BUCKETS];
    size_t count, purge_count; /* ended tasks are dropped at this count */
    uint64_t newest_ns;
};

/* NULL: not there, or for file_task_get(): out of memory. */
struct file_task *file_task_find(const struct file_tasks *tasks, uint32_t tid);
struct file_task *file_task_get(struct file_tasks *tasks, uint32_t tid);

/* The start in the file of the task with this start by the kernel, alive at time_ns; 0: not in the
 * file. */
uint64_t file_task_start_ns(const struct file_task *task, uint64_t since_ns, uint64_t time_ns);

/* The latest start in the file up to this time, or the first one; 0: none. */
uint64_t file_task_current_ns(const struct file_task *task, uint64_t time_ns);

/* The callbacks of struct perfdata_task_observer; context: a struct file_tasks. */
void file_tasks_note_start(void *context, uint32_t tid, bool is_fork, uint64_t time_ns);
void file_tasks_note_end(void *context, uint32_t tid, uint64_t time_ns);

void file_tasks_free(struct file_tasks *tasks);
