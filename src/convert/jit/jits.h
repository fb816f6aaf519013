/* SPDX-License-Identifier: MIT */
/*
 * Addresses outside of all files: code generated at run time. Each process is a lib of its own,
 * "[JIT] tid PID" as in perf (of the second process with the pid, "[JIT] tid PID.1"), and each
 * generation of code at an address is another lib of the same name (jit_code.h). Names are found
 * during loading: later the times of samples are gone.
 *
 * Sources, best first: stored with the capture (the files disappear soon), the process' jitdump,
 * its perf map. Unnamed code is a function for each mapping: "[anon 0x7f5c00000000]".
 */
#pragma once

#include "convert/jit/jit_sources.h"
#include "convert/store/capture.h"
#include "profile/profile.h"

#include <sys/types.h>

struct jit_process {
    char *dump_path;         /* owned; NULL: none mapped */
    struct jit_codes *codes; /* of a source; NULL: not read */
};

struct jits {
    struct profile *profile;
    const struct symbol_store *store; /* NULL: none. Borrowed */
    uid_t owner;                      /* of the capture */
    bool symbols_only;                /* lines are left out */
    /* The same instant in the samples' clock and the wall's; 0: unknown. */
    uint64_t clock_ns, wall_ns;
    struct jit_counter counter; /* for jitdumps with counter values as times */
    struct jit_sources sources;
    struct jit_process *processes; /* by the index in profile->processes */
    size_t count, capacity;
};

void jits_free(struct jits *jits);

/* Notes a file mapped executable by a process; remembers jitdumps. 0 or -ENOMEM. */
int jits_note_file(struct jits *jits, uint32_t process, const char *path);

struct jit_place {
    uint32_t process;
    uint64_t time_ns;
    const char *mapping_path;    /* "//anon"; NULL: outside of all recorded mappings, … */
    uint64_t mapping_start_avma; /* … and this is 0 */
};

/* The profile's address, named; PROFILE_NONE: out of memory. */
uint32_t jits_address(struct jits *jits, const struct jit_place *place, uint64_t avma);

/* Whether a lib holds generated code. */
bool jits_is_lib(const char *path);

/* The same, and the lib's process, as in profile_process. */
bool jits_process_of_lib(const char *path, int32_t *pid, uint32_t *number);
