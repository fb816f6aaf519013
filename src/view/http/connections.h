/* SPDX-License-Identifier: MIT */
/*
 * Connections that wait for an accepted request, in the order of time:
 *
 *     connected ──▶ waiting ── head accepted ──▶ not in the list ── reply sent ──▶ waiting …
 *                      └── past the deadline, or too many: the first one is shut down
 *
 * A client can send a head byte by byte, and the timeout of the HTTP library restarts with each
 * byte. Without this list, slow connections of another user would keep all others out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection {
    struct connection *before, *after;
    int fd; /* of the HTTP library */
    bool is_waiting;
    int64_t since_ms;
};

struct connections {
    struct connection *first, *last;
    size_t count, most;
    int64_t deadline_ms; /* of a wait */
};

/* Starts the wait of the connection, again if it waits. NULL: nothing, as in the next function. */
void connections_add(struct connections *connections, struct connection *connection,
                     int64_t now_ms);
/* Ends the wait, if any. */
void connections_remove(struct connections *connections, struct connection *connection);

/* Shuts down the connections past the deadline; the library then closes them. */
void connections_end_late(struct connections *connections, int64_t now_ms);

/* Milliseconds until the next deadline; -1: none. */
int connections_timeout_ms(const struct connections *connections, int64_t now_ms);
