/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/file/off_writer.h"

#include "record/off_cpu/file/wait_frames.h"
#include "record/procfs/proc.h"
#include "wire/records.h"

#include <string.h>
#include <sys/mman.h>

/* A thread without a start in the file after this time is unknown to the engine. */
#define HOLD_NS UINT64_C(1000000000)

void off_writer_open(struct off_writer *writer, struct perfdata_writer *file)
{
    *writer = (struct off_writer){.file = file};
    const struct perfdata_task_observer observer = {
        .started = file_tasks_note_start, .ended = file_tasks_note_end, .context = &writer->tasks};
    perfdata_observe_tasks(file, &observer);
}

void off_writer_close(struct off_writer *writer)
{
    file_tasks_free(&writer->tasks);
    buffer_free(&writer->entries);
    buffer_free(&writer->held);
}

static uint64_t start_ns(const struct off_writer *writer, const struct off_entry *entry)
{
    const struct file_task *task = file_task_find(&writer->tasks, (uint32_t)entry->tid);
    return task ? file_task_start_ns(task, entry->since_ns, entry->time_ns) : 0;
}

static bool must_wait(const struct off_writer *writer, const struct off_entry *entry,
                      uint64_t now_ns)
{
    if (entry->since_ns == 0 || start_ns(writer, entry))
        return false;
    return entry->time_ns + HOLD_NS > now_ns;
}

static void write_mapping(struct off_writer *writer, const struct off_entry *entry,
                          uint64_t time_ns)
{
    struct perfdata_mapping mapping = {
        .pid = (uint32_t)entry->pid,
        .tid = (uint32_t)entry->pid,
        .time_ns = time_ns,
        .start_avma = entry->mapping.start_avma,
        .bytes = entry->mapping.end_avma - entry->mapping.start_avma,
        .file_offset = entry->mapping.file_offset,
        .protection = PROT_READ | PROT_EXEC,
        .path = off_entry_content(entry),
        .build_id_bytes = entry->mapping.build_id_bytes,
    };
    memcpy(mapping.build_id, entry->mapping.build_id, sizeof(mapping.build_id));
    perfdata_write_mapping(writer->file, &mapping);
}

/* Synthetic frames need mappings, too: the path is the name of the frame. */
static void write_frame(struct off_writer *writer, pid_t pid, unsigned frame, uint64_t time_ns)
{
    char name[64];
    wait_frame_name(frame, name);
    struct perfdata_mapping mapping = {
        .pid = (uint32_t)pid,
        .tid = (uint32_t)pid,
        .time_ns = time_ns,
        .start_avma = wait_frame_avma(frame) & ~(SYNTHETIC_BYTES - 1),
        .bytes = SYNTHETIC_BYTES,
        .protection = PROT_READ | PROT_EXEC,
        .path = name,
    };
    perfdata_write_mapping(writer->file, &mapping);
}

/* The COMM of an exec drops all mappings in the reader's model: behind each start in the file, all
 * mappings of the program are written again, at the time of the start. A later process with the id
 * has none of them. */
static void follow_start(struct off_writer *writer, struct file_task *task, uint64_t start_ns)
{
    const struct off_entry *entry;
    size_t at = 0;
    if (task->mapped_ns == start_ns)
        return;
    if (task->mapped_ns && task->mapped_ns < task->life_ns && start_ns >= task->life_ns)
        buffer_clear(&task->mappings);
    task->mapped_ns = start_ns;
    task->frames = 0;
    while ((entry = off_entry_next(&task->mappings, &at)))
        write_mapping(writer, entry, start_ns);
}

static void take_mapping(struct off_writer *writer, const struct off_entry *entry)
{
    struct file_task *task = file_task_get(&writer->tasks, (uint32_t)entry->pid);
    if (!task)
        return;
    const char *path = off_entry_content(entry);
    if (!mapping_room_take(&task->room, &writer->room, strlen(path), entry->time_ns)) {
        writer->mappings_left_out++;
        return;
    }
    uint64_t time_ns = file_task_start_ns(task, entry->program_ns, entry->time_ns);
    follow_start(writer, task, time_ns);
    if (entry->program_ns >= task->program_ns)
        buffer_append(&task->mappings, entry, entry->bytes);
    write_mapping(writer, entry, time_ns ? time_ns : entry->time_ns);
}

static void take_program(struct off_writer *writer, const struct off_entry *entry)
{
    struct file_task *task = file_task_get(&writer->tasks, (uint32_t)entry->pid);
    if (!task)
        return;
    buffer_clear(&task->mappings);
    task->program_ns = entry->time_ns;
}

