/* SPDX-License-Identifier: MIT */
/*
 * The requests of the Firefox Profiler to its symbol server, each a JSON object in a POST:
 *
 *     /symbolicate/v5   names of addresses               from the capture
 *     /source/v1        text of a source file            annotate/source_text.h
 *     /asm/v1           instructions of a function       annotate/code.h
 *
 * Replies have status 200, failures too: {"error": "reason"}. The viewer shows other statuses as
 * network errors.
 */
#pragma once

#include "annotate/source_text.h"
#include "base/containers/buffer.h"
#include "view/requests/capture_index.h"

#include <stdbool.h>
#include <sys/types.h>

struct request_context {
    const struct capture_index *index;
    const struct convert_options *options;
    const struct source_dirs *dirs;
    uid_t owner; /* of the capture */
    bool is_att;
};

/* Appends the reply to a request with this path below the token. False: no such request. body:
 * terminated. */
bool requests_answer(const struct request_context *context, const char *path,
                     const struct buffer *body, struct buffer *out);
