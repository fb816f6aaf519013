/* SPDX-License-Identifier: MIT */
/* The machine code of a function generated at run time, from the jitdump of its process. Captures
 * hold names of such code, not the code. */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"
#include "profile/profile.h"

#include <stdint.h>
#include <sys/types.h>

struct jit_bytes_request {
    const struct profile *profile;
    uid_t owner;                         /* of the capture */
    const struct profile_symbol *symbol; /* of the code */
};

/* Appends the bytes. 0, or a negative errno and the reason. */
int jit_bytes_read(const struct jit_bytes_request *request, uint16_t *machine, struct buffer *out,
                   struct error *error);
