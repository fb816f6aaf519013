/* SPDX-License-Identifier: MIT */
/*
 * Ended children between their end and the wait() of their parent. Only the wait adds a child's CPU
 * time to the rusage of the parent:
 *
 *     end ─▶ ended_children_note() ─┬▶ parent has waited      part of the command's rusage
 *                                   └▶ parent has ended       in no other rusage
 *     wait for a child without an entry: never met, as a vfork child that runs on without exec
 *
 * Plain tables: no I/O. The oldest entry makes room for a new one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ENDED_CHILDREN_MAX = 1024, UNMET_CHILDREN_MAX = 64 };

struct ended_child {
    pid_t pid;          /* as its parent calls it; 0: no entry */
    pid_t parent_pid;   /* as rec calls it */
    uint64_t rusage_ns; /* 0: counted elsewhere */
};

struct unmet_child {
    pid_t pid, parent_pid;
    uint64_t rusage_ns;
    uint64_t waited_ns; /* time of the wait */
    char name[16];      /* inherited from the parent */
};

struct ended_children {
    struct ended_child items[ENDED_CHILDREN_MAX];
    size_t next;
    struct unmet_child unmet[UNMET_CHILDREN_MAX];
    size_t unmet_count;
};

void ended_children_note(struct ended_children *children, const struct ended_child *child);

/* The CPU time of a child noted before. Without effect after the wait. */
void ended_children_set_rusage(struct ended_children *children, const struct ended_child *child);

/* The parent has waited for the child: forgets the entry. pid 0: for any child. False: there was
 * none. */
bool ended_children_take(struct ended_children *children, pid_t parent_pid, pid_t pid);

/* The parent has ended: forgets its children. Returns their CPU time, part of no other rusage. */
uint64_t ended_children_orphan(struct ended_children *children, pid_t parent_pid);

bool ended_children_has_parent(const struct ended_children *children, pid_t parent_pid);

/* Without effect when the table is full. */
void ended_children_add_unmet(struct ended_children *children, const struct unmet_child *child);
