/* SPDX-License-Identifier: MIT */
#include "annotate/source_text.h"

#include "convert/files/symfs.h"
#include "convert/jit/jits.h"
#include "convert/symbolize/debuginfod_source.h"
#include "export/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int source_dirs_add(struct source_dirs *dirs, const char *mapping, struct error *error)
{
    const char *equals = strchr(mapping, '=');
    if (!equals || equals[1] != '/')
        return error_set(error, -EINVAL,
                         "--source-dir needs OLD=NEW with an absolute NEW, not '%s'", mapping);
    if (dirs->count == SOURCE_DIRS_MAX)
        return error_set(error, -EINVAL, "--source-dir: more than %d", SOURCE_DIRS_MAX);
    dirs->mappings[dirs->count++] = mapping;
    return 0;
}

/* The rest of the file's path below OLD, with its slash; NULL: the path is elsewhere. An empty OLD
 * holds all paths. */
static const char *below(const char *file, const char *old, size_t length)
{
    while (length > 0 && old[length - 1] == '/')
        length--;
    if (strncmp(file, old, length) != 0 || (length && file[length] != '/'))
        return NULL;
    return file + length;
}

/* A source tree chosen by the user may be a fresh checkout: the time of its files means nothing. */
static int read_mapped(const struct source_request *request, const char *mapping,
                       struct buffer *out)
{
    const char *equals = strchr(mapping, '=');
    const char *rest = below(request->file, mapping, (size_t)(equals - mapping));
    char path[4096];
    if (!rest || (size_t)snprintf(path, sizeof(path), "%s/%s", equals + 1, rest) >= sizeof(path))
        return -ENOENT;
    return source_read_shown(path, 0, out);
}

/* A module below --symfs, and generated code, was built at an unknown time. */
static time_t time_limit(const struct source_request *request)
{
    const struct profile *profile = request->profile;
    if (request->options->symfs)
        return 0;
    bool is_generated = request->lib != PROFILE_NONE &&
                        jits_is_lib(profile_text(profile, profile->libs[request->lib].path));
    return source_build_time(profile, is_generated ? PROFILE_NONE : request->lib);
}

static int read_fetched(const struct source_request *request, struct buffer *out)
{
    struct buffer path = {0};
    if (!request->options->use_debuginfod || request->lib == PROFILE_NONE)
        return -ENOENT;
    int err = debuginfod_source(&request->profile->libs[request->lib], request->file, &path);
    if (err == 0)
        err = source_read_shown((const char *)path.bytes, 0, out);
    buffer_free(&path);
    return err;
}

static int explain(int err, const char *file, struct error *error)
{
    const char *reason = err == -ESTALE ? "changed after the program was built or recorded"
                         : err == -EINVAL && file[0] != '/' ? "relative to an unknown directory"
                         : err == -EINVAL ? "not named like source code, or not text"
                         : err == -EFBIG  ? "larger than 1 MiB"
                                          : strerror(-err);
    return error_set(error, err, "%s: %s", file, reason);
}

int source_text(const struct source_request *request, struct buffer *out, struct error *error)
{
    int err = -ENOENT;
    for (size_t i = 0; i < request->dirs->count && err; i++)
        err = read_mapped(request, request->dirs->mappings[i], out);
    if (err) {
        struct symfs_path here = symfs_path(request->options->symfs, request->file);
        err = source_read_shown(here.text, time_limit(request), out);
    }
    if (err && read_fetched(request, out) == 0)
        err = 0;
    return err ? explain(err, request->file, error) : 0;
}