/* The synthetic frames of a sample: the leaf, and the mark of a stack that ends early. */
static void map_frames(struct off_writer *writer, const struct off_entry *entry, uint64_t sample_ns)
{
    const uint64_t *frames = off_entry_content(entry);
    struct file_task *process = file_task_get(&writer->tasks, (uint32_t)entry->pid);
    if (!process)
        return;
    uint64_t time_ns = file_task_current_ns(process, sample_ns);
    follow_start(writer, process, time_ns);
    for (uint32_t i = 0; i < entry->sample.frame_count; i++) {
        unsigned frame = wait_frame_of(frames[i]);
        if (frame == WAIT_FRAMES || process->frames >> frame & 1)
            continue;
        write_frame(writer, entry->pid, frame, time_ns ? time_ns : sample_ns);
        process->frames |= UINT64_C(1) << frame;
    }
}

/* A thread that no other part of the recording has met: of libraries that start threads with all
 * signals blocked, as jemalloc does, and without CPU time. */
static void meet_thread(struct off_writer *writer, const struct off_entry *entry)
{
    struct file_task *task = file_task_get(&writer->tasks, (uint32_t)entry->tid);
    char name[16];
    if (!task || task->is_met || task->start_count)
        return;
    task->is_met = true;
    writer->threads++;
    if (entry->tid == entry->pid) /* the parent is unknown */
        return;
    const struct perfdata_task start = {.pid = (uint32_t)entry->pid,
                                        .tid = (uint32_t)entry->tid,
                                        .parent_pid = (uint32_t)entry->pid,
                                        .parent_tid = (uint32_t)entry->pid,
                                        .time_ns =
                                            entry->since_ns ? entry->since_ns : entry->time_ns};
    perfdata_write_fork(writer->file, &start);
    if (proc_name(entry->pid, entry->tid, name) == 0)
        perfdata_write_comm(writer->file, &start, name, false);
}

/* A sample from before the start of its thread in the file is moved to the start. */
static void take_sample(struct off_writer *writer, const struct off_entry *entry)
{
    const uint64_t *frames = off_entry_content(entry);
    uint64_t from_ns = start_ns(writer, entry);
    uint64_t time_ns = entry->time_ns > from_ns ? entry->time_ns : from_ns;
    const size_t inner = 1 + (size_t)entry->sample.kernel_count;
    map_frames(writer, entry, time_ns);
    const struct perfdata_sample sample = {.pid = (uint32_t)entry->pid,
                                           .tid = (uint32_t)entry->tid,
                                           .time_ns = time_ns,
                                           .event = RECORD_EVENT_OFF_CPU,
                                           .weight = entry->sample.weight_ns,
                                           .object_avma = entry->sample.object_avma,
                                           .number = entry->sample.object_number,
                                           .leaf = frames[0],
                                           .kernel_frames = frames + 1,
                                           .kernel_count = inner - 1,
                                           .frames = frames + inner,
                                           .frame_count = entry->sample.frame_count - inner};
    perfdata_write_sample(writer->file, &sample);
    writer->samples++;
}

static void take_end(struct off_writer *writer, const struct off_entry *entry)
{
    const struct perfdata_task task = {
        .pid = (uint32_t)entry->pid, .tid = (uint32_t)entry->tid, .time_ns = entry->time_ns};
    perfdata_write_value(writer->file, &task, RECORD_EVENT_OFF_CPU, entry->lifetime_ns);
    struct file_task *process =
        entry->ends_process ? file_task_find(&writer->tasks, (uint32_t)entry->pid) : NULL;
    if (process)
        process->kernel_end_ns = entry->time_ns;
}

uint64_t off_writer_end_ns(const struct off_writer *writer, pid_t pid, uint64_t since_ns)
{
    const struct file_task *process = file_task_find(&writer->tasks, (uint32_t)pid);
    return process && process->kernel_end_ns >= since_ns ? process->kernel_end_ns : 0;
}

static void take(struct off_writer *writer, const struct off_entry *entry)
{
    if (writer->meet && !file_task_find(&writer->tasks, (uint32_t)entry->tid))
        writer->meet(writer->meet_context, entry->pid, entry->tid, entry->time_ns);
    switch ((enum off_entry_kind)entry->kind) {
    case OFF_ENTRY_SAMPLE:
        meet_thread(writer, entry);
        take_sample(writer, entry);
        break;
    case OFF_ENTRY_MAPPING:
        take_mapping(writer, entry);
        break;
    case OFF_ENTRY_PROGRAM:
        take_program(writer, entry);
        break;
    case OFF_ENTRY_END:
        take_end(writer, entry);
        break;
    }
}

void off_writer_round(struct off_writer *writer, struct off_queue *queue, uint64_t now_ns,
                      bool is_last)
{
    const struct off_entry *entry;
    size_t at = 0;
    struct buffer entries = writer->held;
    writer->held = writer->entries; /* its memory is used again */
    buffer_clear(&writer->held);
    off_queue_take(queue, &entries);
    while ((entry = off_entry_next(&entries, &at))) {
        if (!is_last && entry->kind != OFF_ENTRY_PROGRAM && must_wait(writer, entry, now_ns))
            buffer_append(&writer->held, entry, entry->bytes);
        else
            take(writer, entry);
    }
    writer->entries = entries;
}
