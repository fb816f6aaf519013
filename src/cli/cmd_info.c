/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include "base/say.h"
#include "cli/help.h"
#include "cli/info.h"
#include "cli/input.h"
#include "cli/view_options.h"
#include "convert/load.h"

#include <errno.h>
#include <stdio.h>

static int show(const struct view_request *request, struct error *error)
{
    struct profile *profile = NULL;
    struct info info = {0};
    int err = convert_load(&profile, request->input, &request->from, error);
    if (err)
        return err;
    err = info_build(&info, profile);
    if (err) {
        error_set(error, err, "out of memory");
    } else if (request->json) {
        struct buffer out = {0};
        info_json(&info, request->input, &out);
        fwrite(out.bytes, 1, out.size, stdout);
        err = out.failed ? error_set(error, -ENOMEM, "out of memory") : 0;
        buffer_free(&out);
    } else {
        info_print(&info, request->input);
    }
    info_free(&info);
    profile_free(profile);
    return err;
}

int cmd_info(char *const *words)
{
    struct view_request request;
    struct error error = {{0}};
    int err = view_request_parse(&request, words, &error);
    if (!err && request.help)
        help_print_command(stdout, "info");
    else if (!err && (err = input_settle(&request.input, &error)) == 0)
        err = show(&request, &error);
    if (err)
        say_failure("%s", error.text);
    cut_free(&request.from.cut);
    return err ? STATUS_FAILED : STATUS_OK;
}
