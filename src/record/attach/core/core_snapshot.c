/* SPDX-License-Identifier: MIT */
#include "record/attach/core/core_snapshot.h"

#include "arch/machines.h"
#include "arch/own.h"
#include "base/files/foreign_file.h"
#include "base/files/io.h"
#include "record/attach/core/core_map.h"
#include "record/attach/snapshot/limited_read.h"
#include "record/attach/snapshot/snapshot_capture.h"
#include "record/attach/snapshot/snapshot_rows.h"
#include "record/procfs/blocked/blocked_look.h"
#include "record/procfs/blocked/wait_age.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_BYTES_MAX (UINT64_C(256) << 20)
#define STACK_BYTES_MAX (UINT64_C(16) << 20)
/* Of all threads together, or the size of the core if larger: stacks may overlap. */
#define STACKS_BYTES_MAX (UINT64_C(256) << 20)

struct core_reader {
    const struct core_request *request;
    struct snapshot *snapshot;
    int fd;
    struct elf_file *core;
    struct core_segments segments;
    struct buffer note_bytes[8]; /* by segment; the notes point into them */
    size_t note_segments;
    struct core_notes notes;
    struct open_file_cache open_files;
    struct ring_modules modules;
    struct process_map *map;
    struct blocked_looker looker;
    struct snapshot_capture capture;
    struct buffer stack;
    uint64_t stacks_left_bytes; /* to read */
    struct buffer code;
    struct jit_memory memory;
};

static int take_notes(struct core_reader *reader, const struct elf_segment *segment)
{
    const size_t most = sizeof(reader->note_bytes) / sizeof(reader->note_bytes[0]);
    if (reader->note_segments == most || segment->file_bytes > NOTES_BYTES_MAX)
        return 0;
    struct buffer *bytes = &reader->note_bytes[reader->note_segments++];
    uint8_t *room = buffer_room(bytes, (size_t)segment->file_bytes);
    if (!room)
        return -ENOMEM;
    int err = io_pread(reader->fd, room, (size_t)segment->file_bytes, segment->offset);
    bytes->size = err ? 0 : (size_t)segment->file_bytes;
    return err == -ENODATA ? 0 : err ? err : core_notes_take(&reader->notes, room, bytes->size);
}

static uint64_t stacks_bytes_max(int fd)
{
    struct stat status;
    const uint64_t core_bytes = fstat(fd, &status) == 0 ? io_stored_bytes(&status) : 0;
    return core_bytes > STACKS_BYTES_MAX ? core_bytes : STACKS_BYTES_MAX;
}

static int open_core(struct core_reader *reader, const struct core_request *request,
                     struct error *error)
{
    reader->fd = foreign_file_open(request->path, NULL, NULL);
    if (reader->fd < 0)
        return error_set(error, reader->fd, "cannot open %s: %s", request->path,
                         foreign_file_error(reader->fd));
    struct error why = {{0}};
    int err = elf_open_large(&reader->core, reader->fd, &why);
    if (err)
        return error_set(error, err, "%s is not a core file: %s", request->path, why.text);
    for (size_t i = 0; i < elf_segment_count(reader->core) && err == 0; i++)
        if (elf_segment(reader->core, i)->type == PT_NOTE)
            err = take_notes(reader, elf_segment(reader->core, i));
    if (err)
        return error_set(error, err, "cannot read %s: %s", request->path, strerror(-err));
    reader->stacks_left_bytes = stacks_bytes_max(reader->fd);
    if (elf_machine(reader->core) != ARCH_ELF_MACHINE || reader->notes.thread_count == 0)
        return error_set(error, -ENOEXEC, "%s is not a core file of an %s program with threads",
                         request->path, machine_of_elf(ARCH_ELF_MACHINE)->name);
    return 0;
}

/* The stack from SP up, as far as the core has the memory. */
static struct stack_view stack_at(struct core_reader *reader, uint64_t sp_avma)
{
    const struct elf_segment *segment = core_segments_find(&reader->segments, sp_avma);
    uint64_t inside = segment ? sp_avma - segment->svma : 0;
    uint64_t bytes = segment && inside < segment->file_bytes ? segment->file_bytes - inside : 0;
    bytes = bytes < STACK_BYTES_MAX ? bytes : STACK_BYTES_MAX;
    bytes = bytes < reader->stacks_left_bytes ? bytes : reader->stacks_left_bytes;
    reader->stacks_left_bytes -= bytes;
    buffer_clear(&reader->stack);
    uint8_t *room = buffer_room(&reader->stack, (size_t)bytes);
    if (!room || !core_segments_read(&reader->segments, reader->fd, sp_avma, room, (size_t)bytes))
        bytes = 0;
    return (struct stack_view){.lo = sp_avma, .hi = sp_avma + bytes, .bytes = room};
}

