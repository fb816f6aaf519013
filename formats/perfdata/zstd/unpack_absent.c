/* SPDX-License-Identifier: MIT */
/* In place of unpack.c where libzstd was not there to build with. */
#include "perfdata/zstd/unpack.h"

#include <errno.h>

bool unpacker_is_there(void)
{
    return false;
}

struct unpacker *unpacker_new(void)
{
    return NULL;
}

void unpacker_free(struct unpacker *unpacker)
{
    (void)unpacker;
}

void unpacker_feed(struct unpacker *unpacker, const uint8_t *bytes, size_t size)
{
    (void)unpacker, (void)bytes, (void)size;
}

int unpacker_peek(struct unpacker *unpacker, size_t size, const uint8_t **bytes)
{
    (void)unpacker, (void)size, (void)bytes;
    return -EBADMSG;
}

void unpacker_take(struct unpacker *unpacker, size_t size)
{
    (void)unpacker, (void)size;
}

bool unpacker_has_rest(const struct unpacker *unpacker)
{
    (void)unpacker;
    return false;
}
