/* SPDX-License-Identifier: MIT */
/*
 * perf.data -> profile model, unnamed, then named. The only door from a recording to the exporters.
 *
 * Names are stored with the capture under (path, build-id, svma). An svma is the file's own address, and
 * telling it from a runtime address takes the file's program headers; so these are stored too, and an
 * address has the same svma, and so the same names, on every machine. The other choice, to key on the
 * offset in the file, would need no headers, but exporters need real svmas, and those would then differ
 * between the machine that has the file and the one that has not.
 *
 * Weights are CPU time when the event is a clock, else counts. The main event is the first clock that
 * has samples, else off-CPU time, else the first event that has any.
 */
#pragma once

#include "base/error.h"
#include "convert/cut.h"
#include "profile/profile.h"

#include <stdbool.h>

#define CONVERT_DEBUG_DIRECTORY "/usr/lib/debug"

struct lookup_ahead;

struct convert_options {         /* NULL in their place: none */
    const char *input_name;      /* of the file, in messages; NULL: its path */
    const char *symfs;           /* the recorded files lie below it; NULL: where they lay */
    const char *debug_directory; /* where separate debug files lie; NULL: the above, below symfs */
    /* Where a recorded file that is gone from its path can be opened; NULL: nowhere. May be NULL. */
    const char *(*find_gone)(const void *context, const char *path, const uint8_t *build_id,
                             size_t build_id_bytes);
    const void *find_gone_context;
    const int *gone_fds; /* open descriptors that such paths lead to, in rising order */
    size_t gone_fd_count;
    uint64_t memory_bytes; /* limit of the conversion's memory; 0: the default (base/budget.h) */
    bool symbols_only;     /* as symbol tables have them: neither inlined functions nor lines */
    bool use_debuginfod;   /* asks servers for debug info that is missing (fetch.h) */
    struct cut cut;        /* which samples are loaded */
    bool adds_samples_up;  /* nobody asks for their times: equal ones take the memory of one */
    /* The same one for loading and resolving: symbol tables are read meanwhile. NULL: after it, which is as good. */
    struct lookup_ahead *ahead;
    /* Called once where others look names up and this process would wait for them; may be NULL. */
    void (*meanwhile)(void *context);
    void *meanwhile_context;
    /* Called now and then while names are looked up; may be NULL. */
    void (*progress)(void *context, const char *what, size_t done, size_t of);
    void *progress_context;
};

/* Loads the file and orders its samples by time. Damage is not an error: what lies before it is
 * loaded, and a note "damage" says so. */
int convert_load(struct profile **out, const char *path, const struct convert_options *options,
                 struct error *error);

/* Names every address: from the names stored in the file (when it has them), else from the binaries,
 * which are read in processes of their own: only while this process has one thread.
 * A binary with another build-id than the recorded one gives no names; a note "no_names" says so. */
int convert_resolve(struct profile *profile, const char *path,
                    const struct convert_options *options, struct error *error);

/* Stores the names that convert_resolve() found in the file itself, so that a copy of it on another
 * machine converts to the same names. */
int convert_store_names(const struct profile *profile, const char *path, struct error *error);
