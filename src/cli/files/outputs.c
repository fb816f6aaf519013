/* SPDX-License-Identifier: MIT */
#include "cli/files/outputs.h"

#include "base/containers/array.h"
#include "base/files/out_file.h"
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void outputs_free(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        free(outputs->items[i].path);
    free(outputs->items);
    for (size_t i = 0; i < outputs->directory_count; i++)
        free(outputs->directories[i]);
    free(outputs->directories);
    free(outputs->capture);
    *outputs = (struct outputs){0};
}

bool outputs_have_times(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->items[i].exporter->has_times)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static int out_of_memory(struct error *error)
{
    return error_set(error, -ENOMEM, "out of memory");
}

static int add_exported(struct outputs *outputs, const char *path, const struct exporter *exporter,
                        bool compress, struct error *error)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (strcmp(outputs->items[i].path, path) == 0)
            return 0;
    char *copy = strdup(path);
    struct output *output =
        copy ? ARRAY_PUSH(outputs->items, outputs->count, outputs->capacity) : NULL;
    if (!output) {
        free(copy);
        return out_of_memory(error);
    }
    *output = (struct output){.path = copy, .exporter = exporter, .compress = compress};
    return 0;
}

static int set_capture(struct outputs *outputs, const char *path, struct error *error)
{
    if (outputs->capture)
        return strcmp(outputs->capture, path) == 0
                   ? 0
                   : error_set(error, -EINVAL, "-o names two captures: %s and %s", outputs->capture,
                               path);
    outputs->capture = strdup(path);
    return outputs->capture ? 0 : out_of_memory(error);
}

int outputs_add_usual(struct outputs *outputs, const char *directory, bool with_capture,
                      struct error *error)
{
    char path[4096];
    int err = 0;
    if (strlen(directory) > sizeof(path) - 64)
        return error_set(error, -ENAMETOOLONG, "the name %.40s… is too long", directory);
    static const char *const usual[] = {"rec.pb.gz", "rec.json.gz", "rec.folded"};
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) && !err; i++) {
        snprintf(path, sizeof(path), "%s%s", directory, usual[i]);
        bool compress = false;
        const struct exporter *exporter = exporter_by_path(path, &compress);
        err = add_exported(outputs, path, exporter, compress, error);
    }
    snprintf(path, sizeof(path), "%s%s", directory, CAPTURE_DEFAULT);
    return err || !with_capture ? err : set_capture(outputs, path, error);
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int add_new_directory(struct outputs *outputs, const char *path, struct error *error)
{
    char *copy = strdup(path);
    char **directory = copy ? ARRAY_PUSH(outputs->directories, outputs->directory_count,
                                         outputs->directory_capacity)
                            : NULL;
    if (!directory) {
        free(copy);
        return out_of_memory(error);
    }
    *directory = copy;
    return 0;
}

/* -o DIR/, or DIR without a slash if the directory exists. */
static int add_directory(struct outputs *outputs, const char *name, bool with_capture,
                         struct error *error)
{
    char directory[4096];
    int length =
        snprintf(directory, sizeof(directory), "%s%s", name, ends_with(name, "/") ? "" : "/");
    if ((size_t)length >= sizeof(directory))
        return error_set(error, -ENAMETOOLONG, "the name %.40s… is too long", name);
    int err = is_directory(directory) ? 0 : add_new_directory(outputs, directory, error);
    return err ? err : outputs_add_usual(outputs, directory, with_capture, error);
}

int outputs_add_recorded(struct outputs *outputs, const char *name, struct error *error)
{
    if (name[0] == '\0')
        return error_set(error, -EINVAL, "-o needs a name");
    if (strcmp(name, "-") == 0)
        return error_set(
            error, -EINVAL,
            "-o -: standard output belongs to the recorded command; use `rec convert`");
    if (ends_with(name, "/") || is_directory(name))
        return add_directory(outputs, name, true, error);
    bool compress = false;
    const struct exporter *exporter = exporter_by_path(name, &compress);
    if (exporter)
        return add_exported(outputs, name, exporter, compress, error);
    return set_capture(outputs, name, error);
}

