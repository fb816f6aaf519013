/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/waits/off_notes.h"

#include "base/clock.h"
#include "wire/atomic.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { NOTES_BYTES = SESSION_ACCOUNTS * sizeof(struct account_note) };
/* 36 years */
#define SUM_MAX (UINT64_C(1) << 60)

/* A mapping of its own: an off-CPU thread that hangs in the kernel outlives the session. */
void off_notes_open(struct off_notes *notes, int fd)
{
    void *mapped = fd < 0 ? MAP_FAILED
                          : mmap(NULL, NOTES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                 (off_t)offsetof(struct requests, accounts));
    notes->notes = mapped == MAP_FAILED ? NULL : mapped;
}

void off_notes_close(struct off_notes *notes)
{
    if (notes->notes)
        munmap(notes->notes, NOTES_BYTES);
    notes->notes = NULL;
}

static struct account_note *note_of(const struct off_notes *notes, pid_t tid)
{
    return notes->notes ? &notes->notes[(uint32_t)tid % SESSION_ACCOUNTS] : NULL;
}

bool off_notes_read(const struct off_notes *notes, pid_t tid, struct run_account *account)
{
    struct account_note *note = note_of(notes, tid);
    char text[sizeof(note->text) + 8] = "";
    if (!note || load_acquire(&note->tid) != (uint32_t)tid)
        return false;
    load_words(text, note->text, sizeof(note->text));
    account->read_ns = load_relaxed(&note->time_ns);
    fence_acquire();
    return load_relaxed(&note->tid) == (uint32_t)tid && strchr(text, '\n') &&
           run_account_parse(account, text) && account->read_ns <= monotonic_ns() &&
           account->cpu_ns < SUM_MAX && account->delay_ns < SUM_MAX && account->turns < SUM_MAX;
}

void off_notes_drop(const struct off_notes *notes, pid_t tid)
{
    struct account_note *note = note_of(notes, tid);
    if (note && load_relaxed(&note->tid) == (uint32_t)tid)
        store_relaxed(&note->tid, 0);
}
