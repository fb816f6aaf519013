/* SPDX-License-Identifier: MIT */
/*
 * The files of -o, with their formats. Only outputs_prepare() and outputs_write() access the file
 * system for more than the type of a name.
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
    char *capture; /* owned; NULL: other formats only */
    struct output *items;
    size_t count, capacity;
    char **directories; /* owned; to create */
    size_t directory_count, directory_capacity;
};

void outputs_free(struct outputs *outputs);

/* -o NAME of a recording: a name without an exporter's suffix is the capture. DIR/: the usual set.
 * */
int outputs_add_recorded(struct outputs *outputs, const char *name, struct error *error);

/* -o NAME of a conversion: exporters' suffixes only. DIR/: the usual set without the capture. */
int outputs_add_converted(struct outputs *outputs, const char *name, struct error *error);

/* --repeat: the capture of a run below DIR or DIR/, "run-01.data". */
int outputs_add_run(struct outputs *outputs, const char *directory, unsigned long run,
                    struct error *error);

/* -o NAME of a comparison: suffixes of exporters with has_diff. */
int outputs_add_difference(struct outputs *outputs, const char *name, struct error *error);

/* The usual set in a directory ("" or with a final slash). */
int outputs_add_usual(struct outputs *outputs, const char *directory, bool with_capture,
                      struct error *error);

/* ".PID" in front of every suffix: rec.4711.pb.gz. */
int outputs_make_private(struct outputs *outputs, struct error *error);

/* Whether a format among them has times of samples. */
bool outputs_have_times(const struct outputs *outputs);

/* Creates the directories and checks write access to each file. Call before any command starts. */
int outputs_prepare(const struct outputs *outputs, const struct sudo_owner *owner,
                    struct error *error);

/* Writes all files except the capture. Continues after a failure; returns the first error. */
int outputs_write(const struct outputs *outputs, const struct profile *profile,
                  const struct export_options *options, const struct sudo_owner *owner,
                  struct error *error);
