/* SPDX-License-Identifier: MIT */
/*
 * A copy of the sampler at a path suitable for LD_PRELOAD, one for each build:
 *
 *     PLACE/rec-sampler/HASH-OF-THE-CONTENT/librec-sampler.so
 *
 * Programs of a recording keep the path in their environment as long as they live, including
 * unrecorded programs and programs outliving rec. rec therefore never removes a copy, and chooses a
 * place with names protected from other users:
 *
 *     root         /run, /var/cache
 *     other users  $XDG_RUNTIME_DIR, $HOME/.cache
 *     else         /var/tmp/rec-sampler-UID
 *
 * In /var/tmp the sticky bit of the directory protects the name from other users as long as
 * rec-sampler-UID exists, and the sticky bit of the copy keeps systemd-tmpfiles(8) from removing
 * the copy.
 *
 * A place is skipped if another user can write to the directory or above, if the mount forbids
 * execution, or if the place is full. A copy of another owner or content is replaced.
 */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>

/* Whether LD_PRELOAD and the sampler can hold the path. */
bool sampler_copy_fits(const char *path);

/* Writes the copy and its path. 0, or the negative errno of the last place. */
int sampler_copy_make(char path[4096], const char *installed);

/* The places of this user, for messages. */
const char *sampler_copy_places(void);
