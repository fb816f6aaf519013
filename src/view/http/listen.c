/* SPDX-License-Identifier: MIT */
#include "view/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool parse(union address *address, const char *text)
{
    *address = (union address){.v4 = {.sin_family = AF_INET}};
    if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1)
        return true;
    *address = (union address){.v6 = {.sin6_family = AF_INET6}};
    return inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1;
}

static int bind_port(union address *address, unsigned port)
{
    bool is_v6 = address->any.sa_family == AF_INET6;
    int on = 1;
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (is_v6)
        address->v6.sin6_port = htons((uint16_t)port);
    else
        address->v4.sin_port = htons((uint16_t)port);
    /* Connections of an earlier server may be in TIME_WAIT (tcp(7)). */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    socklen_t size = is_v6 ? sizeof(address->v6) : sizeof(address->v4);
    if (bind(fd, &address->any, size) != 0 || listen(fd, BACKLOG) != 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

static bool is_any(const union address *address)
{
    return address->any.sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr)
                                              : address->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

int listener_open(struct listener *listener, const char *address, unsigned port,
                  struct error *error)
{
    union address parsed;
    const char *host = address ? address : "127.0.0.1";
    *listener = (struct listener){.fd = -1};
    if (!parse(&parsed, host))
        return error_set(error, -EINVAL, "--address needs a numeric address, not '%s'", host);
    unsigned last = port ? port : LISTEN_LAST_PORT;
    listener->port = port ? port : LISTEN_FIRST_PORT;
    for (;; listener->port++) {
        listener->fd = bind_port(&parsed, listener->port);
        if (listener->fd != -EADDRINUSE || listener->port == last)
            break;
    }
    int err = listener->fd < 0 ? listener->fd : 0;
    if (err == -EADDRINUSE && !port)
        return error_set(error, err, "ports %d to %d of %s are in use: choose another with --port",
                         LISTEN_FIRST_PORT, LISTEN_LAST_PORT, host);
    if (err)
        return error_set(error, err, "cannot listen on %s, port %u: %s", host, listener->port,
                         strerror(-err));
    listener->is_any = is_any(&parsed);
    snprintf(listener->host, sizeof(listener->host),
             parsed.any.sa_family == AF_INET6 ? "[%s]" : "%s", host);
    return 0;
}

void listener_close(struct listener *listener)
{
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "[::1]") == 0;
}

/* "1.2.3.4" or "[::1]". The owner of a name can let the name lead anywhere; a number stays. */
static bool is_numeric(const char *host, size_t length)
{
    union address address;
    char text[64];
    bool is_v6 = length > 2 && host[0] == '[' && host[length - 1] == ']';
    if (length - 2 * is_v6 >= sizeof(text))
        return false;
    memcpy(text, host + is_v6, length - 2 * (size_t)is_v6);
    text[length - 2 * (size_t)is_v6] = '\0';
    return parse(&address, text) && is_v6 == (address.any.sa_family == AF_INET6);
}

bool listener_is_host(const struct listener *listener, const char *host)
{
    char port[16];
    const char *colon = host ? strrchr(host, ':') : NULL;
    snprintf(port, sizeof(port), ":%u", listener->port);
    if (!colon || strcmp(colon, port) != 0)
        return false;
    size_t length = (size_t)(colon - host);
    if (length == strlen(listener->host) && strncasecmp(host, listener->host, length) == 0)
        return true;
    if (listener->is_any)
        return is_numeric(host, length);
    return is_loopback(listener->host) && length == 9 && strncasecmp(host, "localhost", 9) == 0;
}
