/* SPDX-License-Identifier: MIT */
/* A request of a starting process, with the facts about the process that made the request. */
#pragma once

#include "record/process/admission.h"
#include "record/process/membership.h"
#include "record/namespaces/pid_namespace.h"
#include "record/procfs/pidfd_facts.h"
#include "record/procfs/target_memory.h"
#include "record/tables/maps/process_maps.h"

#include <stdbool.h>

struct join {
    struct join_request request;
    struct process_slot stated; /* a copy, with the ids of this namespace */
    struct identity identity;
    struct process *before; /* the program that an exec replaced; NULL: none */
    bool is_near;           /* before, or the parent, is recorded and lives */
    int pid_fd;             /* -1: no descriptor is left */
    bool owns_pid_fd;       /* false: the pidfd is of the program before, or of the process */
    struct pidfd_facts facts;
    struct target_memory *memory;
    struct rights rights;
    const struct process *original; /* the recorded parent of a forked child; NULL: none */
    struct executable executable;   /* without an original */
    struct proc_maps mappings;
    bool may_be_traced;
};

/* The pidfd and the kernel's facts: before all proofs. before: the program that an exec replaced,
 * in a living process; NULL: none. */
void join_open(struct join *join, pid_t pid, struct process *before);
void join_close(struct join *join);

/* Takes the memory from the opened process. False: it may be another process than the request's. */
bool join_take_memory(struct join *join, const struct session *session);
/* Maps the memory of the identified process. False: the memory cannot be of the process. */
bool join_map(struct join *join, const struct session *session);

/* Takes the statements of the process. False: the process has stopped waiting, or has a reply. */
bool join_load_statements(struct join *join);

/* The recorded parent of a forked child with the same program; NULL: none. The process states the
 * parent: the mappings of another user's process would disclose addresses. */
const struct process *join_original(const struct join *join, const struct process_table *processes);

/* Most forked children execute another program at once, and reading /proc takes longer than all
 * other steps, so their mappings are their parent's. False: the process is gone, or does not map
 * the memory. */
bool join_find_mappings(struct join *join, const struct session *session);

/* A tracer comes from the parent, or by ptrace(). False: the parent is recorded, and had no tracer
 * at a look within the last second. */
bool join_may_be_traced(const struct join *join, const struct process_table *processes,
                        uint64_t now_ns);

/* The guest of an emulator recorded itself, as qemu-user: the emulator still runs. */
bool join_is_guest(const struct join *join);
