/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/text/log.h"
#include "cli/tables/command_table.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/options/record/recorder_names.h"
#include "cli/report/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int parse(struct list_request *request, char *const *words, struct error *error)
{
    struct options options = options_of(words, list_command.options);
    const char *value;
    int id;
    while ((id = options_next(&options, &value, error)) > 0) {
        if (id == OPTIONS_HELP) {
            request->help = true;
            return 0;
        }
        if (id == LIST_JSON) {
            request->json = true;
            continue;
        }
        const struct recorder *recorder =
            recorder_names_find(value, "; to record the program list: `rec -- list …`", error);
        if (!recorder)
            return -EINVAL;
        request->named[recorder - recorders] = true;
        request->has_names = true;
    }
    return id;
}

static int print_json(const struct list_request *request)
{
    struct buffer out = {0};
    list_json(request, &out);
    if (!out.failed)
        fwrite(out.bytes, 1, out.size, stdout);
    else
        log_error("out of memory");
    int status = out.failed ? STATUS_FAILED : STATUS_OK;
    buffer_free(&out);
    return status;
}

int cmd_list(char *const *words)
{
    struct list_request request = {0};
    struct error error = {{0}};
    if (parse(&request, words, &error) != 0) {
        log_error("%s", error.text);
        return STATUS_FAILED;
    }
    if (request.help) {
        help_print_command(stdout, &list_command);
        return STATUS_OK;
    }
    record_probe(&request.probe);
    if (request.json)
        return print_json(&request);
    list_print(&request);
    return STATUS_OK;
}
