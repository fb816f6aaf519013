/* SPDX-License-Identifier: MIT */
#include "view/http/connections.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { CLIENTS = 4 };

struct client {
    struct connection connection;
    int fd; /* the other end */
};

static void connect_clients(struct client *clients)
{
    for (int i = 0; i < CLIENTS; i++) {
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        clients[i] = (struct client){.connection.fd = fds[0], .fd = fds[1]};
    }
}

static void disconnect(struct client *clients)
{
    for (int i = 0; i < CLIENTS; i++) {
        close(clients[i].connection.fd);
        close(clients[i].fd);
    }
}

static bool is_ended(const struct client *client)
{
    char byte;
    return recv(client->fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void the_oldest_wait_ends_at_its_deadline(void **state)
{
    (void)state;
    struct client clients[CLIENTS];
    struct connections waiting = {.most = CLIENTS, .deadline_ms = 100};
    connect_clients(clients);
    assert_int_equal(connections_timeout_ms(&waiting, 0), -1);
    for (int i = 0; i < CLIENTS; i++)
        connections_add(&waiting, &clients[i].connection, 10 * i);
    assert_int_equal(connections_timeout_ms(&waiting, 40), 60);
    connections_end_late(&waiting, 99);
    assert_false(is_ended(&clients[0]));
    connections_add(&waiting, &clients[1].connection, 99); /* a reply was sent */
    connections_end_late(&waiting, 120);
    assert_true(is_ended(&clients[0]));
    assert_false(is_ended(&clients[1]));
    assert_true(is_ended(&clients[2]));
    assert_false(is_ended(&clients[3]));
    assert_int_equal(connections_timeout_ms(&waiting, 140), 0);
    assert_int_equal(waiting.count, 2);
    disconnect(clients);
}

static void accepted_requests_have_no_deadline(void **state)
{
    (void)state;
    struct client clients[CLIENTS];
    struct connections waiting = {.most = CLIENTS, .deadline_ms = 100};
    connect_clients(clients);
    for (int i = 0; i < CLIENTS; i++)
        connections_add(&waiting, &clients[i].connection, 0);
    connections_remove(&waiting, &clients[3].connection);
    connections_remove(&waiting, &clients[1].connection);
    connections_remove(&waiting, &clients[1].connection);
    connections_end_late(&waiting, 1000);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(is_ended(&clients[i]), i % 2 == 0);
    assert_int_equal(waiting.count, 0);
    assert_null(waiting.first);
    assert_null(waiting.last);
    disconnect(clients);
}

static void the_oldest_makes_room(void **state)
{
    (void)state;
    struct client clients[CLIENTS];
    struct connections waiting = {.most = 2, .deadline_ms = 100};
    connect_clients(clients);
    for (int i = 0; i < CLIENTS; i++)
        connections_add(&waiting, &clients[i].connection, 0);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(is_ended(&clients[i]), i < 2);
    connections_add(&waiting, NULL, 0);
    connections_remove(&waiting, NULL);
    assert_int_equal(waiting.count, 2);
    disconnect(clients);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_wait_ends_at_its_deadline),
        cmocka_unit_test(accepted_requests_have_no_deadline),
        cmocka_unit_test(the_oldest_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
