/* SPDX-License-Identifier: MIT */
/*
 * A copy of the sampler at a path that LD_PRELOAD can carry, one for each build:
 *
 *     PLACE/rec-sampler/HASH-OF-THE-CONTENT/librec-sampler.so
 *
 * Programs of a recording keep the path in their environment for as long as they live, also those
 * that are not recorded and outlive rec. So rec never removes a copy, and puts it where no other
 * user can take its name:
 *
 *     root         /run, /var/cache
 *     other users  $XDG_RUNTIME_DIR, $HOME/.cache
 *     else         /var/tmp/rec-sampler-UID
 *
 * In the last one the sticky bit of /var/tmp keeps the name from other users for as long as the
 * directory exists, and the copy's own keeps systemd-tmpfiles(8) from removing it.
 *
 * A place is skipped if another user can write to it or above, if programs cannot be run from it,
 * or if it is full. A copy of another owner or content is replaced.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* Whether LD_PRELOAD and the sampler can carry a path. */
bool sampler_copy_fits(const char *path);

/* Writes the copy's path. 0 or a negative errno: of the last place. */
int sampler_copy_make(char path[4096], const char *installed);

/* The places of this user, in words. */
const char *sampler_copy_places(void);
