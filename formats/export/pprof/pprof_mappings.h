/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a pprof profile: one per lib of the model, starting with the program's own,
 * because readers take the first mapping for the program. A lib with names for some addresses has
 * two mappings: a mapping's flags hold for all of its addresses. Synthetic libs ("[exit]") are
 * mappings without addresses, for views by file.
 */
#pragma once

#include "export/common.h"

struct pprof_mappings {
    const struct profile *profile;
    uint32_t main_lib; /* PROFILE_NONE: the first mapping has the program's name alone */
    bool no_files;     /* see export.h */
    bool *is_split;    /* by lib: has named and unnamed addresses */
};

/* 0 or -ENOMEM; to be closed in both cases. */
int pprof_mappings_open(struct pprof_mappings *mappings, const struct profile *profile,
                        bool no_files);
void pprof_mappings_close(struct pprof_mappings *mappings);

/* The address's mapping; 0: none. */
uint64_t pprof_mapping_id(const struct pprof_mappings *mappings,
                          const struct profile_address *address);

/* Appends the profile's Mapping messages. */
void pprof_mappings_write(const struct pprof_mappings *mappings, struct text_table *texts,
                          struct buffer *out);
