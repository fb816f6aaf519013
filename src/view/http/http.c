/* SPDX-License-Identifier: MIT */
#include "view/http/http.h"

#include "base/clock.h"
#include "view/http/connections.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BODY_BYTES_MAX = 1 << 20,
    BODIES_BYTES_MAX = 16 << 20, /* of all connections */
    CONNECTIONS_MAX = 600,
    CONNECTION_BYTES = 16 << 10, /* for the head of a request */
    SILENCE_S = 15,
    WAITING_MAX = 400, /* connections without an accepted request */
    HEAD_MS = 10000,
    PUBLIC_EXCHANGE_MS = 60000,
};

struct http_server {
    struct MHD_Daemon *daemon;
    const struct http_handler *handler;
    struct connections waiting;
    size_t body_bytes; /* of all connections */
};

struct exchange { /* a request in progress */
    struct http_server *server;
    struct buffer body;
    size_t taken_bytes; /* of the server's body_bytes */
    bool is_too_large;
};

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    if (value)
        (void)MHD_add_response_header(response, name, value);
}

static void add_preflight(struct MHD_Response *response, const struct http_request *request)
{
    if (!request->requested_method) {
        add(response, "Allow", "GET, POST, OPTIONS");
        return;
    }
    add(response, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    add(response, "Access-Control-Allow-Headers", request->requested_headers);
    add(response, "Access-Control-Max-Age", "86400");
    if (request->requests_private_network)
        add(response, "Access-Control-Allow-Private-Network", "true");
}

/* A name from rec's own tables: no quotes inside. */
static void add_download(struct MHD_Response *response, const char *name)
{
    struct buffer text = {0};
    buffer_printf(&text, "attachment; filename=\"%s\"", name);
    buffer_u8(&text, 0);
    if (!text.failed)
        add(response, "Content-Disposition", (const char *)text.bytes);
    buffer_free(&text);
}

static void add_headers(struct MHD_Response *response, const struct http_request *request,
                        const struct http_reply *reply)
{
    add(response, "Cache-Control", "no-store");
    add(response, "X-Content-Type-Options", "nosniff");
    add(response, "Referrer-Policy", "no-referrer");
    add(response, "Content-Type", reply->type);
    add(response, "Content-Encoding", reply->is_gzip ? "gzip" : NULL);
    add(response, "Content-Security-Policy", reply->policy);
    add(response, "Location", reply->location);
    add(response, "Access-Control-Allow-Origin", reply->is_shared ? "*" : NULL);
    if (reply->is_preflight)
        add_preflight(response, request);
    if (reply->download)
        add_download(response, reply->download);
}

/* The response owns the body. NULL: out of memory, and the body is freed. */
static struct MHD_Response *response_of(struct http_reply *reply)
{
    struct MHD_Response *response =
        reply->file ? MHD_create_response_from_fd64(reply->file_bytes, reply->file)
                    : MHD_create_response_from_buffer(reply->body.size, reply->body.bytes,
                                                      MHD_RESPMEM_MUST_FREE);
    if (!response && reply->file)
        close(reply->file);
    else if (!response)
        buffer_free(&reply->body);
    return response;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection,
                                  const struct http_request *request, struct http_reply *reply)
{
    struct MHD_Response *response = response_of(reply);
    if (!response)
        return MHD_NO;
    add_headers(response, request, reply);
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, const struct http_request *request,
                              unsigned status)
{
    struct http_reply reply = {.status = status, .type = "text/plain"};
    buffer_text(&reply.body, status == MHD_HTTP_NOT_FOUND ? "not found\n" : "refused\n");
    return send_reply(connection, request, &reply);
}

static void take_body(struct exchange *exchange, const char *bytes, size_t size)
{
    struct http_server *server = exchange->server;
    if (exchange->is_too_large || exchange->body.size + size > BODY_BYTES_MAX ||
        server->body_bytes + size > BODIES_BYTES_MAX) {
        exchange->is_too_large = true;
        return;
    }
    buffer_append(&exchange->body, bytes, size);
    server->body_bytes += size;
    exchange->taken_bytes += size;
}

static struct exchange *exchange_new(struct http_server *server)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    if (exchange)
        exchange->server = server;
    return exchange;
}

