/* SPDX-License-Identifier: MIT */
#include "view/server/viewers.h"

#include <ctype.h>
#include <string.h>

const char *viewer_file_suffix(const struct exporter *exporter)
{
    size_t end_length = exporter->compressed_suffix ? strlen(exporter->compressed_suffix) : 0;
    for (const char *const *suffix = exporter->suffixes; end_length && *suffix; suffix++) {
        size_t length = strlen(*suffix);
        if (length > end_length &&
            strcmp(*suffix + length - end_length, exporter->compressed_suffix) == 0)
            return *suffix;
    }
    return exporter->suffixes[0];
}

/* Without slashes at the end. */
static size_t origin_length(const char *profiler)
{
    size_t length = strlen(profiler);
    while (length > 0 && profiler[length - 1] == '/')
        length--;
    return length;
}

/* As JavaScript's encodeURIComponent(). */
static void append_encoded(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
            buffer_u8(out, (uint8_t)*text);
        else
            buffer_printf(out, "%%%02X", (unsigned char)*text);
    }
}

/* Terminates the text; the caller frees the text. NULL: out of memory. */
static char *taken(struct buffer *out)
{
    buffer_u8(out, 0);
    if (out->failed) {
        buffer_free(out);
        return NULL;
    }
    return (char *)out->bytes;
}

char *viewer_firefox(const struct addresses_of_view *addresses)
{
    struct buffer out = {0}, profile = {0};
    buffer_printf(&profile, "%s/profile.json", addresses->base);
    buffer_u8(&profile, 0);
    buffer_append(&out, addresses->profiler, origin_length(addresses->profiler));
    buffer_text(&out, "/from-url/");
    if (!profile.failed)
        append_encoded(&out, (const char *)profile.bytes);
    buffer_text(&out, "/?symbolServer=");
    append_encoded(&out, addresses->base);
    out.failed |= profile.failed;
    buffer_free(&profile);
    return taken(&out);
}

char *viewer_speedscope(const struct addresses_of_view *addresses)
{
    struct buffer out = {0};
    buffer_printf(&out, "%s/speedscope/index.html#profileURL=", addresses->base);
    append_encoded(&out, addresses->base);
    append_encoded(&out, "/files/rec");
    append_encoded(&out, viewer_file_suffix(&export_speedscope));
    return taken(&out);
}

char *viewer_pprof(const struct addresses_of_view *addresses)
{
    struct buffer out = {0};
    buffer_printf(&out, "http://127.0.0.1:%u/ui/flamegraph", addresses->pprof_port);
    return taken(&out);
}

char *viewer_html(const struct addresses_of_view *addresses)
{
    struct buffer out = {0};
    buffer_printf(&out, "%s/page", addresses->base);
    return taken(&out);
}
