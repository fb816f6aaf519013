/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/symbolize_notes.h"

#include <stdio.h>
#include <string.h>

void symbolize_notes_add(struct profile *profile, const struct symbolize_range *ranges,
                         size_t count)
{
    enum { NOTES_MAX = 32 };
    const size_t end = profile->note_count + NOTES_MAX;
    const char *left_out = NULL;
    size_t left_out_count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *note = ranges[i].note;
        if (!note)
            continue;
        if (profile->note_count < end) {
            profile_add_note(profile, "no_names", note);
        } else if (!left_out || strcmp(note, left_out) != 0) {
            left_out = note;
            left_out_count++;
        }
    }
    if (left_out_count > 0) {
        char more[64];
        snprintf(more, sizeof(more), "and %zu more files or parts of files", left_out_count);
        profile_add_note(profile, "no_names", more);
    }
}
