/* SPDX-License-Identifier: MIT */
/* A file for each request of requests.h. */
#pragma once

#include "view/requests/request_fields.h"
#include "view/requests/requests.h"

/* Append a reply, or set the error. 0 or a negative errno. */
int symbolicate_answer(const struct request_context *context, const struct json_object *request,
                       struct buffer *out, struct error *error);
int source_answer(const struct request_context *context, const struct json_object *request,
                  struct buffer *out, struct error *error);
int code_answer(const struct request_context *context, const struct json_object *request,
                struct buffer *out, struct error *error);
