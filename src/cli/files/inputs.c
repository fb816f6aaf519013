/* SPDX-License-Identifier: MIT */
#include "cli/files/inputs.h"

#include "base/containers/array.h"
#include "base/text/log.h"
#include "cli/commands/program_hint.h"
#include "cli/files/input.h"
#include "cli/files/memory_limit.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void inputs_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->owned_count; i++)
        free(inputs->owned[i]);
    free(inputs->owned);
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

static int check_pair(const char *first, const char *second, struct error *error)
{
    if (!is_same_file(first, second))
        return 0;
    if (strcmp(second, "/dev/stdin") == 0)
        return error_set(error, -EINVAL, "only one input can be a pipe: write the others to files");
    return error_set(error, -EINVAL, "%s and %s are the same file: name each capture once", first,
                     second);
}

/* A resolved pipe is always /dev/stdin: a second pipe would replace the first. */
static int check_repeated(const struct inputs *inputs, size_t index, struct error *error)
{
    int err = 0;
    for (size_t i = 0; i < index && err == 0; i++)
        err = check_pair(inputs->paths[i], inputs->paths[index], error);
    return err;
}

int inputs_check_apart(const struct inputs *inputs, const struct inputs *others,
                       struct error *error)
{
    int err = 0;
    for (size_t i = 0; i < inputs->count; i++)
        for (size_t j = 0; j < others->count && err == 0; j++)
            err = check_pair(inputs->paths[i], others->paths[j], error);
    return err;
}

static int is_capture_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".data") == 0;
}

/* Takes ownership of the path. */
static int add_owned(struct inputs *inputs, char *path, struct error *error)
{
    char **owned =
        path ? ARRAY_PUSH(inputs->owned, inputs->owned_count, inputs->owned_capacity) : NULL;
    if (!owned) {
        free(path);
        return error_set(error, -ENOMEM, "out of memory");
    }
    *owned = path;
    return inputs_add(inputs, path, error);
}

/* A FIFO would hang, and a device could act: neither was named by the user. */
static int add_found(struct inputs *inputs, const char *directory, const char *name,
                     struct error *error)
{
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    char *path = NULL;
    struct stat status;
    if (asprintf(&path, "%s%s%s", directory, slash, name) < 0)
        path = NULL;
    if (path && stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        free(path);
        return 0;
    }
    return add_owned(inputs, path, error);
}

/* The captures of a directory, or the path itself. */
static int add_expanded(struct inputs *inputs, const char *path, struct error *error)
{
    struct dirent **entries = NULL;
    struct stat status;
    int err = 0;
    const size_t before = inputs->count;
    bool is_directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    int count = is_directory ? scandir(path, &entries, is_capture_name, alphasort) : 0;
    if (count <= 0) {
        free(entries);
        return inputs_add(inputs, path, error);
    }
    for (int i = 0; i < count; i++) {
        if (err == 0)
            err = add_found(inputs, path, entries[i]->d_name, error);
        free(entries[i]);
    }
    free(entries);
    return err || inputs->count > before ? err : inputs_add(inputs, path, error);
}

static int expand_directories(struct inputs *inputs, struct error *error)
{
    struct inputs expanded = {0};
    int err = 0;
    for (size_t i = 0; i < inputs->count && err == 0; i++)
        err = add_expanded(&expanded, inputs->paths[i], error);
    inputs_free(inputs);
    *inputs = expanded;
    return err;
}

int inputs_resolve(struct inputs *inputs, const struct command_spec *command, struct error *error)
{
    int err = expand_directories(inputs, error);
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

void inputs_log_error(const struct inputs *inputs, int err, struct error *error)
{
    if (err == -ENOMEM)
        memory_limit_explain(inputs_label(inputs).text, error);
    if (err)
        log_error("%s", error->text);
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
