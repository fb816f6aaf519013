/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "cli/files/confine_outputs.h"
#include "cli/files/memory_limit.h"
#include "cli/options/view_options.h"
#include "cli/tables/view_table.h"
#include "cli/report/info/info.h"
#include "convert/convert.h"

#include <errno.h>
#include <stdio.h>

static int run(struct input_request *input, struct error *error)
{
    const struct view_request *request = (struct view_request *)input;
    struct profile *profile = NULL;
    struct info info = {0};
    const char *path = inputs_first(&input->inputs);
    if (input->inputs.count > 1)
        return error_set(error, -EINVAL, "more than one input: %s and %s", path,
                         input->inputs.paths[1]);
    confine_to_outputs(NULL, input->from.use_debuginfod);
    memory_limit_begin(path, input->from.memory_bytes);
    int err = convert_load(&profile, path, &input->from, error);
    if (err)
        return err;
    err = info_build(&info, profile);
    if (err) {
        error_set(error, err, "out of memory");
    } else if (request->json) {
        struct buffer out = {0};
        info_json(&info, path, &out);
        err = out.failed ? error_set(error, -ENOMEM, "out of memory") : 0;
        if (err == 0)
            fwrite(out.bytes, 1, out.size, stdout);
        buffer_free(&out);
    } else {
        info_print(&info, path);
    }
    info_free(&info);
    profile_free(profile);
    return err;
}

int cmd_info(char *const *words)
{
    static const struct input_command command = {
        .spec = &info_command, .apply = view_option, .check = view_check, .run = run};
    struct view_request request = {.input.from.adds_samples_up = true};
    return input_command_run(&command, &request.input, words);
}
