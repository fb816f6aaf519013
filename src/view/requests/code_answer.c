/* SPDX-License-Identifier: MIT */
#include "view/requests/requests_parts.h"

#include "annotate/code.h"
#include "export/encoding/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* NULL: no function of the capture. */
static const struct profile_symbol *find(const struct request_context *context, const char *name,
                                         const char *id, uint64_t start)
{
    const struct capture_index *index = context->index;
    uint32_t lib = capture_index_lib(index, name, id);
    uint32_t symbol = lib == PROFILE_NONE ? lib : capture_index_symbol(index, lib, start);
    return symbol == PROFILE_NONE ? NULL : &index->profile->symbols[symbol];
}

static void member_hex(struct buffer *out, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    json_member_string(out, key, text);
}

/* Each instruction: the distance from the start, then a text for each syntax. */
static void append_instructions(const struct code *code, uint64_t svma, struct buffer *out)
{
    json_key(out, "instructions");
    json_open(out, '[');
    for (size_t i = 0; i < code->count; i++) {
        json_open(out, '[');
        json_unsigned(out, code->lines[i].svma - svma);
        json_string(out, code->lines[i].text);
        json_close(out, ']');
    }
    json_close(out, ']');
}

static void append_code(const struct request_context *context, const struct code *code,
                        const struct profile_symbol *symbol, uint64_t start, struct buffer *out)
{
    const struct code_line *last = code->count ? &code->lines[code->count - 1] : NULL;
    json_open(out, '{');
    member_hex(out, "startAddress", start);
    member_hex(out, "size", last ? last->svma + last->bytes - symbol->svma : 0);
    json_member_string(out, "arch", code->machine);
    json_key(out, "syntax");
    json_open(out, '[');
    json_string(out, context->is_att ? "AT&T" : "Intel");
    json_close(out, ']');
    append_instructions(code, symbol->svma, out);
    json_close(out, '}');
}

int code_answer(const struct request_context *context, const struct json_object *request,
                struct buffer *out, struct error *error)
{
    const struct profile *profile = context->index->profile;
    const char *name = field_string(request, "debugName"), *id = field_string(request, "debugId");
    uint64_t start, bytes;
    if (!name || !id || !field_address(request, "startAddress", &start) ||
        !field_address(request, "size", &bytes))
        return error_set(error, -EINVAL, "the request lacks a member");
    const struct profile_symbol *symbol = find(context, name, id, start);
    if (!symbol)
        return error_set(error, -ENOENT, "no function of the capture starts at this address");
    const struct code_request wanted = {.profile = profile,
                                        .options = context->options,
                                        .owner = context->owner,
                                        .lib = symbol->lib,
                                        .svma = symbol->svma,
                                        .bytes = symbol->bytes ? symbol->bytes : bytes,
                                        .symbol = (uint32_t)(symbol - profile->symbols),
                                        .is_open_ended = symbol->bytes == 0,
                                        .is_att = context->is_att};
    struct code code;
    int err = code_read(&code, &wanted, error);
    if (err)
        return err;
    append_code(context, &code, symbol, start, out);
    code_free(&code);
    return 0;
}
