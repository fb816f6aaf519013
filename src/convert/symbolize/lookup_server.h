/* SPDX-License-Identifier: MIT */
/*
 * What the process of lookup_ahead.h does. It opens the libs that it is told of, names addresses as they come, and answers
 * with the same as lookup_piece.h does, lib by lib.
 */
#pragma once

#include "base/containers/buffer.h"
#include "convert/options.h"
#include "convert/symbolize/lib_symbols.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

enum { LOOKUP_SERVER_LIBS = 64 }; /* the first ones of the profile; all are open at once */

struct lookup_question {
    uint32_t lib;
    uint32_t zero;
    uint64_t svma;
};

struct lookup_server {
    struct profile *profile; /* of libs only */
    const struct convert_options *options;
    struct lib_symbols **libs; /* by the asker's number; NULL: not told of */
};

/* options are borrowed. 0 or -ENOMEM. */
int lookup_server_init(struct lookup_server *server, const struct convert_options *options);
/* One that was told of nothing: the process that is told ends with all that it has. */
void lookup_server_free(struct lookup_server *server);

/* Writes the message that tells of a lib, before questions about it are asked. Returns its size; 0: it is too long. */
size_t lookup_server_lib(uint8_t *message, uint32_t lib, const char *path, const uint8_t *build_id,
                         size_t build_id_bytes);

/* context: the server. The message is a lib, or questions, which no two are the same of. */
void lookup_server_take(void *context, const void *message, size_t size);

/* Of each lib: its number, the answer's size, the answer. */
void lookup_server_finish(void *context, struct buffer *answer);
