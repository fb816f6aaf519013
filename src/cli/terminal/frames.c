/* SPDX-License-Identifier: MIT */
#include "cli/terminal/frames.h"

#include "base/text/log.h"
#include "base/text/path_name.h"
#include "cli/terminal/columns.h"

#include <stdio.h>
#include <string.h>

enum {
    PLACE_COLUMNS = 28,
    MODULE_COLUMNS = 24,
    NAME_COLUMNS_MIN = 30,
    NAME_COLUMNS_MAX = 100,
    OUTERMOST_SHOWN = 3,
};

struct frame_name {
    char text[1024]; /* not escaped */
};

static struct frame_name name_of(const struct profile *profile, const struct profile_frame *frame)
{
    struct frame_name name;
    snprintf(name.text, sizeof(name.text), "%.900s%s",
             profile_text(profile, profile->funcs[frame->func].name),
             frame->inline_depth ? " (inlined)" : "");
    return name;
}

static void print_frame(const struct profile *profile, const struct profile_frame *frame,
                        unsigned name_columns)
{
    char place[320] = "";
    if (frame->file != PROFILE_NONE && frame->line)
        snprintf(place, sizeof(place), "%.250s:%u", path_name(profile_text(profile, frame->file)),
                 frame->line);
    printf("    ");
    columns_print(name_of(profile, frame).text, name_columns);
    columns_print(place, PLACE_COLUMNS);
    text_print(stdout, "%s\n",
               frame->lib == PROFILE_NONE ? ""
                                          : profile_text(profile, profile->libs[frame->lib].name));
}

/* For the longest name of the stack, as far as the line has room. */
static unsigned name_columns_of(const struct profile *profile, uint32_t stack, unsigned columns)
{
    unsigned others = 4 + 2 + PLACE_COLUMNS + 2 + MODULE_COLUMNS, most = NAME_COLUMNS_MAX;
    size_t widest = NAME_COLUMNS_MIN;
    if (columns < others + most)
        most = columns > others + NAME_COLUMNS_MIN ? columns - others : NAME_COLUMNS_MIN;
    for (; stack != PROFILE_NONE; stack = profile->stacks[stack].parent) {
        size_t length =
            strlen(name_of(profile, &profile->frames[profile->stacks[stack].frame]).text);
        widest = length > widest ? length : widest;
    }
    return widest < most ? (unsigned)widest : most;
}

static size_t depth_of(const struct profile *profile, uint32_t stack)
{
    size_t depth = 0;
    for (; stack != PROFILE_NONE; stack = profile->stacks[stack].parent)
        depth++;
    return depth;
}

void frames_print(const struct profile *profile, uint32_t stack, unsigned columns, size_t most)
{
    unsigned name_columns = name_columns_of(profile, stack, columns);
    size_t depth = depth_of(profile, stack);
    size_t inner = depth > most ? most - OUTERMOST_SHOWN - 1 : depth;
    for (size_t i = 0; stack != PROFILE_NONE; stack = profile->stacks[stack].parent, i++) {
        if (i < inner || i + OUTERMOST_SHOWN >= depth)
            print_frame(profile, &profile->frames[profile->stacks[stack].frame], name_columns);
        else if (i == inner)
            printf("    … %zu calls …\n", depth - inner - OUTERMOST_SHOWN);
    }
}
