/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "cli/files/memory_limit.h"
#include "cli/options/view_options.h"
#include "cli/tables/view_table.h"
#include "cli/report/info.h"
#include "convert/convert.h"

#include <errno.h>
#include <stdio.h>

static int show(const struct view_request *request, struct error *error)
{
    struct profile *profile = NULL;
    struct info info = {0};
    const char *input = request->inputs.paths[0];
    if (request->inputs.count > 1)
        return error_set(error, -EINVAL, "more than one input: %s and %s", input,
                         request->inputs.paths[1]);
    memory_limit_begin(input, request->from.memory_bytes);
    int err = convert_load(&profile, input, &request->from, error);
    if (err)
        return err;
    err = info_build(&info, profile);
    if (err) {
        error_set(error, err, "out of memory");
    } else if (request->json) {
        struct buffer out = {0};
        info_json(&info, input, &out);
        fwrite(out.bytes, 1, out.size, stdout);
        err = out.failed ? error_set(error, -ENOMEM, "out of memory") : 0;
        buffer_free(&out);
    } else {
        info_print(&info, input);
    }
    info_free(&info);
    profile_free(profile);
    return err;
}

int cmd_info(char *const *words)
{
    return view_run(words, &info_command, show);
}
