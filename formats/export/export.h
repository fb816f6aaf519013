/* SPDX-License-Identifier: MIT */
/*
 * Output formats: one file a format, one table of operations. An exporter reads the resolved
 * profile and appends bytes, of which it may look at the last one; they leave as they become many.
 * No exporter knows where the profile is from.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct export_options {
    bool annotate;    /* collapsed: "_[k]" behind names in the kernel, "_[j]" JIT, "_[i]" inlined */
    bool addresses;   /* collapsed: code without a name by its address, not all of a file as one */
    bool short_names; /* collapsed: without template arguments and parameters */
    bool
        embed_source; /* firefox: the text of source files that the reader may read (export/source.h) */
    /* Called for each of these files, in the thread that writes; NULL: not at all. result: 0, -ESTALE (written after the
     * program was built or recorded: left out), or another negative errno. */
    void (*note_source)(void *context, const char *path, int result);
    void *note_source_context;
    /* Collapsed: a stack begins with its process and thread, "app-7;worker-8". */
    bool threads_apart;
};

struct exporter {
    const char *name;              /* for --format */
    const char *description;       /* one line, for help and for the list of written files */
    const char *const *suffixes;   /* NULL-terminated; ".pb.gz", … the first is the usual one */
    const char *compressed_suffix; /* output is gzipped when the file name ends so, or NULL */
    int gzip_level;                /* 1 (fast) to 9 */
    bool has_one_event;            /* the format has one weight: the main event's is written */
    bool has_times;                /* of samples: those of the profile must not be added up */
    int (*write)(const struct profile *profile, const struct export_options *options,
                 struct buffer *out, struct error *error);
};

extern const struct exporter export_pprof;
extern const struct exporter export_firefox;
extern const struct exporter export_collapsed;
extern const struct exporter export_speedscope;
extern const struct exporter export_perf_text;

/* Periods of CPU time, or samples of other events, in one row of the Firefox file; 1 unless the
 * file would be too large for a browser. */
uint64_t export_firefox_thinning(const struct profile *profile);

/* All of them, NULL-terminated, in the order of help. */
extern const struct exporter *const exporters[];

const struct exporter *exporter_by_name(const char *name);
/* By the longest suffix that the path ends with; *compress: the output is to be gzipped. */
const struct exporter *exporter_by_path(const char *path, bool *compress);

/* Runs the exporter into the buffer, gzipped if asked. */
int export_to_buffer(const struct exporter *exporter, const struct profile *profile,
                     const struct export_options *options, bool compress, struct buffer *out,
                     struct error *error);

/* The same, written as it is made: what 128 KiB hold is all of the output that is in memory. */
int export_to_fd(const struct exporter *exporter, const struct profile *profile,
                 const struct export_options *options, bool compress, int fd, struct error *error);
