/* SPDX-License-Identifier: MIT */
/*
 * Samples with the counters of a whole group (perf record -e '{a,b}:S'): the first event sets the
 * time of samples, and each event of the group gets a sample with its increase since the last.
 *
 *     sample of a    counters: a 1000, b 70      sample of a: 1000    sample of b: 70
 *     sample of a    counters: a 2000, b 75   ▶  sample of a: 1000    sample of b: 5
 */
#pragma once

#include "base/containers/intern.h"
#include "perfdata/reader.h"

struct group_reads {
    struct intern *keys; /* owned; counter and thread -> index in last */
    uint64_t *last;      /* owned */
    size_t count, capacity;
};

int group_reads_init(struct group_reads *reads); /* 0 or -ENOMEM */
void group_reads_free(struct group_reads *reads);

/* The counter's increase since the last call, in the order of time. tid: of a counter per
 * thread, else 0. 0 or -ENOMEM. */
int group_reads_delta(struct group_reads *reads, const struct perfdata_count *count, uint32_t tid,
                      uint64_t *rise);
