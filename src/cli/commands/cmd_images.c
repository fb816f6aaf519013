/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/text/log.h"
#include "cli/commands/program_hint.h"
#include "cli/options/help.h"
#include "cli/options/snapshot_options.h"
#include "cli/snapshot/images_print.h"
#include "cli/tables/snapshot_table.h"

#include <stdio.h>

static int show(const struct snapshot_options *options, pid_t pid)
{
    struct error error = {{0}};
    struct image_list *list = image_list_take(pid, options->limit_ns, &error);
    struct buffer out = {0};
    if (!list) {
        log_error("%s", error.text);
        return STATUS_FAILED;
    }
    if (options->json)
        images_json(list, pid, &out);
    else
        images_print(list, pid);
    if (!out.failed && out.size)
        fwrite(out.bytes, 1, out.size, stdout);
    buffer_free(&out);
    image_list_free(list);
    return STATUS_OK;
}

int cmd_images(char *const *words)
{
    struct snapshot_options options;
    struct error error = {{0}};
    int status = STATUS_OK;
    if (snapshot_options_parse(&options, words, &images_command, &error) != 0) {
        program_hint_append(images_command.name, words[0], &error);
        log_error("%s", error.text);
        status = STATUS_FAILED;
    } else if (options.help) {
        help_print_command(stdout, &images_command);
    } else {
        for (size_t i = 0; i < options.targets.count; i++)
            status = show(&options, options.targets.ids[i]) == STATUS_OK ? status : STATUS_FAILED;
    }
    snapshot_options_free(&options);
    return status;
}
