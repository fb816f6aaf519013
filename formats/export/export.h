/* SPDX-License-Identifier: MIT */
/*
 * Output formats: a file for each format, a table of operations. An exporter reads the symbolized
 * profile and appends bytes to a buffer with a drain; only the last byte stays readable. Exporters
 * do not depend on the source of the profile.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Two sides in one profile (profile/merge.h), with weights for each run: the base's threads are in
 * front of the new side's threads. Functions of both sides are one function.
 */
enum export_change { EXPORT_SAME, EXPORT_CHANGED, EXPORT_ADDED };

struct export_removed { /* a function without weight on the new side */
    const char *name, *module;
    double weight; /* for each run of the base */
};

struct export_diff {
    uint32_t first_new_thread;
    uint32_t base_runs, new_runs;
    const uint8_t *changes; /* enum export_change, by function of the profile */
    bool of_total;          /* changes are of functions with their callees, else of self weights */
    const struct export_removed *removed;
    size_t removed_count;
};

static inline bool export_is_base(const struct export_diff *diff, uint32_t thread)
{
    return diff && thread < diff->first_new_thread;
}

struct export_options {
    const struct export_diff *diff; /* NULL: a profile of one side */
    bool annotate;    /* collapsed: "_[k]" behind names in the kernel, "_[j]" JIT, "_[i]" inlined */
    bool addresses;   /* collapsed: addresses of unnamed code, instead of the lib's name */
    bool short_names; /* collapsed: without template arguments and parameters */
    bool embed_source; /* firefox: the text of source files readable by the caller
                       * (export/source.h) */
    /* Called for each source file, in the writing thread; may be NULL. result: 0, -ESTALE
     * (modified after the build or the recording: left out), or another negative errno. */
    void (*note_source)(void *context, const char *path, int result);
    void *note_source_context;
    /* Collapsed: start stacks with process and thread, "app-7;worker-8". */
    bool threads_apart;
    bool no_files; /* pprof: no names of source files and of mapped files, for pprof's server:
                    * the server opens these files, and other users can request any page */
};

struct exporter {
    const char *name;              /* for --format */
    const char *description;       /* a line, for help and the list of written files */
    const char *const *suffixes;   /* NULL-terminated; ".pb.gz", …; the usual suffix first */
    const char *compressed_suffix; /* output is gzipped when the file name ends so, or NULL */
    int gzip_level;                /* 1 (fast) to 9 */
    bool has_one_event;            /* a single weight: the main event's */
    bool has_diff;                 /* writes differences, with options->diff */
    bool has_times;                /* of samples: needs a profile with samples not yet added up */
    int (*write)(const struct profile *profile, const struct export_options *options,
                 struct buffer *out, struct error *error);
};

extern const struct exporter export_pprof;
extern const struct exporter export_firefox;
extern const struct exporter export_collapsed;
extern const struct exporter export_speedscope;
extern const struct exporter export_perf_text;
extern const struct exporter export_html;
extern const struct exporter export_svg;

/* Periods of CPU time, or samples of other events, per row of the Firefox file; 1 unless the
 * file would be too large for a browser. */
uint64_t export_firefox_thinning(const struct profile *profile);

/* All of them, NULL-terminated, in the order of help. */
extern const struct exporter *const exporters[];

const struct exporter *exporter_by_name(const char *name);
/* By the longest matching suffix of the path; *compress: gzip the output. */
const struct exporter *exporter_by_path(const char *path, bool *compress);

/* Runs the exporter into the buffer; compress: gzipped. */
int export_to_buffer(const struct exporter *exporter, const struct profile *profile,
                     const struct export_options *options, bool compress, struct buffer *out,
                     struct error *error);

/* The same into a file descriptor, with at most 128 KiB of output in memory. */
int export_to_fd(const struct exporter *exporter, const struct profile *profile,
                 const struct export_options *options, bool compress, int fd, struct error *error);
