/* SPDX-License-Identifier: MIT */
/* The source files with text in the outputs (--embed-source), listed for users: outputs may be
 * passed on. */
#pragma once

#include "export/export.h"

#include <pthread.h>
#include <stdbool.h>

struct embedded_sources {
    pthread_mutex_t lock; /* of the lists: several threads write outputs */
    struct intern *paths, *newer;
    bool failed; /* out of memory: the list is not complete */
};

/* Makes the exporters note embedded source files here, if options has embed_source. */
void embedded_sources_open(struct embedded_sources *embedded, struct export_options *options);
/* A line with the number of files; if is_verbose, a line for each file. */
void embedded_sources_print(struct embedded_sources *embedded, bool is_verbose);
void embedded_sources_close(struct embedded_sources *embedded);
