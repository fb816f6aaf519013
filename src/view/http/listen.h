/* SPDX-License-Identifier: MIT */
/* The listening socket. */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>

enum { LISTEN_FIRST_PORT = 3000, LISTEN_LAST_PORT = 3099 };

struct listener {
    int fd; /* -1: none */
    unsigned port;
    char host[64]; /* as in URLs: "127.0.0.1", "[::1]" */
    bool is_any;   /* all addresses of this machine */
};

/* address: of IPv4 or IPv6; NULL: 127.0.0.1. port 0: the first free one of 3000 to 3099.
 * -EADDRINUSE: taken. */
int listener_open(struct listener *listener, const char *address, unsigned port,
                  struct error *error);
void listener_close(struct listener *listener);

/* Whether a Host header names this listener: its address or, for a loopback address, "localhost",
 * with its port. Other names are refused: an attacker's name can resolve to this machine (DNS
 * rebinding). A listener on all addresses accepts every numeric address. */
bool listener_is_host(const struct listener *listener, const char *host);
