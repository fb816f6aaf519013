/* SPDX-License-Identifier: MIT */
#include "view/page/index_page.h"

#include "base/text/utf8.h"
#include "export/export.h"

#include <stdlib.h>

/* Text of captures is foreign. */
static void append_text(struct buffer *out, const char *text)
{
    struct buffer clean = {0};
    utf8_append_line(&clean, text);
    buffer_u8(&clean, 0);
    for (const char *at = clean.failed ? "" : (const char *)clean.bytes; *at; at++) {
        if (*at == '<')
            buffer_text(out, "&lt;");
        else if (*at == '>')
            buffer_text(out, "&gt;");
        else if (*at == '&')
            buffer_text(out, "&amp;");
        else if (*at == '"')
            buffer_text(out, "&quot;");
        else
            buffer_u8(out, (uint8_t)*at);
    }
    buffer_free(&clean);
}

static void append_link(struct buffer *out, char *url, const char *name, const char *about)
{
    buffer_text(out, "<tr><td><a href=\"");
    append_text(out, url ? url : "");
    buffer_printf(out, "\">%s</a></td><td>%s</td></tr>\n", name, about);
    out->failed |= !url;
    free(url);
}

static void append_viewers(struct buffer *out, const struct addresses_of_view *addresses)
{
    buffer_text(out, "<h2>Viewers</h2>\n<table>\n");
    append_link(out, viewer_firefox(addresses), "Firefox Profiler",
                "Time line, call tree, flame graph, source and assembly. The browser requests "
                "permission for access to this machine.");
    buffer_text(out, "<tr><td><button id=\"hand-over\" data-profiler=\"");
    append_text(out, addresses->profiler);
    buffer_text(out,
                "\">Hand over</button></td><td>The same without access to this machine: this "
                "page sends the profile to the new window. <span id=\"state\"></span></td></tr>\n");
    append_link(out, viewer_html(addresses), "Web page",
                "Flame graph, functions, callers and callees.");
    if (addresses->has_speedscope)
        append_link(out, viewer_speedscope(addresses), "speedscope",
                    "Time order, left heavy, sandwich.");
    if (addresses->pprof_port)
        append_link(out, viewer_pprof(addresses), "pprof",
                    "Flame graph, top, peek; other users of this machine can open the page.");
    else
        buffer_text(out, "<tr><td>pprof</td><td><code>rec view --pprof</code>, or <code>go tool "
                         "pprof -http=localhost:8000 rec.pb.gz</code> with the flame graph at "
                         "<code>/ui/flamegraph</code>.</td></tr>\n");
    buffer_text(out, "</table>\n");
}

static void append_files(struct buffer *out)
{
    buffer_text(out, "<h2>Files</h2>\n<table>\n");
    for (size_t i = 0; exporters[i]; i++) {
        const char *suffix = viewer_file_suffix(exporters[i]);
        buffer_printf(out, "<tr><td><a href=\"files/rec%s\">rec%s</a></td><td>", suffix, suffix);
        append_text(out, exporters[i]->description);
        buffer_text(out, "</td></tr>\n");
    }
    buffer_text(out, "</table>\n");
}

void index_page_write(const struct profile *profile, const char *capture,
                      const struct addresses_of_view *addresses, struct buffer *out)
{
    bool has_command = profile->command_line != PROFILE_NONE;
    buffer_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    append_text(out, profile_text(profile, profile->product));
    buffer_text(out,
                " – rec</title>\n<link rel=\"stylesheet\" href=\"index.css\">\n</head>\n<body>\n"
                "<h1>");
    append_text(out, profile_text(profile, profile->product));
    buffer_text(out, "</h1>\n<p class=\"about\">");
    append_text(out, capture);
    buffer_text(out, "</p>\n<p class=\"about\"><code>");
    append_text(out, profile_text(profile, has_command ? profile->command_line : profile->product));
    buffer_text(out, "</code></p>\n");
    append_viewers(out, addresses);
    append_files(out);
    buffer_text(out, "<script src=\"index.js\"></script>\n</body>\n</html>\n");
}
