/* SPDX-License-Identifier: MIT */
/*
 * Writes the entries of the off-CPU thread into the file. An entry is held until the file has the
 * start of its thread and program, for a limited time; samples from before are moved to the start.
 */
#pragma once

#include "record/off_cpu/file/file_tasks.h"
#include "record/off_cpu/file/off_queue.h"

struct off_writer {
    struct perfdata_writer *file;
    struct file_tasks tasks;
    struct buffer entries, held;
    struct mapping_room room; /* for mappings of all processes together */
    uint64_t samples, mappings_left_out;
    uint32_t threads; /* in the file by their waits alone */
    /* See struct off_recorder_config. */
    void (*meet)(void *context, pid_t pid, pid_t tid, uint64_t time_ns);
    void *meet_context;
};

/* Observes the tasks of the file from now on: before the first of them is written. */
void off_writer_open(struct off_writer *writer, struct perfdata_writer *file);
void off_writer_close(struct off_writer *writer);

/* The end of the process by the kernel's records, if not before since_ns; 0: unknown. */
uint64_t off_writer_end_ns(const struct off_writer *writer, pid_t pid, uint64_t since_ns);

/* is_last: nothing is held. */
void off_writer_round(struct off_writer *writer, struct off_queue *queue, uint64_t now_ns,
                      bool is_last);
