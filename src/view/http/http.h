/* SPDX-License-Identifier: MIT */
/*
 * The HTTP server of libmicrohttpd, on one thread. Connections do not block: a silent or slow
 * client holds a connection, not the server, until a deadline (connections.h). Replies are complete
 * in memory, except those from files: public files are sent in pieces.
 *
 *     head of a request ─▶ accept() ─▶ body, 1 MiB at most ─▶ answer() ─▶ reply
 *                             └─▶ refusal at once, the body is not read
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_request {
    const char *method;
    const char *path;                                 /* without query, percent signs decoded */
    const char *host;                                 /* NULL: none, as the following */
    const char *requested_method, *requested_headers; /* of a CORS preflight */
    bool requests_private_network;
    const struct buffer *body; /* terminated; empty before the body is there */
};

struct http_reply {
    unsigned status;
    const char *type; /* of the content; NULL: none */
    struct buffer body;
    int file; /* descriptor of the body, taken over; 0: the body is in memory */
    uint64_t file_bytes;
    bool is_gzip;
    bool is_shared;       /* readable by web pages of all origins */
    bool is_preflight;    /* the reply to requested_method */
    const char *policy;   /* Content-Security-Policy; NULL: none */
    const char *download; /* name of a file to save; NULL: shown */
    const char *location; /* of a redirection */
};

struct http_handler {
    /* The status of a refusal by the head, or 0. */
    unsigned (*accept)(void *context, const struct http_request *request);
    void (*answer)(void *context, const struct http_request *request, struct http_reply *reply);
    void *context;
    /* Everyone's requests are accepted: also the reply has a deadline. */
    bool is_public;
};

struct http_server; /* opaque */

/* The socket stays the caller's. handler is borrowed. */
int http_start(struct http_server **out, int listen_fd, const struct http_handler *handler,
               struct error *error);
void http_stop(struct http_server *server);

/* Becomes readable when the server has work; then call http_run(). */
int http_fd(const struct http_server *server);
void http_run(struct http_server *server);

/* Milliseconds until http_run() must be called without work; -1: none. */
int http_timeout_ms(const struct http_server *server);
