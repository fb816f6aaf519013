/* SPDX-License-Identifier: MIT */
/*
 * Addresses outside of every file: code that processes made at run time. Each process' is a lib of its
 * own, "[JIT] tid PID" as in perf (of the second process that had the pid "[JIT] tid PID.1"), and each
 * generation of code at an address another of the same name (jit_code.h). Names are known while loading,
 * because only then the time of the samples is.
 *
 * Sources, best first: what is stored with the capture (the files are gone soon), the process' jitdump,
 * its perf map. Code that none of them names is one function for each mapping: "[anon 0x7f5c00000000]".
 */
#pragma once

#include "convert/jit/jit_sources.h"
#include "convert/store/capture.h"
#include "profile/profile.h"

#include <sys/types.h>

struct jit_process {
    char *dump_path;         /* owned; NULL: it mapped none */
    struct jit_codes *codes; /* of a source; NULL: not read */
};

struct jits {
    struct profile *profile;
    const struct symbol_store *store; /* stored ones; NULL: none. Borrowed */
    uid_t owner;                      /* of the capture */
    bool symbols_only;                /* lines are left out */
    /* The same instant in the samples' clock and the wall's; 0: unknown. */
    uint64_t clock_ns, wall_ns;
    struct jit_counter counter; /* for jitdumps that have its values */
    struct jit_sources sources;
    struct jit_process *processes; /* by the index in profile->processes */
    size_t count, capacity;
};

void jits_free(struct jits *jits);

/* Tells of a file that a process mapped executable: a jitdump is marked so. 0 or -ENOMEM. */
int jits_note_file(struct jits *jits, uint32_t process, const char *path);

struct jit_place {
    uint32_t process;
    uint64_t time_ns;
    const char *mapping_path;    /* "//anon"; NULL: the address lies in no known mapping, … */
    uint64_t mapping_start_avma; /* … and this is 0 */
};

/* The profile's address, named; PROFILE_NONE: out of memory. */
uint32_t jits_address(struct jits *jits, const struct jit_place *place, uint64_t avma);

/* Whether a lib is one of these. */
bool jits_is_lib(const char *path);
