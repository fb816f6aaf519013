/* SPDX-License-Identifier: MIT */
/*
 * The replies to all paths:
 *
 *     /ONE-TIME                a redirection, once: browsers show their command line to all users
 *     /TOKEN/                  the page of viewers and files
 *     /TOKEN/profile.json      for the Firefox Profiler; embedded.json: with sources
 *     /TOKEN/page              the web page
 *     /TOKEN/files/rec.SUFFIX  each format
 *     /TOKEN/speedscope/…      the folder of speedscope
 *     /TOKEN/symbolicate/v5 …  requests.h
 *
 * Everything else is 404 without further content. A request with another Host is refused (DNS
 * rebinding). Replies below the token are readable by pages of all origins: the token is secret.
 */
#pragma once

#include "view/http/http.h"
#include "view/http/listen.h"
#include "view/http/token.h"
#include "view/requests/requests.h"
#include "view/server/viewers.h"

struct server {
    const struct listener *listener;
    const char *capture;          /* name, for the page */
    struct token token, one_time; /* one_time: empty once used */
    const char *first_view;       /* target of the one-time address */
    struct addresses_of_view addresses;
    struct request_context requests;
    int speedscope;        /* folder; -1: none */
    size_t request_count;  /* below the token */
    struct buffer profile; /* profile.json, compressed; empty: not yet requested */
};

/* The handler of http_start(); context: struct server. */
unsigned server_accept(void *context, const struct http_request *request);
void server_answer(void *context, const struct http_request *request, struct http_reply *reply);

void server_free(struct server *server);
