/* SPDX-License-Identifier: MIT */
#include "view/requests/requests_parts.h"

#include "export/encoding/json.h"

#include <string.h>

static const struct {
    const char *path;
    int (*answer)(const struct request_context *context, const struct json_object *request,
                  struct buffer *out, struct error *error);
} kinds[] = {
    {"symbolicate/v5", symbolicate_answer},
    {"source/v1", source_answer},
    {"asm/v1", code_answer},
};

static void write_error(const char *text, struct buffer *out)
{
    buffer_clear(out);
    json_open(out, '{');
    json_member_string(out, "error", text);
    json_close(out, '}');
}

bool requests_answer(const struct request_context *context, const char *path,
                     const struct buffer *body, struct buffer *out)
{
    struct error error = {{0}};
    size_t kind = 0;
    while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind].path, path) != 0)
        kind++;
    if (kind == sizeof(kinds) / sizeof(kinds[0]))
        return false;
    struct json_object *request = fields_parse(body);
    if (!request)
        write_error("the request is not a JSON object", out);
    else if (kinds[kind].answer(context, request, out, &error) != 0)
        write_error(error.text[0] ? error.text : "out of memory", out);
    fields_free(request);
    return true;
}
