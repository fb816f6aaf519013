/* SPDX-License-Identifier: MIT */
#include "cli/report/command_text.h"

#include "base/text/log.h"
#include "cli/options/view_options.h"

#include <stdio.h>
#include <string.h>

void command_text_print(const struct profile *profile)
{
    bool is_known = profile->command_line != PROFILE_NONE;
    char line[200], clean[200];
    view_one_line(line, sizeof(line),
                  profile_text(profile, is_known ? profile->command_line : profile->product));
    bool is_cut = strlen(line) == sizeof(line) - 1;
    printf("%s%s\n", text_escape(clean, sizeof(clean), line), is_cut ? "…" : "");
}
