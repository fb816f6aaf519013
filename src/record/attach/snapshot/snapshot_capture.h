/* SPDX-License-Identifier: MIT */
/* The capture behind a snapshot: the mappings of the process, and a sample for each thread. */
#pragma once

#include "perfdata/writer.h"
#include "record/attach/snapshot/snapshot.h"
#include "record/tables/maps/process_map.h"

struct snapshot_capture {
    struct perfdata_writer *file;
    pid_t pid;
    uint64_t time_ns; /* of the latest sample */
};

/* 0 or a negative errno; snapshot_capture_close() in any case. */
int snapshot_capture_open(struct snapshot_capture *capture, const struct snapshot *snapshot,
                          const struct process_map *map, int fd);
void snapshot_capture_close(struct snapshot_capture *capture);

/* Before samples with frames in the kernel. */
void snapshot_capture_map_kernel(struct snapshot_capture *capture);

struct snapshot_stack {
    const uint64_t *frames, *kernel_frames; /* innermost first */
    uint32_t frame_count, kernel_count;
};
void snapshot_capture_add(struct snapshot_capture *capture, pid_t tid,
                          const struct snapshot_stack *stack);
/* 0 or the first error of a write. */
int snapshot_capture_finish(struct snapshot_capture *capture);
