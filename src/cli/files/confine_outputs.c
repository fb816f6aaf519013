/* SPDX-License-Identifier: MIT */
#include "cli/files/confine_outputs.h"

#include "base/files/output_path.h"
#include "base/sandbox/confine_conversion.h"
#include "base/text/log.h"
#include "convert/symbolize/debuginfod_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds to the directories; a failure is left to the writing of the output. */
static size_t open_directories(int *directories, size_t count, const struct outputs *outputs)
{
    for (size_t i = 0; outputs && i < outputs->count; i++) {
        struct output_path path;
        if (output_path_open(&path, outputs->items[i].path, NULL) == 0)
            directories[count++] = path.directory;
    }
    return count;
}

void confine_to_recording(const struct outputs *outputs, int capture_directory, bool use_debuginfod)
{
    size_t most = outputs ? outputs->count : 0;
    int err = use_debuginfod ? debuginfod_client_start() : 0;
    if (err)
        log_error("--debuginfod: cannot start the client: %s", strerror(-err));
    err = -ENOMEM;
    int *directories = calloc(most + 1, sizeof(*directories));
    if (directories) {
        size_t held = capture_directory >= 0;
        directories[0] = capture_directory;
        size_t count = open_directories(directories, held, outputs);
        err = confine_conversion(directories, count);
        while (count > held) {
            struct output_path path = {.directory = directories[--count]};
            output_path_close(&path);
        }
    }
    free(directories);
    if (err)
        log_error("the conversion is not confined: %s; see `rec doctor`", strerror(-err));
}

void confine_to_outputs(const struct outputs *outputs, bool use_debuginfod)
{
    confine_to_recording(outputs, -1, use_debuginfod);
}
