/* SPDX-License-Identifier: MIT */
#include "view/http/connections.h"

#include <sys/socket.h>

void connections_remove(struct connections *connections, struct connection *connection)
{
    if (!connection || !connection->is_waiting)
        return;
    *(connection->before ? &connection->before->after : &connections->first) = connection->after;
    *(connection->after ? &connection->after->before : &connections->last) = connection->before;
    connection->before = connection->after = NULL;
    connection->is_waiting = false;
    connections->count--;
}

static void end_first(struct connections *connections)
{
    struct connection *first = connections->first;
    connections_remove(connections, first);
    (void)shutdown(first->fd, SHUT_RDWR);
}

void connections_add(struct connections *connections, struct connection *connection, int64_t now_ms)
{
    if (!connection)
        return;
    connections_remove(connections, connection);
    connection->before = connections->last;
    *(connections->last ? &connections->last->after : &connections->first) = connection;
    connections->last = connection;
    connection->is_waiting = true;
    connection->since_ms = now_ms;
    connections->count++;
    if (connections->count > connections->most)
        end_first(connections);
}

void connections_end_late(struct connections *connections, int64_t now_ms)
{
    while (connections->first && now_ms - connections->first->since_ms >= connections->deadline_ms)
        end_first(connections);
}

int connections_timeout_ms(const struct connections *connections, int64_t now_ms)
{
    if (!connections->first)
        return -1;
    int64_t left_ms = connections->first->since_ms + connections->deadline_ms - now_ms;
    return left_ms < 0 ? 0 : (int)left_ms;
}
