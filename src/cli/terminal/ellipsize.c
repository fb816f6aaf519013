/* SPDX-License-Identifier: MIT */
#include "cli/terminal/ellipsize.h"

#include "base/text/log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "…"
enum { NAME_MAX_BYTES = 2048 };

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static unsigned width_of(const char *text)
{
    unsigned width = 0;
    for (; *text; text++)
        width += !is_continuation(*text);
    return width;
}

/* False for unpaired brackets, as in operator< and ->. */
static bool has_balanced(const char *text, char open, char close)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == open) - (*text == close);
        if (depth < 0)
            return false;
    }
    return depth == 0;
}

/* Replaces the text between outermost brackets by an ellipsis, if the ellipsis is shorter. */
static void hide_between(char *text, char open, char close)
{
    if (!has_balanced(text, open, close))
        return;
    char *out = text;
    const char *inside = text;
    int depth = 0;
    for (const char *in = text; *in; in++) {
        if (*in == close && --depth == 0) {
            size_t length = (size_t)(in - inside);
            bool is_long = length > strlen(ELLIPSIS);
            memmove(out, is_long ? ELLIPSIS : inside, is_long ? strlen(ELLIPSIS) : length);
            out += is_long ? strlen(ELLIPSIS) : length;
        }
        if (depth == 0)
            *out++ = *in;
        if (*in == open && depth++ == 0)
            inside = in + 1;
    }
    *out = '\0';
}

static void cut_at(char *text, size_t size, unsigned columns)
{
    unsigned width = 0;
    char *at = text;
    while (*at && (width + 1 < columns || is_continuation(*at))) {
        width += !is_continuation(*at);
        at++;
    }
    snprintf(at, size - (size_t)(at - text), ELLIPSIS);
}

char *ellipsize_name(char *out, size_t size, const char *name, unsigned columns)
{
    char text[NAME_MAX_BYTES];
    text_escape(text, sizeof(text) - sizeof(ELLIPSIS), name);
    if (width_of(text) > columns)
        hide_between(text, '<', '>');
    if (width_of(text) > columns)
        hide_between(text, '(', ')');
    if (width_of(text) > columns)
        cut_at(text, sizeof(text), columns);
    snprintf(out, size, "%s", text);
    return out;
}
