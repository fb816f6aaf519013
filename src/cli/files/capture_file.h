/* SPDX-License-Identifier: MIT */
/*
 * The capture's file, from before the recording to its end. It is written in place under its final
 * name (what a crash leaves is readable), so two recordings must not share one, and the previous
 * one is kept:
 *
 *     claim    rec.data ──▶ rec.data.old      a new, empty, locked rec.data (0600)
 *     abandon  rec.data.old ──▶ rec.data      the command never started: as if nothing had been
 *     release  the lock goes
 *
 * The name is used for claiming and abandoning alone, below the held directory. The recorder and the
 * conversion use the descriptor: another user may own the directory and replace the name at any time.
 */
#pragma once

#include "base/files/output_path.h"
#include "base/text/error.h"
#include "cli/files/sudo_owner.h"

#include <stdbool.h>

struct capture_file {
    int fd;                  /* holds the lock */
    struct output_path path; /* the final name, in its held directory */
    char previous[264];      /* where the earlier one went; empty: there was none */
    bool is_unnamed;         /* nothing will be left of it */
    char opened[64];         /* a path that opens the file of fd again, independent of its name */
    char name[4160];         /* in messages */
};

/* -EBUSY: another rec is writing this file now. */
int capture_file_claim(struct capture_file *capture, const char *path,
                       const struct sudo_owner *owner, struct error *error);

/* A capture that only lives until it is converted, on the file system of `beside`. */
int capture_file_claim_unnamed(struct capture_file *capture, const char *beside,
                               struct error *error);

/* Whether the capture still has its name. -ENOENT: another process removed or replaced the name. */
int capture_file_check_name(const struct capture_file *capture, struct error *error);

/* The recording is complete: others may take the lock, or move the file. */
void capture_file_unlock(struct capture_file *capture);

void capture_file_abandon(struct capture_file *capture);
void capture_file_release(struct capture_file *capture);
