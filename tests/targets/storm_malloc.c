/* SPDX-License-Identifier: MIT */
/* storm_malloc ROUNDS: allocates, grows, fills, checks and frees, many blocks at a time. */
#include "storm.h"

#include <string.h>

enum { BLOCKS = 64 };

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char filling;
};

static uint64_t check(const struct block *block)
{
    for (size_t i = 0; i < block->size; i++)
        if (block->bytes[i] != block->filling)
            abort();
    return block->size ^ block->filling;
}

static void renew(struct storm *storm, struct block *block)
{
    uint64_t random = storm_random(storm);
    size_t size = random % 16 == 0 ? random % 200000 : random % 500;
    if (random >> 20 & 1) {
        block->bytes = realloc(block->bytes, size + 1);
    } else {
        free(block->bytes);
        block->bytes =
            random >> 21 & 1 ? calloc(1, size + 1) : aligned_alloc(64, size + 64 - size % 64);
    }
    block->size = size;
    block->filling = (unsigned char)(random >> 30);
    memset(block->bytes, block->filling, size);
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    struct block blocks[BLOCKS] = {0};
    for (unsigned long round = 0; round < storm->rounds; round++) {
        struct block *block = &blocks[storm_random(storm) % BLOCKS];
        storm->sum = storm->sum * 31 + check(block);
        renew(storm, block);
    }
    for (int i = 0; i < BLOCKS; i++) {
        storm->sum += check(&blocks[i]);
        free(blocks[i].bytes);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    return storm_run(argc, argv, work);
}
