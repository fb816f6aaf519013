/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_capture.h"

#include "base/clock.h"
#include "record/procfs/kernel/kernel_image.h"
#include "record/sample/task_records.h"
#include "record/tables/maps/mapping_record.h"

#include <string.h>
#include <time.h>

int snapshot_capture_open(struct snapshot_capture *capture, const struct snapshot *snapshot,
                          const struct process_map *map, int fd)
{
    uint64_t now_ns = monotonic_ns();
    struct perfdata_config config = {.start_time_ns = now_ns,
                                     .start_wall_ns = clock_ns(CLOCK_REALTIME)};
    config.events[0] = (struct perfdata_event_row){.name = "threads", .unit = "count", .period = 1};
    *capture = (struct snapshot_capture){.pid = snapshot->pid, .time_ns = now_ns};
    int err = perfdata_writer_open(&capture->file, fd, &config);
    if (err)
        return err;
    struct process process = {.pid = snapshot->pid, .start_ns = now_ns};
    memcpy(process.name, snapshot->name, sizeof(process.name));
    task_write_start(capture->file, &process, false);
    for (size_t i = 0; i < map->count; i++)
        mapping_record_write(capture->file, snapshot->pid, &map->mappings[i], now_ns);
    return 0;
}

void snapshot_capture_close(struct snapshot_capture *capture)
{
    perfdata_writer_close(capture->file);
}

void snapshot_capture_map_kernel(struct snapshot_capture *capture)
{
    kernel_image_write(capture->file, 0);
}

void snapshot_capture_add(struct snapshot_capture *capture, pid_t tid,
                          const struct snapshot_stack *stack)
{
    const struct perfdata_sample sample = {.pid = (uint32_t)capture->pid,
                                           .tid = (uint32_t)tid,
                                           .time_ns = ++capture->time_ns,
                                           .weight = 1,
                                           .kernel_frames = stack->kernel_frames,
                                           .kernel_count = stack->kernel_count,
                                           .frames = stack->frames,
                                           .frame_count = stack->frame_count};
    perfdata_write_sample(capture->file, &sample);
}

int snapshot_capture_finish(struct snapshot_capture *capture)
{
    return perfdata_finish(capture->file);
}
