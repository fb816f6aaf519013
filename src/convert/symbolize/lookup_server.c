/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/lookup_server.h"

#include "base/containers/cursor.h"
#include "base/sandbox/subprocess.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    A_LIB = UINT32_MAX, /* such a lib there is not */
    /* A whole table is read, since nobody knows which of it will be asked for: 3 MB of memory. */
    MOST_SYMBOLS = 1 << 16,
};

int lookup_server_init(struct lookup_server *server, const struct convert_options *options)
{
    *server = (struct lookup_server){
        .profile = profile_new(),
        .options = options,
        .libs = calloc(LOOKUP_SERVER_LIBS, sizeof(*server->libs)),
    };
    return server->profile && server->libs ? 0 : -ENOMEM;
}

void lookup_server_free(struct lookup_server *server)
{
    profile_free(server->profile);
    free(server->libs);
}

size_t lookup_server_lib(uint8_t *message, uint32_t lib, const char *path, const uint8_t *build_id,
                         size_t build_id_bytes)
{
    uint32_t head[] = {A_LIB, lib, (uint32_t)build_id_bytes};
    size_t path_bytes = strlen(path) + 1, size = sizeof(head) + build_id_bytes + path_bytes;
    if (size > SUBPROCESS_MESSAGE_BYTES)
        return 0;
    memcpy(message, head, sizeof(head));
    memcpy(message + sizeof(head), build_id, build_id_bytes);
    memcpy(message + sizeof(head) + build_id_bytes, path, path_bytes);
    return size;
}

static void take_lib(struct lookup_server *server, struct cursor c)
{
    struct profile *profile = server->profile;
    uint32_t number = cursor_u32(&c), build_id_bytes = cursor_u32(&c);
    const uint8_t *build_id = cursor_bytes(&c, build_id_bytes);
    const char *path = cursor_string(&c);
    if (!path || number >= LOOKUP_SERVER_LIBS || server->libs[number])
        return;
    uint32_t lib = profile_lib_id(profile, path, build_id, build_id_bytes);
    if (lib == PROFILE_NONE)
        return;
    struct lib_symbols *symbols = server->libs[number] = malloc(sizeof(*symbols));
    if (!symbols)
        return;
    *symbols = (struct lib_symbols){
        .profile = profile, .options = server->options, .lib = lib, .most_symbols = MOST_SYMBOLS};
    lib_symbols_open(symbols, NULL, 0);
}

static int by_svma(const void *left, const void *right)
{
    const struct lookup_question *a = left, *b = right;
    if (a->lib != b->lib)
        return a->lib < b->lib ? -1 : 1;
    return (a->svma > b->svma) - (a->svma < b->svma);
}

/* In the order of addresses: what is near each other in the file is read once. */
static void take_questions(struct lookup_server *server, struct lookup_question *questions,
                           size_t count)
{
    qsort(questions, count, sizeof(*questions), by_svma);
    for (size_t i = 0; i < count; i++)
        if (questions[i].lib < LOOKUP_SERVER_LIBS && server->libs[questions[i].lib])
            lib_symbols_add(server->libs[questions[i].lib], questions[i].svma);
}

void lookup_server_take(void *context, const void *message, size_t size)
{
    struct lookup_question questions[SUBPROCESS_MESSAGE_BYTES / sizeof(struct lookup_question)];
    struct cursor c = cursor_of(message, size);
    if (cursor_u32(&c) == A_LIB) {
        take_lib(context, c);
    } else if (size <= sizeof(questions)) {
        memcpy(questions, message, size);
        take_questions(context, questions, size / sizeof(questions[0]));
    }
}

static void answer_lib(struct lib_symbols *symbols, uint32_t number, struct buffer *answer)
{
    buffer_u32(answer, number);
    buffer_u32(answer, 0); /* the size's place */
    size_t start = answer->size;
    lib_symbols_write_note(symbols, answer);
    lib_symbols_write(symbols, answer);
    if (!answer->failed)
        buffer_set_u32(answer, start - sizeof(uint32_t), (uint32_t)(answer->size - start));
}

void lookup_server_finish(void *context, struct buffer *answer)
{
    struct lookup_server *server = context;
    for (uint32_t i = 0; i < LOOKUP_SERVER_LIBS; i++)
        if (server->libs[i] && server->libs[i]->err != -E2BIG)
            answer_lib(server->libs[i], i, answer);
}
