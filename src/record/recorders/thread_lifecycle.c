/* SPDX-License-Identifier: MIT */
#include "record/recorders/thread_lifecycle.h"

#include <string.h>

bool thread_lifecycle_has(enum record_event event)
{
    return event == RECORD_EVENT_THREAD_CREATE || event == RECORD_EVENT_THREAD_JOIN ||
           event == RECORD_EVENT_THREAD_DETACH;
}

/* The thread in a slot at a time: the present one, or the last one if it has ended. NULL: the slot
 * had another thread then. */
static struct thread *thread_at(const struct thread *near, uint64_t slot, uint64_t time_ns)
{
    struct thread *found = thread_of_slot(near->process, slot);
    return found && found->start_ns <= time_ns ? found : NULL;
}

void thread_lifecycle_translate(const struct thread *thread, enum record_event event,
                                struct raw_sample *raw)
{
    uint64_t slot = raw->object.number;
    raw->object.number = 0;
    if (event != RECORD_EVENT_THREAD_CREATE)
        return;
    const struct thread *creator = thread_at(thread, slot, raw->time_ns);
    raw->object.number = (uint64_t)thread->tid;
    raw->tid = creator ? creator->tid : thread->process->pid;
}

bool thread_lifecycle_name(struct thread_table *threads, const struct thread *thread,
                           const struct raw_sample *raw)
{
    struct record_name record;
    if (raw->bytes != sizeof(struct record_header) + sizeof(record))
        return false;
    memcpy(&record, raw->record + sizeof(struct record_header), sizeof(record));
    struct thread *named = thread_at(thread, record.slot, raw->time_ns);
    char name[16] = {0};
    record.name[15] = '\0';
    strcpy(name, record.name);
    if (named && named->in_use)
        thread_set_name(threads, named, name, raw->time_ns);
    return true;
}
