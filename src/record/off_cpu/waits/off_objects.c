/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/waits/off_objects.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "record/procfs/blocked/wait_object.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 512 };
/* All descriptions together take FREE_COST_NS, or one of COST_PARTS parts of the time. */
enum { COST_PARTS = 50 };
#define FREE_COST_NS UINT64_C(200000000)

/* A description of a socket reads the sockets of the system, as many as programs have opened. */
static bool may_describe(const struct off_objects *objects)
{
    return objects->cost_ns < FREE_COST_NS ||
           monotonic_ns() - objects->begin_ns > COST_PARTS * objects->cost_ns;
}

static void describe(struct off_objects *objects, pid_t pid, const char *link,
                     char text[TEXT_BYTES])
{
    uint64_t begin_ns = monotonic_ns();
    if (objects->begin_ns == 0)
        objects->begin_ns = begin_ns;
    wait_object_describe_link(pid, link, text, TEXT_BYTES);
    objects->cost_ns += monotonic_ns() - begin_ns;
}

static uint32_t add(struct off_objects *objects, pid_t pid, const char *link)
{
    char text[TEXT_BYTES];
    struct off_object *object =
        objects->count < OFF_OBJECTS_MAX && may_describe(objects)
            ? ARRAY_PUSH(objects->objects, objects->count, objects->capacity)
            : NULL;
    if (!object)
        return 0;
    describe(objects, pid, link, text);
    object->link = strdup(link);
    object->text = strdup(text);
    return (uint32_t)objects->count;
}

uint32_t off_objects_find(struct off_objects *objects, pid_t pid, int descriptor)
{
    char link[TEXT_BYTES];
    if (!wait_object_link(pid, descriptor, link, sizeof(link)))
        return 0;
    for (size_t i = 0; i < objects->count; i++)
        if (objects->objects[i].link && strcmp(objects->objects[i].link, link) == 0)
            return (uint32_t)i + 1;
    return add(objects, pid, link);
}

void off_objects_add(struct off_objects *objects, uint32_t number, uint64_t waited_ns)
{
    if (number > 0 && number <= objects->count)
        objects->objects[number - 1].waited_ns += waited_ns;
}

void off_objects_free(struct off_objects *objects)
{
    for (size_t i = 0; i < objects->count; i++) {
        free(objects->objects[i].link);
        free(objects->objects[i].text);
    }
    free(objects->objects);
    *objects = (struct off_objects){0};
}
