/* SPDX-License-Identifier: MIT */
#include "view/front_end.h"

#include "view/server/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned accept_head(void *context, const struct http_request *request)
{
    const struct front_end *front_end = context;
    if (!listener_is_host(&front_end->listener, request->host))
        return 421; /* Misdirected Request: RFC 9110, 15.5.20 */
    return strcmp(request->method, "GET") == 0 ? 0 : 405;
}

static void answer(void *context, const struct http_request *request, struct http_reply *reply)
{
    const struct front_end *front_end = context;
    if (folder_reply(front_end->folder, request->path, reply) ||
        folder_reply(front_end->folder, "", reply))
        return;
    reply->status = 404;
}

int front_end_open(struct front_end *front_end, const char *path, struct error *error)
{
    *front_end = (struct front_end){.folder = -1, .listener = {.fd = -1}};
    int folder = folder_open(path, "the Firefox Profiler", error);
    if (folder < 0)
        return folder;
    front_end->folder = folder;
    int err = listener_open(&front_end->listener, NULL, 0, error);
    if (!err)
        snprintf(front_end->origin, sizeof(front_end->origin), "http://%s:%u",
                 front_end->listener.host, front_end->listener.port);
    return err;
}

int front_end_start(struct front_end *front_end, struct error *error)
{
    front_end->handler = (struct http_handler){
        .accept = accept_head, .answer = answer, .context = front_end, .is_public = true};
    return http_start(&front_end->http, front_end->listener.fd, &front_end->handler, error);
}

void front_end_close(struct front_end *front_end)
{
    http_stop(front_end->http);
    listener_close(&front_end->listener);
    if (front_end->folder >= 0)
        close(front_end->folder);
    front_end->folder = -1;
}
