/* SPDX-License-Identifier: MIT */
#include "profile/wait_objects.h"

#include "base/containers/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int profile_add_wait_object(struct profile *profile, const struct profile_sample *sample,
                            uint64_t address, uint32_t number)
{
    struct profile_wait_object *object = ARRAY_PUSH(
        profile->wait_objects, profile->wait_object_count, profile->wait_object_capacity);
    if (!object)
        return -ENOMEM;
    *object = (struct profile_wait_object){sample->time_ns, sample->weight, address,
                                           sample->thread,  sample->call,   number};
    return 0;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct profile_wait_object *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

void profile_sort_wait_objects(struct profile *profile)
{
    if (profile->wait_object_count)
        qsort(profile->wait_objects, profile->wait_object_count, sizeof(*profile->wait_objects),
              by_thread_and_time);
}

/* The first object of the thread from this time on, or behind. */
static size_t first_from(const struct profile *profile, uint32_t thread, uint64_t time_ns)
{
    const struct profile_wait_object start = {.time_ns = time_ns, .thread = thread};
    size_t low = 0, high = profile->wait_object_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_thread_and_time(&profile->wait_objects[middle], &start) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of a wait recorded as several samples the last object counts: the holder of a lock may change
 * meanwhile. */
const struct profile_wait_object *wait_object_of(const struct profile *profile,
                                                 const struct profile_wait *wait)
{
    const struct profile_wait_object *found = NULL;
    size_t i = first_from(profile, wait->thread, wait->start_ns);
    for (; i < profile->wait_object_count; i++) {
        const struct profile_wait_object *object = &profile->wait_objects[i];
        if (object->thread != wait->thread || object->time_ns >= profile_wait_end(wait))
            break;
        if (object->call == wait->call && (object->number || !found || !found->number))
            found = object;
    }
    return found;
}

uint32_t profile_wait_intervals(const struct profile *profile, const struct profile_wait *wait)
{
    enum profile_wait_kind kind = wait_reason_of_call(profile, wait->call).kind;
    if (kind != PROFILE_RUNNABLE && kind != PROFILE_SHORT_WAITS)
        return 1;
    const struct profile_wait_object *object = wait_object_of(profile, wait);
    return object && object->number ? object->number : 1;
}

/* The name of the latest thread with this tid, in this process or any (PROFILE_NONE); "": none. */
static const char *name_of_tid(const struct profile *profile, uint32_t process, uint32_t tid)
{
    for (size_t i = profile->thread_count; i-- > 0;) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->tid == (int32_t)tid && (process == PROFILE_NONE || thread->process == process))
            return profile_text(profile, thread->name);
    }
    return "";
}

/* The text behind the waited time of the note "off_cpu.object.N". */
static const char *note_text(const struct profile *profile, uint32_t number)
{
    char key[48];
    snprintf(key, sizeof(key), "off_cpu.object.%u", number);
    const char *note = profile_note(profile, key);
    const char *text = note ? strchr(note, ' ') : NULL;
    return text ? text + 1 : "";
}

static void put_number(const struct profile *profile, const struct profile_wait_object *object,
                       const char *reason, char *out, size_t size)
{
    uint32_t process = profile->threads[object->thread].process;
    if (strcmp(reason, "lock") == 0)
        snprintf(out, size, "held by %u %.100s", object->number,
                 name_of_tid(profile, process, object->number));
    else if (strcmp(reason, "child") == 0)
        snprintf(out, size, "process %u %.100s", object->number,
                 name_of_tid(profile, PROFILE_NONE, object->number));
    else
        snprintf(out, size, "%s", note_text(profile, object->number));
}

struct wait_object_text wait_object_text(const struct profile *profile,
                                         const struct profile_wait_object *object)
{
    struct wait_object_text made = {""};
    size_t length = 0;
    if (!object)
        return made;
    struct profile_wait_reason reason = wait_reason_of_call(profile, object->call);
    if (reason.kind != PROFILE_WAITING)
        return made;
    if (object->address)
        length = (size_t)snprintf(made.text, sizeof(made.text), "0x%" PRIx64 "%s", object->address,
                                  object->number ? ", " : "");
    if (object->number)
        put_number(profile, object, reason.text, made.text + length, sizeof(made.text) - length);
    return made;
}
