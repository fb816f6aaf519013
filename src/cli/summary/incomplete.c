/* SPDX-License-Identifier: MIT */
/*
 *     incomplete = 100 * (T - C - E - K) / T, at least 0; 0 when T is 0
 *
 *     T  CPU time of the tree: the larger of rusage and the sum of all weights
 *     C  weight of the samples with a complete stack
 *     E  synthetic weight at the start and end of processes and threads, and between samples
 *     K  kernel time of threads without a user stack, such as io_uring workers
 */
#include "cli/summary/incomplete.h"

double incomplete_percent(const struct record_summary *summary)
{
    uint64_t billed_ns = summary->cpu_billed_ns, seen_ns = summary->cpu_seen_ns;
    uint64_t total_ns = billed_ns > seen_ns ? billed_ns : seen_ns;
    uint64_t known_ns =
        summary->cpu_complete_ns + summary->cpu_ends_ns + summary->cpu_unsampled_kernel_ns;
    if (known_ns >= total_ns)
        return 0;
    return (double)(total_ns - known_ns) * 100 / (double)total_ns;
}
