/* SPDX-License-Identifier: MIT */
#include "elf/elf_stream.h"

#include <errno.h>

#ifdef REC_HAVE_ISAL
#include "base/loaded_library.h"
#include "elf/decompress.h"
#include "elf/elf_internal.h"

#include <elf.h>
#include <isa-l.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 15 };

static struct {
    __typeof__(isal_inflate_init) *init;
    __typeof__(isal_inflate) *inflate;
} library;

static struct library_at_need libisal =
    LIBRARY_AT_NEED("", {"isal_inflate_init", &library.init}, {"isal_inflate", &library.inflate});

/* The soname has the version of the headers. */
void elf_stream_prepare(void)
{
    snprintf(libisal.file, sizeof(libisal.file), "libisal.so.%d", ISAL_MAJOR_VERSION);
    (void)library_need(&libisal);
}

/*
 *     file ─▶ in ─▶ libisal ─▶ out ─▶ ready ─▶ the caller, or left out
 *                   └ keeps output without room in `out`
 */
struct elf_stream {
    const struct elf_file *elf;
    uint64_t at, end;     /* file range of the unread rest */
    uint64_t bytes;       /* inflated */
    const uint8_t *ready; /* inflated, not yet consumed */
    size_t ready_bytes;
    bool may_have_more; /* inflated inside of the library */
    uint8_t in[CHUNK_BYTES], out[CHUNK_BYTES];
    struct inflate_state state;
};

int elf_stream_open(struct elf_stream **out, const struct elf_file *elf,
                    const struct elf_section *section)
{
    uint8_t header[sizeof(Elf64_Chdr)];
    uint32_t method;
    uint64_t bytes;
    if (!libisal.is_there || !(section->flags & SHF_COMPRESSED) || section->bytes < sizeof(header))
        return -ENOTSUP;
    int err = elf_read_at(elf, section->offset, header, sizeof(header));
    struct cursor c = cursor_of(header, sizeof(header));
    if (err == 0)
        err = elf_read_compression(&c, &method, &bytes);
    if (err != 0)
        return err;
    if (method != ELFCOMPRESS_ZLIB)
        return -ENOTSUP;
    if (bytes > decompress_limit((size_t)section->bytes))
        return -EFBIG;
    struct elf_stream *stream = malloc(sizeof(*stream));
    if (!stream)
        return -ENOMEM;
    stream->elf = elf;
    stream->at = section->offset + sizeof(header);
    stream->end = section->offset + section->bytes;
    stream->bytes = bytes;
    stream->ready_bytes = 0;
    stream->may_have_more = false;
    library.init(&stream->state);
    stream->state.crc_flag = ISAL_ZLIB;
    *out = stream;
    return 0;
}

void elf_stream_close(struct elf_stream *stream)
{
    free(stream);
}

uint64_t elf_stream_bytes(const struct elf_stream *stream)
{
    return stream->bytes;
}

/* At the end of the section with an unfinished stream: -EBADMSG. */
static int read_more(struct elf_stream *stream)
{
    uint64_t left = stream->end - stream->at;
    size_t size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    int err = size ? elf_read_at(stream->elf, stream->at, stream->in, size) : -EBADMSG;
    if (err != 0)
        return err;
    stream->at += size;
    stream->state.next_in = stream->in;
    stream->state.avail_in = (uint32_t)size;
    return 0;
}

/* Inflates until there is some output. A full output buffer may leave more inside of the library,
 * which is taken before further input. */
static int inflate_more(struct elf_stream *stream)
{
    struct inflate_state *state = &stream->state;
    state->next_out = stream->out;
    state->avail_out = CHUNK_BYTES;
    while (state->avail_out == CHUNK_BYTES) {
        int err = state->block_state == ISAL_BLOCK_FINISH ? -EBADMSG : 0;
        if (err == 0 && state->avail_in == 0 && !stream->may_have_more)
            err = read_more(stream);
        if (err == 0 && library.inflate(state) != ISAL_DECOMP_OK)
            err = -EBADMSG;
        if (err != 0)
            return err;
        stream->may_have_more = state->avail_out == 0;
    }
    stream->ready = stream->out;
    stream->ready_bytes = CHUNK_BYTES - state->avail_out;
    return 0;
}

int elf_stream_read(struct elf_stream *stream, void *out, uint64_t size)
{
    uint8_t *to = out;
    while (size > 0) {
        int err = stream->ready_bytes ? 0 : inflate_more(stream);
        if (err != 0)
            return err;
        size_t part = size < stream->ready_bytes ? (size_t)size : stream->ready_bytes;
        if (to) {
            memcpy(to, stream->ready, part);
            to += part;
        }
        stream->ready += part;
        stream->ready_bytes -= part;
        size -= part;
    }
    return 0;
}

#else

void elf_stream_prepare(void)
{
}

int elf_stream_open(struct elf_stream **out, const struct elf_file *elf,
                    const struct elf_section *section)
{
    (void)out, (void)elf, (void)section;
    return -ENOTSUP;
}

void elf_stream_close(struct elf_stream *stream)
{
    (void)stream;
}

uint64_t elf_stream_bytes(const struct elf_stream *stream)
{
    (void)stream;
    return 0;
}

int elf_stream_read(struct elf_stream *stream, void *out, uint64_t size)
{
    (void)stream, (void)out, (void)size;
    return -ENOTSUP;
}
#endif
