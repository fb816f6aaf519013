/* SPDX-License-Identifier: MIT */
/*
 * The code of a pprof profile:
 *
 *     Location ── an address of the model (id = index + 1), frames innermost first
 *     Function ── name, system name, file, line of the definition; once each
 *
 * Every location has a line with a function, even for unknown code: speedscope drops locations
 * without a line.
 */
#pragma once

#include "export/common.h"
#include "export/pprof/pprof_mappings.h"

struct pprof_locations {
    const struct profile *profile;
    struct text_table *texts;               /* borrowed */
    struct buffer *out;                     /* borrowed */
    struct intern *functions;               /* key: name, system name, file, line */
    bool no_files;                          /* see export.h */
    struct buffer function, line, location; /* messages in the making */
};

/* texts and out are borrowed. 0 or -ENOMEM; to be closed in both cases. */
int pprof_locations_open(struct pprof_locations *locations, const struct profile *profile,
                         struct text_table *texts, struct buffer *out, bool no_files);
void pprof_locations_close(struct pprof_locations *locations);

/* Appends the profile's Location and Function messages to out, which fails without memory. */
void pprof_locations_write(struct pprof_locations *locations,
                           const struct pprof_mappings *mappings);
