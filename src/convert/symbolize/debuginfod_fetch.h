/* SPDX-License-Identifier: MIT */
/*
 * The download of one file from debuginfod servers, in a process of its own: without the
 * descriptors of this process, under sudo with the rights of the user, and within limits that
 * hold for every reply.
 *
 *     time      DEBUGINFOD_MAXTIME, checked by libdebuginfod
 *     file      RLIMIT_FSIZE. libdebuginfod compares DEBUGINFOD_MAXSIZE with the stated length
 *               alone, and a reply without a length, or a compressed reply, may have any size
 *     memory    RLIMIT_DATA
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

struct debuginfod_fetch {
    const uint8_t *build_id;
    uint8_t build_id_bytes;
    const char *source;     /* the path of a source file in the debug info; NULL: the debug file */
    uint64_t largest_bytes; /* of the file, decompressed */
    unsigned seconds;
};

/* Errors of the library are negative errnos. */
enum {
    DEBUGINFOD_NO_LIBRARY = -ELIBACC,
    DEBUGINFOD_TOO_LARGE = -EFBIG,
    DEBUGINFOD_TOO_SLOW = -ETIME,
    DEBUGINFOD_OTHER_BUILD = -EBADMSG, /* not an ELF file with this build-id */
};

/* Starts a child. The child writes the path of the file to *fd. Returns the pid or a negative
 * errno. */
pid_t debuginfod_fetch_start(const struct debuginfod_fetch *fetch, int *fd);

/* Waits for the end of the child. 0 or a negative errno. */
int debuginfod_fetch_end(pid_t pid);
