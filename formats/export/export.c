/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "base/files/io.h"
#include "export/encoding/gzip.h"

#include <errno.h>
#include <string.h>

const struct exporter *const exporters[] = {
    &export_pprof, &export_firefox, &export_collapsed, &export_speedscope,
    &export_html,  &export_svg,     &export_perf_text, NULL,
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

/* The end of an exporter's output: an optional compressor, then the sink. */
struct outlet {
    struct gzip *gzip; /* NULL: not compressed */
    gzip_sink *sink;
    void *context;
    int err; /* of the first failure */
};

static int let_out(void *context, const void *bytes, size_t size)
{
    struct outlet *outlet = context;
    if (outlet->err == 0)
        outlet->err = outlet->gzip ? gzip_write(outlet->gzip, bytes, size)
                                   : outlet->sink(outlet->context, bytes, size);
    return outlet->err;
}

static int run(const struct exporter *exporter, const struct profile *profile,
               const struct export_options *options, struct outlet *outlet, struct error *error)
{
    struct buffer out = {.drain = let_out, .drain_context = outlet};
    int err = exporter->write(profile, options, &out, error);
    if (err == 0)
        buffer_drain(&out);
    if (err == 0 && outlet->err == 0 && outlet->gzip)
        outlet->err = gzip_finish(outlet->gzip);
    buffer_free(&out);
    if (outlet->err != 0)
        return error_set(error, outlet->err, "cannot write the %s output: %s", exporter->name,
                         strerror(-outlet->err));
    return err;
}

static int export_to(const struct exporter *exporter, const struct profile *profile,
                     const struct export_options *options, bool compress, struct outlet *outlet,
                     struct error *error)
{
    if (profile->failed)
        return error_set(error, -ENOMEM, "the profile is incomplete: memory ran out");
    int err = compress
                  ? gzip_open(&outlet->gzip, exporter->gzip_level, outlet->sink, outlet->context)
                  : 0;
    if (err != 0)
        return error_set(error, err, "not enough memory to compress the %s output", exporter->name);
    err = run(exporter, profile, options, outlet, error);
    gzip_free(outlet->gzip);
    return err;
}

static int append(void *context, const void *bytes, size_t size)
{
    struct buffer *out = context;
    buffer_append(out, bytes, size);
    return out->failed ? -ENOMEM : 0;
}

int export_to_buffer(const struct exporter *exporter, const struct profile *profile,
                     const struct export_options *options, bool compress, struct buffer *out,
                     struct error *error)
{
    struct outlet outlet = {.sink = append, .context = out};
    return export_to(exporter, profile, options, compress, &outlet, error);
}

static int write_to_fd(void *context, const void *bytes, size_t size)
{
    return io_write(*(int *)context, bytes, size);
}

int export_to_fd(const struct exporter *exporter, const struct profile *profile,
                 const struct export_options *options, bool compress, int fd, struct error *error)
{
    struct outlet outlet = {.sink = write_to_fd, .context = &fd};
    return export_to(exporter, profile, options, compress, &outlet, error);
}
