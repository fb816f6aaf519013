/* SPDX-License-Identifier: MIT */
/*
 * Which process of ours is behind a process slot. It states ids, and in a pid namespace of its own these are other ones
 * than here, or somebody else's. It is known by its mark: private memory that says whose slot it is.
 *
 *     slot 7: pid 1, mark at A ─▶ who has "session, slot 7" at A?   pid 1?   those that we know as 1 there?
 *                                                                   its parent's children?   anybody?
 */
#pragma once

#include "record/collector_parts.h"

struct identity {
    pid_t pid, parent_pid;
    pid_t stated_pid; /* in its own pid namespace */
    bool is_marked;   /* nobody else can be meant */
    /* As in struct process_verdict. */
    uint32_t namespace, parents_namespace;
    pid_t pid_for_parent;
};

/* False: it cannot be found, or is gone. Where its mark cannot be read, it is who it states to be if what it has mapped
 * says so: *mappings has that then. */
bool identity_find(struct collector *collector, uint32_t index, const struct process_slot *request,
                   struct proc_maps *mappings, struct identity *identity);

/* The tid that a thread has here; one that is gone gets a number that no thread has. */
pid_t identity_of_thread(struct collector *collector, struct image *image,
                         const struct thread_slot *slot);
