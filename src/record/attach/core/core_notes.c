/* SPDX-License-Identifier: MIT */
#include "record/attach/core/core_notes.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/containers/sort.h"
#include "elf/elf_note.h"
#include "unwind/arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

/* Descriptions of NT_FILE: a count, the size of a page, three words a mapping, then the paths. */
enum { FILE_WORDS = 3 };

static uint64_t time_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

/* The kernel begins with the notes of the thread that received the signal (fs/binfmt_elf.c). */
static int take_thread(struct core_notes *notes, struct cursor *c)
{
    struct elf_prstatus status;
    struct user_regs_struct user;
    _Static_assert(sizeof(status.pr_reg) == sizeof(user), "the kernel's registers");
    memset(&status, 0, sizeof(status));
    cursor_copy(c, &status, sizeof(status));
    if (c->failed)
        return 0;
    struct core_thread *thread =
        ARRAY_PUSH(notes->threads, notes->thread_count, notes->thread_capacity);
    if (!thread)
        return -ENOMEM;
    memcpy(&user, &status.pr_reg, sizeof(user));
    *thread = (struct core_thread){.tid = status.pr_pid,
                                   .signal = notes->thread_count == 1 ? status.pr_cursig : 0,
                                   .regs = arch_full_regs(&user),
                                   .user_ns = time_ns((const struct timeval *)&status.pr_utime),
                                   .kernel_ns = time_ns((const struct timeval *)&status.pr_stime)};
    return 0;
}

static void take_process(struct core_notes *notes, struct cursor *c)
{
    struct elf_prpsinfo info;
    memset(&info, 0, sizeof(info));
    cursor_copy(c, &info, sizeof(info));
    if (c->failed)
        return;
    notes->pid = info.pr_pid;
    snprintf(notes->name, sizeof(notes->name), "%.*s", (int)sizeof(info.pr_fname), info.pr_fname);
}

/* Words of all mappings, then all paths in the same order. The offset is in units of the page
 * size. */
static int take_files(struct core_notes *notes, struct cursor *c)
{
    uint64_t count = cursor_u64(c), page_bytes = cursor_u64(c);
    if (c->failed || count > cursor_left(c) / (8 * FILE_WORDS))
        return 0;
    struct cursor paths = *c;
    cursor_skip(&paths, 8 * FILE_WORDS * count);
    for (uint64_t i = 0; i < count; i++) {
        struct core_mapping mapping = {.start_avma = cursor_u64(c), .end_avma = cursor_u64(c)};
        uint64_t pages = cursor_u64(c);
        mapping.path = cursor_string(&paths);
        if (!mapping.path || mapping.end_avma <= mapping.start_avma ||
            __builtin_mul_overflow(pages, page_bytes, &mapping.file_offset))
            continue;
        struct core_mapping *place =
            ARRAY_PUSH(notes->mappings, notes->mapping_count, notes->mapping_capacity);
        if (!place)
            return -ENOMEM;
        *place = mapping;
    }
    return 0;
}

static void take_auxiliary(struct core_notes *notes, struct cursor *c)
{
    while (cursor_left(c) >= 16) {
        uint64_t type = cursor_u64(c), value = cursor_u64(c);
        if (type == AT_ENTRY)
            notes->entry_avma = value;
        if (type == AT_SYSINFO_EHDR)
            notes->vdso_avma = value;
    }
}

static int take_note(struct core_notes *notes, uint32_t type, struct cursor description)
{
    switch (type) {
    case NT_PRSTATUS:
        return take_thread(notes, &description);
    case NT_FILE:
        return take_files(notes, &description);
    case NT_PRPSINFO:
        take_process(notes, &description);
        break;
    case NT_AUXV:
        take_auxiliary(notes, &description);
        break;
    default:
        break;
    }
    return 0;
}

int core_notes_take(struct core_notes *notes, const void *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes, size);
    int err = 0;
    struct elf_note note;
    while (err == 0 && elf_note_next(&c, &note))
        if (note.name.size == 5 && memcmp(note.name.bytes, "CORE", 5) == 0)
            err = take_note(notes, note.type, note.description);
    return err ? err : SORT_BY(notes->mappings, notes->mapping_count, start_avma);
}

void core_notes_free(struct core_notes *notes)
{
    free(notes->threads);
    free(notes->mappings);
    *notes = (struct core_notes){.pid = 0};
}
