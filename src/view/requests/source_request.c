/* SPDX-License-Identifier: MIT */
/* A file is named by the request, but read only if debug info names the same file at an address of
 * the capture. */
#include "view/requests/requests_parts.h"

#include "export/encoding/json.h"

#include <errno.h>
#include <string.h>

/* Whether a frame of the address has a line of the file. */
static bool has_file(const struct profile *profile, const struct profile_address *address,
                     const char *file)
{
    for (uint32_t i = 0; address && i < address->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[address->first_frame + i];
        if (frame->file != PROFILE_NONE && strcmp(profile_text(profile, frame->file), file) == 0)
            return true;
    }
    return false;
}

static uint32_t lib_with_file(const struct request_context *context, const char *name,
                              const char *id, uint64_t offset, const char *file)
{
    const struct capture_index *index = context->index;
    uint32_t lib = capture_index_lib(index, name, id);
    for (; lib != PROFILE_NONE; lib = index->next[lib]) {
        uint64_t svma = index->profile->libs[lib].base_svma + offset;
        if (has_file(index->profile, capture_index_address(index, lib, svma), file))
            break;
    }
    return lib;
}

int source_answer(const struct request_context *context, const struct json_object *request,
                  struct buffer *out, struct error *error)
{
    const char *name = field_string(request, "debugName"), *id = field_string(request, "debugId");
    const char *file = field_string(request, "file");
    uint64_t offset;
    if (!name || !id || !file || !field_address(request, "moduleOffset", &offset))
        return error_set(error, -EINVAL, "the request lacks a member");
    const struct source_request source = {.profile = context->index->profile,
                                          .options = context->options,
                                          .dirs = context->dirs,
                                          .lib = lib_with_file(context, name, id, offset, file),
                                          .file = file};
    if (source.lib == PROFILE_NONE)
        return error_set(error, -EACCES, "no code of the capture at this address is from the file");
    struct buffer text = {0};
    int err = source_text(&source, &text, error);
    if (err == 0) {
        json_open(out, '{');
        json_member_null(out, "symbolsLastModified");
        json_member_null(out, "sourceLastModified");
        json_member_string(out, "file", file);
        json_member_string(out, "source", (const char *)text.bytes);
        json_close(out, '}');
    }
    buffer_free(&text);
    return err;
}
