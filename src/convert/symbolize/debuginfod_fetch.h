/* SPDX-License-Identifier: MIT */
/*
 * The download of one file from debuginfod servers, in a process of its own: without the
 * descriptors of other processes, under sudo with the rights of the user, and within limits that
 * hold for every reply.
 *
 *     time      DEBUGINFOD_MAXTIME, checked by libdebuginfod; shortly after, SIGALRM
 *     file      RLIMIT_FSIZE. libdebuginfod compares DEBUGINFOD_MAXSIZE with the stated length
 *               alone, and a reply without a length, or a compressed reply, may have any size
 *     memory    RLIMIT_DATA
 */
#pragma once

#include <errno.h>
#include <stdint.h>

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

/* Runs in a child. Writes the reply to out: a byte with the positive errno, or 0 and the path of
 * the file. */
__attribute__((noreturn)) void debuginfod_fetch_run(const struct debuginfod_fetch *fetch, int out);
