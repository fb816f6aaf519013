/* SPDX-License-Identifier: MIT */
/*
 * pprof's web server on the profile: `pprof -http`, or `go tool pprof -http`. The child is forked
 * before this process is confined, and reads the profile from an unnamed file at standard input: a
 * URL of this server would show the token in the arguments of the process. Under sudo, the child
 * has the rights of the calling user.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"

#include <sys/types.h>

struct pprof {
    pid_t pid;         /* 0: none */
    int file, release; /* the profile; end of a pipe: the profile is complete */
    unsigned port;     /* of 127.0.0.1 */
};

/* -ENOENT: neither pprof nor go is installed. */
int pprof_start(struct pprof *pprof, struct error *error);

/* profile: a .pb.gz file. */
int pprof_run(struct pprof *pprof, const struct buffer *profile, struct error *error);
void pprof_end(struct pprof *pprof);
