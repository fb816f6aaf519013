/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "export/gzip.h"

#include <errno.h>
#include <string.h>

const struct exporter *const exporters[] = {
    &export_pprof, &export_firefox, &export_collapsed, &export_speedscope, NULL,
};

const struct exporter *exporter_by_name(const char *name)
{
    for (size_t i = 0; exporters[i]; i++) {
        if (strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    }
    return NULL;
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path);
    size_t tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

/* The longest: "x.speedscope.json" also ends with ".json". */
const struct exporter *exporter_by_path(const char *path, bool *compress)
{
    const struct exporter *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; exporters[i]; i++) {
        for (const char *const *suffix = exporters[i]->suffixes; *suffix; suffix++) {
            if (strlen(*suffix) > longest && ends_with(path, *suffix)) {
                longest = strlen(*suffix);
                best = exporters[i];
            }
        }
    }
    *compress = best && best->compressed_suffix && ends_with(path, best->compressed_suffix);
    return best;
}

int export_to_buffer(const struct exporter *exporter, const struct profile *profile,
                     const struct export_options *options, bool compress, struct buffer *out,
                     struct error *error)
{
    if (profile->failed)
        return error_set(error, -ENOMEM, "the profile is incomplete: memory ran out");
    if (!compress)
        return exporter->write(profile, options, out, error);
    struct buffer plain = {0};
    int err = exporter->write(profile, options, &plain, error);
    if (err == 0) {
        err = gzip_append(out, plain.bytes, plain.size, exporter->gzip_level);
        if (err != 0)
            error_set(error, err, "cannot compress the %s output: %s", exporter->name,
                      strerror(-err));
    }
    buffer_free(&plain);
    return err;
}
