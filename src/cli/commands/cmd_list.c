/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/text/log.h"
#include "cli/tables/command_table.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/report/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse_unknown(const char *name, struct error *error)
{
    const char *ids[RECORDERS + 1] = {NULL};
    char all[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < RECORDERS; i++) {
        ids[i] = recorders[i].id;
        if (used < sizeof(all))
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", ids[i]);
    }
    const char *nearest = options_nearest(name, ids);
    if (nearest)
        return error_set(error, -EINVAL, "unknown recorder '%s': did you mean %s?", name, nearest);
    return error_set(error, -EINVAL,
                     "unknown recorder '%s': available names: %s; to record a program called list: "
                     "rec -- list ...",
                     name, all);
}

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
        const struct recorder *recorder = recorder_find(value);
        if (!recorder)
            return refuse_unknown(value, error);
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
