/* SPDX-License-Identifier: MIT */
/*
 * Names out of symbol tables, looked up while samples are still being loaded: one confined process (base/sandbox/subprocess.h) is
 * told of each address as it is met, and has most of the names when the last sample is there. What it leaves (large
 * tables; libs of which only the recording's end tells whether they are the same), and what it cannot answer, is looked up
 * as ever (lookup.h).
 *
 *     loading        address, address ···························│ resolving
 *     this process   ├─ told ──┬─ told ──┬─ told ──┬─ told all ──┼─ answer of each lib ─┤
 *     worker             opens lib 0, names ··· opens lib 1, names ┘
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/cursor.h"
#include "base/sandbox/subprocess.h"
#include "convert/options.h"
#include "convert/symbolize/lookup_server.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct lookup_ahead {
    struct subprocess worker;
    bool is_told[LOOKUP_SERVER_LIBS];
    size_t told_addresses; /* or left out */
    size_t told_libs;      /* of the profile, when it was looked at last */
    size_t next_addresses; /* so many of the profile are enough to look at it again */
    struct buffer answer;
    struct cursor answers[LOOKUP_SERVER_LIBS]; /* in there, by lib; of no bytes: none */
};

/* Only while this process has one thread, and where no names are stored. Nothing happens where debug info is read, or
 * where a process may not have all libs open. */
void lookup_ahead_start(struct lookup_ahead *ahead, const struct convert_options *options);

/* Of the addresses that are new, when there are enough of them or one is of a new lib. Waits for nobody. */
void lookup_ahead_tell(struct lookup_ahead *ahead, const struct profile *profile);
/* Of all. */
void lookup_ahead_tell_rest(struct lookup_ahead *ahead, const struct profile *profile);

/* Waits for the answers. */
void lookup_ahead_finish(struct lookup_ahead *ahead);

/* What a worker has found out about a lib (lookup_piece.h); false: nothing. */
bool lookup_ahead_find(const struct lookup_ahead *ahead, const struct profile *profile,
                       uint32_t lib, struct cursor *answer);

void lookup_ahead_free(struct lookup_ahead *ahead);
