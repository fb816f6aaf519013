/* SPDX-License-Identifier: MIT */
/*
 * The way from a converting process, which is confined and has no sockets to servers, to
 * debuginfod servers: a process that starts before the capture is parsed, and starts a child for
 * each download.
 *
 *     converting process ── request, pipe ──▶ download process ── fork ──▶ download
 *             ▲                                                               │
 *             └──────────────────────── pipe: result, path ◀─────────────────┘
 *
 * Reply files are parsed in the converting process. A hostile capture that takes over the
 * converting process can send any build-id and source path to the servers, nothing else. The
 * download process ends with the converting process.
 */
#pragma once

#include "base/containers/buffer.h"
#include "convert/symbolize/debuginfod_fetch.h"

/* Starts the download process. The caller is single-threaded and not confined yet. 0 or a negative
 * errno. */
int debuginfod_client_start(void);

/* Requests a download. Returns the read end of the pipe for the reply, or a negative errno
 * (-ENOTCONN: not started). */
int debuginfod_client_request(const struct debuginfod_fetch *fetch);

/* Turns a whole reply into the path of the file, with a NUL. 0 or the negative errno of the
 * download; -EIO: the download crashed. */
int debuginfod_client_take_reply(struct buffer *reply);
