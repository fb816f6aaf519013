/* SPDX-License-Identifier: MIT */
/* The list of source files whose text is in the outputs (--embed-source), for users before they pass the outputs on. */
#pragma once

#include "export/export.h"

#include <pthread.h>
#include <stdbool.h>

struct embedded_sources {
    pthread_mutex_t lock; /* over what follows: outputs are written in several threads */
    struct intern *paths, *newer;
    bool failed; /* out of memory: the list is not complete */
};

/* Has these options note their source files here, if they embed any. */
void embedded_sources_open(struct embedded_sources *embedded, struct export_options *options);
/* One line with the number of files, and if is_verbose one line for each. */
void embedded_sources_print(struct embedded_sources *embedded, bool is_verbose);
void embedded_sources_close(struct embedded_sources *embedded);
