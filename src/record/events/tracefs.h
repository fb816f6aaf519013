/* SPDX-License-Identifier: MIT */
/* Numbers of tracepoints, also where tracefs is mounted nowhere. */
#pragma once

#include "record/events/event_request.h"

/* As event_files_tracepoint(), and of event_roots_system also by a tracefs that no other process
 * has: a mount without a place, for root. Also the negative errno of the mount. */
int tracefs_tracepoint(struct event_request *request, const struct event_roots *roots,
                       const char *system, const char *name);
