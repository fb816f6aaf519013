/* SPDX-License-Identifier: MIT */
/*
 * The file of a capture during a recording. The recorder writes in place under the final name, so
 * that the file is readable after a crash. Two recordings must not share a file, and an earlier
 * capture is kept:
 *
 *     claim    rec.data ──▶ rec.data.old      a new, empty, locked rec.data (0600)
 *     abandon  rec.data.old ──▶ rec.data      the command never started: undo
 *     release  drop the lock
 *
 * Only claim and abandon use the name, below the held directory. Recorder and conversion use the
 * descriptor: another user may own the directory and replace the name at any time.
 */
#pragma once

#include "base/files/output_path.h"
#include "base/text/error.h"
#include "cli/files/sudo_owner.h"

#include <stdbool.h>

struct capture_file {
    int fd;                  /* holds the lock */
    struct output_path path; /* the final name, below the held directory */
    char previous[264];      /* new name of an earlier capture; "": none */
    bool is_unnamed;         /* a temporary file without a name */
    char opened[64];         /* a path for opening the file of fd again, by /proc */
    char name[4160];         /* in messages */
};

/* -EBUSY: another rec is writing this file now. */
int capture_file_claim(struct capture_file *capture, const char *path,
                       const struct sudo_owner *owner, struct error *error);

/* A temporary capture for a conversion, on the file system of `beside`. */
int capture_file_claim_unnamed(struct capture_file *capture, const char *beside,
                               struct error *error);

/* 0, or -ENOENT: another process removed or replaced the name. */
int capture_file_check_name(const struct capture_file *capture, struct error *error);

/* In a child process: the path of the file leads to the child's descriptor. */
void capture_file_enter_child(struct capture_file *capture);

/* The recording is complete: other processes may take the lock or rename the file. */
void capture_file_unlock(struct capture_file *capture);

void capture_file_abandon(struct capture_file *capture);
void capture_file_release(struct capture_file *capture);