int outputs_add_run(struct outputs *outputs, const char *name, unsigned long run,
                    struct error *error)
{
    char path[4096];
    const char *slash = ends_with(name, "/") ? "" : "/";
    int length = snprintf(path, sizeof(path), "%s%srun-%02lu.data", name, slash, run);
    if ((size_t)length >= sizeof(path))
        return error_set(error, -ENAMETOOLONG, "the name %.40s… is too long", name);
    int err = is_directory(name) ? 0 : add_new_directory(outputs, name, error);
    return err ? err : set_capture(outputs, path, error);
}

/* ".pb.gz, .pb, …" of every exporter. */
static void list_suffixes(char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; exporters[i]; i++)
        for (const char *const *suffix = exporters[i]->suffixes; *suffix && used < size; suffix++)
            used += (size_t)snprintf(list + used, size - used, "%s%s", used ? " " : "", *suffix);
}

int outputs_add_converted(struct outputs *outputs, const char *name, struct error *error)
{
    if (name[0] == '\0')
        return error_set(error, -EINVAL, "-o needs a name");
    if (ends_with(name, "/") || is_directory(name))
        return add_directory(outputs, name, false, error);
    bool compress = false;
    const struct exporter *exporter = exporter_by_path(name, &compress);
    if (exporter)
        return add_exported(outputs, name, exporter, compress, error);
    char suffixes[256];
    list_suffixes(suffixes, sizeof(suffixes));
    return error_set(error, -EINVAL, "%s: unknown suffix; use %s", name, suffixes);
}

int outputs_add_difference(struct outputs *outputs, const char *name, struct error *error)
{
    bool compress = false;
    const struct exporter *exporter = exporter_by_path(name, &compress);
    if (exporter && exporter->has_diff)
        return add_exported(outputs, name, exporter, compress, error);
    return error_set(error, -EINVAL,
                     "%s: no format for differences; use .html, .svg, .folded, .pb.gz or .json.gz",
                     name);
}

/* The start of the longest known suffix; without a known suffix the end of the name. */
static size_t suffix_start(const char *path)
{
    size_t longest = ends_with(path, ".data") ? strlen(".data") : 0;
    for (size_t i = 0; exporters[i]; i++)
        for (const char *const *suffix = exporters[i]->suffixes; *suffix; suffix++)
            if (ends_with(path, *suffix) && strlen(*suffix) > longest)
                longest = strlen(*suffix);
    return strlen(path) - longest;
}

static int make_private(char **path, struct error *error)
{
    char *changed = NULL;
    size_t start = suffix_start(*path);
    if (asprintf(&changed, "%.*s.%d%s", (int)start, *path, (int)getpid(), *path + start) < 0)
        return out_of_memory(error);
    free(*path);
    *path = changed;
    return 0;
}

int outputs_make_private(struct outputs *outputs, struct error *error)
{
    int err = outputs->capture ? make_private(&outputs->capture, error) : 0;
    for (size_t i = 0; i < outputs->count && !err; i++)
        err = make_private(&outputs->items[i].path, error);
    return err;
}

static int make_directory(const char *name, const struct sudo_owner *owner, struct error *error)
{
    struct output_path path;
    int err = output_path_open(&path, name, error);
    if (err)
        return err;
    /* As the files: with umask 0, other users could replace a capture between two commands. */
    if (mkdirat(path.directory, path.name, 0755) == 0)
        sudo_owner_give_directory(owner, path.directory, path.name);
    else if (errno != EEXIST)
        err = error_set(error, -errno, "cannot create the directory %s: %s", name, strerror(errno));
    output_path_close(&path);
    return err;
}

int outputs_prepare(const struct outputs *outputs, const struct sudo_owner *owner,
                    struct error *error)
{
    int err = 0;
    for (size_t i = 0; i < outputs->directory_count && !err; i++)
        err = make_directory(outputs->directories[i], owner, error);
    if (!err && outputs->capture)
        err = out_check(outputs->capture, sudo_owner_uid(owner), error);
    for (size_t i = 0; i < outputs->count && !err; i++)
        err = out_check(outputs->items[i].path, sudo_owner_uid(owner), error);
    return err;
}
