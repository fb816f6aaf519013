/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a pprof profile: one for each lib of the model, the program's own first, which readers
 * take for the program. A lib that has names for some addresses only is two, because what a mapping says
 * of names holds for all of it. Synthetic libs ("[exit]") are mappings without addresses, so that views by
 * file can name them.
 */
#pragma once

#include "export/common.h"

struct pprof_mappings {
    const struct profile *profile;
    uint32_t main_lib;
    bool *is_split; /* by lib: it has addresses with names and without */
};

/* 0 or -ENOMEM; to be closed in both cases. */
int pprof_mappings_open(struct pprof_mappings *mappings, const struct profile *profile);
void pprof_mappings_close(struct pprof_mappings *mappings);

/* The address's mapping; 0: none. */
uint64_t pprof_mapping_id(const struct pprof_mappings *mappings,
                          const struct profile_address *address);

/* Appends the profile's Mapping messages. */
void pprof_mappings_write(const struct pprof_mappings *mappings, struct text_table *texts,
                          struct buffer *out);
