/* SPDX-License-Identifier: MIT */
#include "view/server/server.h"

#include "export/export.h"
#include "view/page/index_page.h"
#include "view/page/page.h"
#include "view/server/folder.h"

#include <string.h>

#define OWN_PAGE_POLICY                                                             \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* speedscope makes its styles in scripts, and may load a module of WebAssembly. */
#define SPEEDSCOPE_POLICY                                                              \
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; " \
    "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; "          \
    "frame-ancestors 'none'"

enum { FOUND = 302, NOT_FOUND = 404, METHOD_NOT_ALLOWED = 405, MISDIRECTED = 421 };

static bool is_get(const struct http_request *request)
{
    return strcmp(request->method, "GET") == 0;
}

/* The path behind the token and its slash; NULL: elsewhere. */
static const char *below_token(const struct server *server, const char *path)
{
    const char *slash = path[0] == '/' ? strchr(path + 1, '/') : NULL;
    return slash && token_is(&server->token, path + 1, (size_t)(slash - path) - 1) ? slash + 1
                                                                                   : NULL;
}

static bool is_one_time(const struct server *server, const char *path)
{
    return path[0] == '/' && token_is(&server->one_time, path + 1, strlen(path + 1));
}

unsigned server_accept(void *context, const struct http_request *request)
{
    const struct server *server = context;
    if (!listener_is_host(server->listener, request->host))
        return MISDIRECTED;
    const char *path = below_token(server, request->path);
    if (!path && !is_one_time(server, request->path))
        return NOT_FOUND;
    bool is_known =
        is_get(request) ||
        (path && (strcmp(request->method, "POST") == 0 || strcmp(request->method, "OPTIONS") == 0));
    return is_known ? 0 : METHOD_NOT_ALLOWED;
}

static void export_as(const struct server *server, const struct exporter *exporter, bool compress,
                      bool with_sources, struct http_reply *reply)
{
    const struct export_options options = {.embed_source = with_sources};
    struct error error;
    if (export_to_buffer(exporter, server->requests.index->profile, &options, compress,
                         &reply->body, &error) != 0)
        reply->body.failed = true;
}

static void answer_profile(struct server *server, struct http_reply *reply)
{
    if (server->profile.size == 0) {
        export_as(server, &export_firefox, true, false, reply);
        server->profile = reply->body;
        reply->body = (struct buffer){0};
    }
    buffer_append(&reply->body, server->profile.bytes, server->profile.size);
    reply->body.failed |= server->profile.failed;
    reply->type = "application/json; charset=UTF-8";
    reply->is_gzip = true;
}

static bool answer_file(const struct server *server, const char *name, struct http_reply *reply)
{
    for (size_t i = 0; exporters[i]; i++) {
        bool compress;
        const char *suffix = viewer_file_suffix(exporters[i]);
        if (strncmp(name, "rec", 3) != 0 || strcmp(name + 3, suffix) != 0)
            continue;
        (void)exporter_by_path(name, &compress);
        export_as(server, exporters[i], compress, false, reply);
        reply->type = "application/octet-stream";
        reply->download = name;
        return true;
    }
    return false;
}

static void answer_index(const struct server *server, struct http_reply *reply)
{
    index_page_write(server->requests.index->profile, server->capture, &server->addresses,
                     &reply->body);
    reply->type = "text/html; charset=utf-8";
    reply->policy = OWN_PAGE_POLICY;
}

static bool answer_own_page(struct server *server, const char *path, struct http_reply *reply)
{
    if (strcmp(path, "") == 0) {
        answer_index(server, reply);
    } else if (strcmp(path, "index.css") == 0) {
        buffer_append(&reply->body, index_css, index_css_bytes);
        reply->type = "text/css";
    } else if (strcmp(path, "index.js") == 0) {
        buffer_append(&reply->body, index_js, index_js_bytes);
        reply->type = "text/javascript; charset=utf-8";
    } else if (strcmp(path, "page") == 0) {
        export_as(server, &export_html, false, false, reply); /* the page states its own policy */
        reply->type = "text/html; charset=utf-8";
    } else {
        return false;
    }
    return true;
}

static bool answer_get(struct server *server, const char *path, struct http_reply *reply)
{
    if (answer_own_page(server, path, reply))
        return true;
    if (strcmp(path, "profile.json") == 0) {
        answer_profile(server, reply);
    } else if (strcmp(path, "embedded.json") == 0) {
        export_as(server, &export_firefox, true, true, reply);
        reply->type = "application/octet-stream";
    } else if (strncmp(path, "files/", 6) == 0) {
        return answer_file(server, path + 6, reply);
    } else if (server->speedscope >= 0 && strncmp(path, "speedscope/", 11) == 0) {
        reply->policy = SPEEDSCOPE_POLICY;
        return folder_reply(server->speedscope, path + 11, reply);
    } else {
        return false;
    }
    return true;
}

/* Below the token. */
static bool answer_path(struct server *server, const struct http_request *request, const char *path,
                        struct http_reply *reply)
{
    reply->status = 200;
    reply->is_shared = true;
    if (strcmp(request->method, "OPTIONS") == 0) {
        reply->status = 204;
        reply->is_preflight = true;
        return true;
    }
    if (is_get(request))
        return answer_get(server, path, reply);
    reply->type = "application/json";
    return requests_answer(&server->requests, path, request->body, &reply->body);
}

void server_answer(void *context, const struct http_request *request, struct http_reply *reply)
{
    struct server *server = context;
    const char *path = below_token(server, request->path);
    server->request_count += path != NULL;
    if (is_one_time(server, request->path)) {
        server->one_time.text[0] = '\0';
        reply->status = FOUND;
        reply->location = server->first_view;
    } else if (!path || !answer_path(server, request, path, reply)) {
        buffer_free(&reply->body);
        *reply = (struct http_reply){.status = NOT_FOUND, .type = "text/plain"};
        buffer_text(&reply->body, "not found\n");
    }
}

void server_free(struct server *server)
{
    buffer_free(&server->profile);
}