static struct connection *connection_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* NULL: refused, and the reply is queued, or out of memory, and the connection ends. */
static struct exchange *accept_head(struct http_server *server, struct MHD_Connection *connection,
                                    struct http_request *request, enum MHD_Result *result)
{
    static const struct buffer none;
    struct connection *waiting = connection_of(connection);
    *result = MHD_NO;
    if (!waiting)
        return NULL;
    request->body = &none;
    unsigned status = server->handler->accept(server->handler->context, request);
    if (status) {
        *result = refuse(connection, request, status);
        return NULL;
    }
    if (!server->handler->is_public)
        connections_remove(&server->waiting, waiting);
    struct exchange *exchange = exchange_new(server);
    *result = exchange ? MHD_YES : MHD_NO;
    return exchange;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    struct http_server *server = context;
    struct exchange *exchange = *state;
    struct http_request request = {
        .method = method,
        .path = url,
        .host = header(connection, "Host"),
        .requested_method = header(connection, "Access-Control-Request-Method"),
        .requested_headers = header(connection, "Access-Control-Request-Headers"),
        .requests_private_network =
            header(connection, "Access-Control-Request-Private-Network") != NULL,
    };
    (void)version;
    if (!exchange) {
        enum MHD_Result result;
        *state = accept_head(server, connection, &request, &result);
        return result;
    }
    if (*upload_bytes) {
        take_body(exchange, upload, *upload_bytes);
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (exchange->is_too_large)
        return refuse(connection, &request, MHD_HTTP_CONTENT_TOO_LARGE);
    struct http_reply reply = {0};
    buffer_u8(&exchange->body, 0);
    request.body = &exchange->body;
    server->handler->answer(server->handler->context, &request, &reply);
    if (exchange->body.failed || reply.body.failed) {
        buffer_free(&reply.body);
        return refuse(connection, &request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    }
    return send_reply(connection, &request, &reply);
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode why)
{
    struct http_server *server = context;
    struct exchange *exchange = *state;
    (void)why;
    connections_add(&server->waiting, connection_of(connection), monotonic_ms());
    if (!exchange)
        return;
    server->body_bytes -= exchange->taken_bytes;
    buffer_free(&exchange->body);
    free(exchange);
    *state = NULL;
}

static void connected(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_ConnectionNotificationCode what)
{
    struct http_server *server = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        connections_remove(&server->waiting, *state);
        free(*state);
        return;
    }
    struct connection *added = calloc(1, sizeof(*added));
    if (!added)
        return;
    added->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connections_add(&server->waiting, added, monotonic_ms());
    *state = added;
}

/* Messages of the library about hostile clients concern no user. */
static void drop_message(void *context, const char *format, va_list values)
{
    (void)context, (void)format, (void)values;
}

int http_start(struct http_server **out, int listen_fd, const struct http_handler *handler,
               struct error *error)
{
    struct http_server *server = calloc(1, sizeof(*server));
    if (!server)
        return error_set(error, -ENOMEM, "out of memory");
    server->handler = handler;
    server->waiting = (struct connections){
        .most = WAITING_MAX, .deadline_ms = handler->is_public ? PUBLIC_EXCHANGE_MS : HEAD_MS};
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, server,
        MHD_OPTION_EXTERNAL_LOGGER, drop_message, NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
        MHD_OPTION_NOTIFY_COMPLETED, completed, server, MHD_OPTION_NOTIFY_CONNECTION, connected,
        server, MHD_OPTION_END);
    if (!server->daemon) {
        free(server);
        return error_set(error, -EIO, "the HTTP server cannot be started");
    }
    *out = server;
    return 0;
}

void http_stop(struct http_server *server)
{
    if (!server)
        return;
    MHD_quiesce_daemon(server->daemon);
    MHD_stop_daemon(server->daemon);
    free(server);
}

int http_fd(const struct http_server *server)
{
    return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void http_run(struct http_server *server)
{
    MHD_run(server->daemon);
    connections_end_late(&server->waiting, monotonic_ms());
}

int http_timeout_ms(const struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout;
    int until_deadline = connections_timeout_ms(&server->waiting, monotonic_ms());
    if (MHD_get_timeout(server->daemon, &timeout) != MHD_YES)
        return until_deadline;
    int of_library = timeout > 60000 ? 60000 : (int)timeout;
    return until_deadline >= 0 && until_deadline < of_library ? until_deadline : of_library;
}
