/* SPDX-License-Identifier: MIT */
/* The shared memory of the session, and the sampler's own memory. */
#pragma once

#include "sampler/base/state.h"

/* Reads what the environment says of a session, also what must not be done; false: nothing. For the constructor
 * only, as is the next one, which maps what was named, and the process' own memory; false: there is no such session. */
bool session_find(char **environment);
bool session_attach(void);
/* Maps the rings' data, if that was not done while attaching. */
bool session_map_records(void);
/* Whether the program has left that descriptor alone. */
bool session_is_still(const struct inherited *inherited);
/* Whether there is a place for records, or will be. */
bool session_has_records(void);
/* The data of the ring of a slot that the caller has claimed; NULL: there is no room for it. */
uint8_t *session_ring_data(uint32_t index);
/* Space is going to be limited: gives back what is not needed, if no other thread can be about to use it. */
void session_make_room(void);
/* Whether this is the sampler's alone, and not the program's. */
bool session_has_mapped(uint64_t start_avma, uint64_t end_avma);

/* The path of one of the launcher's descriptors. Async-signal-safe. */
#define SESSION_PATH_BYTES 48
void session_path(char path[SESSION_PATH_BYTES], uint32_t fd);