static const uint8_t *read_code(void *context, uint64_t avma, size_t bytes)
{
    struct core_reader *reader = context;
    buffer_clear(&reader->code);
    uint8_t *room = buffer_room(&reader->code, bytes);
    bool is_read = room && core_segments_read(&reader->segments, reader->fd, avma, room, bytes);
    return is_read ? room : NULL;
}

static void walk(struct core_reader *reader, struct snapshot_thread *thread,
                 const struct core_thread *from)
{
    const struct look_process process = {reader->notes.pid, reader->modules.cache, reader->map, 1};
    const struct stack_view stack = stack_at(reader, from->regs.value[UNWIND_DWARF_SP]);
    const struct look_end end = blocked_looker_walk(&reader->looker, &process, &from->regs, &stack);
    snapshot_row_set_end(thread, &end);
    const struct snapshot_stack found = {.frames = reader->looker.frames,
                                         .frame_count = end.frame_count};
    if (end.frame_count > 0)
        snapshot_capture_add(&reader->capture, thread->tid, &found);
}

static void walk_all(struct core_reader *reader, struct snapshot *snapshot)
{
    for (size_t i = 0; i < reader->notes.thread_count && snapshot->count < snapshot->capacity;
         i++) {
        const struct core_thread *from = &reader->notes.threads[i];
        struct snapshot_thread *thread = &snapshot->threads[snapshot->count++];
        *thread = (struct snapshot_thread){.tid = from->tid,
                                           .descriptor = -1,
                                           .age_ns = WAIT_AGE_UNKNOWN,
                                           .signal = from->signal,
                                           .facts = {.user_ns = from->user_ns,
                                                     .kernel_ns = from->kernel_ns,
                                                     .cpu_ns = from->user_ns + from->kernel_ns}};
        memcpy(thread->facts.name, reader->notes.name, sizeof(thread->facts.name));
        walk(reader, thread, from);
    }
}

/* A core is foreign input, and may have millions of mappings and threads. */
static int read_stacks(void *context)
{
    struct core_reader *reader = context;
    const struct core_memory memory = {reader->fd, &reader->segments};
    int err = core_segments_open(&reader->segments, reader->core);
    if (err == 0)
        err = ring_modules_open(&reader->modules, &reader->open_files);
    if (err == 0)
        err = core_map_read(&reader->map, &reader->modules, &memory, &reader->notes,
                            reader->request->executable);
    if (err == 0)
        err = snapshot_capture_open(&reader->capture, reader->snapshot, reader->map,
                                    reader->request->capture_fd);
    if (err)
        return err;
    reader->memory = (struct jit_memory){read_code, reader};
    reader->looker.jit.memory = &reader->memory;
    walk_all(reader, reader->snapshot);
    return snapshot_capture_finish(&reader->capture);
}

static int read_core(struct core_reader *reader)
{
    struct snapshot *snapshot = reader->snapshot;
    snapshot->pid = reader->notes.pid;
    snapshot->is_core = true;
    memcpy(snapshot->name, reader->notes.name, sizeof(snapshot->name));
    int err = snapshot_rows_open(snapshot, reader->notes.thread_count);
    return err ? err : limited_read_run(snapshot, read_stacks, reader, reader->request->limit_ns);
}

static void close_core(struct core_reader *reader)
{
    snapshot_capture_close(&reader->capture);
    blocked_looker_free(&reader->looker);
    process_map_release(reader->map);
    ring_modules_close(&reader->modules);
    open_file_cache_free(&reader->open_files);
    core_notes_free(&reader->notes);
    core_segments_free(&reader->segments);
    for (size_t i = 0; i < reader->note_segments; i++)
        buffer_free(&reader->note_bytes[i]);
    buffer_free(&reader->stack);
    buffer_free(&reader->code);
    elf_close(reader->core);
    if (reader->fd >= 0)
        close(reader->fd);
}

int core_snapshot_take(struct snapshot *snapshot, const struct core_request *request,
                       struct error *error)
{
    *snapshot = (struct snapshot){.pid = 0};
    struct core_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return error_set(error, -ENOMEM, "out of memory");
    reader->request = request;
    reader->snapshot = snapshot;
    int err = open_core(reader, request, error);
    if (err == 0) {
        err = read_core(reader);
        if (err)
            error_set(error, err, "cannot read %s: %s", request->path,
                      err == -ETIMEDOUT ? "time limit reached, see --timeout" : strerror(-err));
    }
    close_core(reader);
    free(reader);
    return err;
}
