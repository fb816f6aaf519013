/* SPDX-License-Identifier: MIT */
#include "cli/files/inputs.h"

#include "base/containers/array.h"
#include "cli/commands/program_hint.h"
#include "cli/files/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void inputs_free(struct inputs *inputs)
{
    free(inputs->paths);
    *inputs = (struct inputs){0};
}

int inputs_add(struct inputs *inputs, const char *path, struct error *error)
{
    const char **added = ARRAY_PUSH(inputs->paths, inputs->count, inputs->capacity);
    if (!added)
        return error_set(error, -ENOMEM, "out of memory");
    *added = path;
    return 0;
}

const char *inputs_first(const struct inputs *inputs)
{
    return inputs->count ? inputs->paths[0] : NULL;
}

static bool is_same_file(const char *left, const char *right)
{
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A resolved pipe is always /dev/stdin: a second pipe would replace the first. */
static int check_repeated(const struct inputs *inputs, size_t index, struct error *error)
{
    const char *path = inputs->paths[index];
    for (size_t i = 0; i < index; i++) {
        if (!is_same_file(inputs->paths[i], path))
            continue;
        if (strcmp(path, "/dev/stdin") == 0)
            return error_set(error, -EINVAL,
                             "only one input can be a pipe: write the others to files");
        return error_set(error, -EINVAL, "%s and %s are the same file: name each capture once",
                         inputs->paths[i], path);
    }
    return 0;
}

int inputs_resolve(struct inputs *inputs, const struct command_spec *command, struct error *error)
{
    int err = 0;
    for (size_t i = 0; i < inputs->count && err == 0; i++) {
        err = input_resolve(&inputs->paths[i], error);
        if (err == 0)
            err = program_hint_check(command->name, inputs->paths[i], error);
        if (err == 0)
            err = check_repeated(inputs, i, error);
    }
    return err;
}

struct inputs_label inputs_label(const struct inputs *inputs)
{
    struct inputs_label label = {{0}};
    if (inputs->count == 1)
        snprintf(label.text, sizeof(label.text), "%s", inputs->paths[0]);
    else if (inputs->count > 1)
        snprintf(label.text, sizeof(label.text), "%.4096s and %zu other%s", inputs->paths[0],
                 inputs->count - 1, inputs->count == 2 ? "" : "s");
    return label;
}

const char *inputs_newest(const struct inputs *inputs)
{
    const char *newest = inputs_first(inputs);
    struct stat status, newest_status;
    for (size_t i = 1; i < inputs->count; i++)
        if (stat(inputs->paths[i], &status) == 0 &&
            (stat(newest, &newest_status) != 0 || status.st_mtime > newest_status.st_mtime))
            newest = inputs->paths[i];
    return newest;
}
