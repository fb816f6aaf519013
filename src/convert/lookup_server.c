/* SPDX-License-Identifier: MIT */
#include "convert/lookup_server.h"

#include "base/cursor.h"
#include "base/side_worker.h"
#include "convert/lookup_ahead.h"
#include "convert/lookup_naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    A_LIB = UINT32_MAX, /* such a lib there is not */
    /* A whole table is read, since nobody knows which of it will be asked for: 3 MB of memory. */
    MOST_SYMBOLS = 1 << 16,
    /* Are named at once, in their order: what is near each other in the file is read once. */
    BATCH = 1024,
};

struct server_lib {
    struct lookup_naming naming;
    uint64_t svmas[BATCH];
    size_t count; /* of them */
};

int lookup_server_init(struct lookup_server *server, const struct convert_options *options)
{
    *server = (struct lookup_server){
        .lookup = {.profile = profile_new(), .options = options},
        .libs = calloc(LOOKUP_AHEAD_LIBS, sizeof(*server->libs)),
    };
    return server->lookup.profile && server->libs ? 0 : -ENOMEM;
}

void lookup_server_free(struct lookup_server *server)
{
    profile_free(server->lookup.profile);
    free(server->libs);
}

size_t lookup_server_lib(uint8_t *message, uint32_t lib, const char *path, const uint8_t *build_id,
                         size_t build_id_bytes)
{
    uint32_t head[] = {A_LIB, lib, (uint32_t)build_id_bytes};
    size_t path_bytes = strlen(path) + 1, size = sizeof(head) + build_id_bytes + path_bytes;
    if (size > SIDE_WORKER_MESSAGE_BYTES)
        return 0;
    memcpy(message, head, sizeof(head));
    memcpy(message + sizeof(head), build_id, build_id_bytes);
    memcpy(message + sizeof(head) + build_id_bytes, path, path_bytes);
    return size;
}

static void take_lib(struct lookup_server *server, struct cursor c)
{
    struct profile *profile = server->lookup.profile;
    uint32_t number = cursor_u32(&c), build_id_bytes = cursor_u32(&c);
    const uint8_t *build_id = cursor_bytes(&c, build_id_bytes);
    const char *path = cursor_string(&c);
    if (!path || number >= LOOKUP_AHEAD_LIBS || server->libs[number])
        return;
    uint32_t lib = profile_lib_id(profile, path, build_id, build_id_bytes);
    if (lib == PROFILE_NONE)
        return;
    struct server_lib *it = server->libs[number] = calloc(1, sizeof(*it));
    if (!it)
        return;
    it->naming =
        (struct lookup_naming){.lookup = &server->lookup, .lib = lib, .most_symbols = MOST_SYMBOLS};
    lookup_naming_open(&it->naming, NULL, 0);
}

static int by_svma(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void name_batch(struct server_lib *lib)
{
    qsort(lib->svmas, lib->count, sizeof(lib->svmas[0]), by_svma);
    for (size_t i = 0; i < lib->count; i++)
        lookup_naming_add(&lib->naming, lib->svmas[i]);
    lib->count = 0;
}

static void take_question(struct lookup_server *server, const struct lookup_question *question)
{
    struct server_lib *lib = question->lib < LOOKUP_AHEAD_LIBS ? server->libs[question->lib] : NULL;
    if (!lib)
        return;
    lib->svmas[lib->count++] = question->svma;
    if (lib->count == BATCH)
        name_batch(lib);
}

void lookup_server_take(void *context, const void *message, size_t size)
{
    struct cursor c = cursor_of(message, size);
    struct lookup_question question;
    if (cursor_u32(&c) == A_LIB) {
        take_lib(context, c);
        return;
    }
    for (size_t at = 0; size - at >= sizeof(question); at += sizeof(question)) {
        memcpy(&question, (const uint8_t *)message + at, sizeof(question));
        take_question(context, &question);
    }
}

static void answer_lib(struct server_lib *lib, uint32_t number, struct buffer *answer)
{
    name_batch(lib);
    buffer_u32(answer, number);
    buffer_u32(answer, 0); /* the size's place */
    size_t start = answer->size;
    lookup_naming_say(&lib->naming, answer);
    lookup_naming_answer(&lib->naming, answer);
    if (!answer->failed)
        buffer_set_u32(answer, start - sizeof(uint32_t), (uint32_t)(answer->size - start));
}

void lookup_server_finish(void *context, struct buffer *answer)
{
    struct lookup_server *server = context;
    for (uint32_t i = 0; i < LOOKUP_AHEAD_LIBS; i++)
        if (server->libs[i] && server->libs[i]->naming.err != -E2BIG)
            answer_lib(server->libs[i], i, answer);
}
