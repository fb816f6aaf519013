/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/left_out.h"

#include "base/clock.h"
#include "base/containers/hash.h"

enum { PLACES = 2 * LEFT_OUT_MAX };

static uint64_t key_of(struct left_out_files *files, const char *path, uint64_t device,
                       uint64_t inode)
{
    if (files->seed == 0)
        files->seed = monotonic_ns();
    const uint64_t file = hash_word(hash_word(device ^ files->seed) ^ inode);
    return hash_word(hash_bytes(path, strlen(path)) ^ file) | 1;
}

void left_out_add(struct left_out_files *files, const char *path, uint64_t device, uint64_t inode,
                  bool is_of_others)
{
    const uint64_t key = key_of(files, path, device, inode);
    uint64_t place = (key >> 1) % PLACES;
    while (files->keys[place] && files->keys[place] != key)
        place = (place + 1) % PLACES;
    if (files->keys[place] || files->counts.files + files->counts.tables == LEFT_OUT_MAX)
        return;
    files->keys[place] = key;
    ++*(is_of_others ? &files->counts.files : &files->counts.tables);
}
