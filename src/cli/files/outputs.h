/* SPDX-License-Identifier: MIT */
/*
 * What -o asks for: the names of the files to write, and what goes into each. No file is touched
 * here but by outputs_prepare() and outputs_write().
 */
#pragma once

#include "base/text/error.h"
#include "cli/files/sudo_owner.h"
#include "export/export.h"

#include <stdbool.h>
#include <stddef.h>

struct output {
    char *path; /* owned */
    const struct exporter *exporter;
    bool compress;
};

struct outputs {
    char *capture; /* owned; NULL: only other formats were asked for */
    struct output *items;
    size_t count, capacity;
    char **directories; /* owned; those that were asked for and have to be made */
    size_t directory_count, directory_capacity;
};

void outputs_free(struct outputs *outputs);

/* -o NAME of a recording: any name that is no exporter's is the capture. DIR/ is the usual set. */
int outputs_add_recorded(struct outputs *outputs, const char *name, struct error *error);

/* -o NAME of a conversion: only exporters' names; DIR/ is the usual set without the capture. */
int outputs_add_converted(struct outputs *outputs, const char *name, struct error *error);

/* The usual set in a directory ("" or with its slash). */
int outputs_add_usual(struct outputs *outputs, const char *directory, bool with_capture,
                      struct error *error);

/* ".PID" in front of every suffix: rec.4711.pb.gz. */
int outputs_make_private(struct outputs *outputs, struct error *error);

/* Whether some of them have the times of samples. */
bool outputs_have_times(const struct outputs *outputs);

/* Makes the directories, and tells whether each file could be written, before anything is started. */
int outputs_prepare(const struct outputs *outputs, const struct sudo_owner *owner,
                    struct error *error);

/* Exports and writes all but the capture. Goes on behind a failure; returns the first one. */
int outputs_write(const struct outputs *outputs, const struct profile *profile,
                  const struct export_options *options, const struct sudo_owner *owner,
                  struct error *error);
