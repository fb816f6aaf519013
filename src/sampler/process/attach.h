/* SPDX-License-Identifier: MIT */
/* The session's shared memory, and the memory wiped by fork. */
#pragma once

#include "sampler/base/state.h"

/* Reads the session's variable, with the forbidden calls; false: no session. For the constructor
 * only. */
bool session_find(char **environment);
/* Maps tables, requests and wiped memory; false: no such session. For the constructor only. */
bool session_attach(void);

/* Whether the program has left the descriptor alone. */
bool session_is_still(const struct inherited *inherited);

/* The path of a descriptor of the launcher. Async-signal-safe. */
#define SESSION_PATH_BYTES 48
void session_path(char path[SESSION_PATH_BYTES], uint32_t fd);
