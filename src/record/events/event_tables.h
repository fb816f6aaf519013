/* SPDX-License-Identifier: MIT */
/* Generic events of the kernel by name. */
#pragma once

#include "record/events/event_request.h"

/* name: `length` bytes. False: no such event. */
bool event_tables_find(struct event_request *request, const char *name, size_t length);
