/* SPDX-License-Identifier: MIT */
/*
 * A local copy of the Firefox Profiler at a port of its own: its scripts expect the root of an
 * origin. All unknown paths are the page, as its router expects. Nothing here is secret.
 */
#pragma once

#include "base/text/error.h"
#include "view/http/http.h"
#include "view/http/listen.h"

struct front_end {
    int folder; /* -1: none */
    struct listener listener;
    struct http_handler handler;
    struct http_server *http;
    char origin[96]; /* "http://127.0.0.1:3001" */
};

/* Before this process is confined. */
int front_end_open(struct front_end *front_end, const char *path, struct error *error);
int front_end_start(struct front_end *front_end, struct error *error);
void front_end_close(struct front_end *front_end);
