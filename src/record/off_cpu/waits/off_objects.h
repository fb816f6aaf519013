/* SPDX-License-Identifier: MIT */
/* Objects of waits behind descriptors: files, pipes, sockets, each described once. A server
 * with any number of connections has no more than OFF_OBJECTS_MAX of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { OFF_OBJECTS_MAX = 256 };

struct off_object {
    char *link, *text; /* owned */
    uint64_t waited_ns;
};

struct off_objects {            /* zeros: empty */
    struct off_object *objects; /* owned */
    size_t count, capacity;
    uint64_t begin_ns, cost_ns; /* of descriptions: time of the first one, time of all */
};

/* The number of the object, from 1 on; 0: unreadable, no room, or too costly. */
uint32_t off_objects_find(struct off_objects *objects, pid_t pid, int descriptor);
/* Adds waiting time to an object; number 0: none. */
void off_objects_add(struct off_objects *objects, uint32_t number, uint64_t waited_ns);
void off_objects_free(struct off_objects *objects);
