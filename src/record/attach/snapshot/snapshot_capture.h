/* SPDX-License-Identifier: MIT */
/* The capture behind a snapshot: the mappings of the process, and a sample for each thread. */
#pragma once

#include "perfdata/writer.h"
#include "record/attach/snapshot/snapshot.h"
#include "record/tables/process_map.h"

struct snapshot_capture {
    struct perfdata_writer *file;
    pid_t pid;
    uint64_t time_ns; /* of the latest sample */
};

/* 0 or a negative errno; snapshot_capture_close() in any case. */
int snapshot_capture_open(struct snapshot_capture *capture, const struct snapshot *snapshot,
                          const struct process_map *map, int fd);
void snapshot_capture_close(struct snapshot_capture *capture);

void snapshot_capture_add(struct snapshot_capture *capture, pid_t tid, const uint64_t *frames,
                          uint32_t count);
/* 0 or the first error of a write. */
int snapshot_capture_finish(struct snapshot_capture *capture);
