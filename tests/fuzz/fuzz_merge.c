/* SPDX-License-Identifier: MIT */
/* Two halves of any bytes, each a perf.data file, to the sum of their profiles. Weights add up. */
#include "base/files/io.h"
#include "convert/convert.h"
#include "convert/store/capture.h"
#include "profile/merge.h"
#include "profile/walk.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct profile *load(const uint8_t *bytes, size_t size)
{
    struct profile *profile = NULL;
    struct error error;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 || io_pwrite(fd, bytes, size, 0) != 0)
        __builtin_trap();
    const struct convert_options options = {.debug_directory = "/nonexistent"};
    struct capture capture;
    int err = capture_open(&capture, path, path, &error);
    if (err == 0)
        err = convert_load_from(&profile, &capture, &options, &error);
    if (err == 0)
        err = convert_resolve(profile, &capture, &options, &error);
    capture_close(&capture);
    close(fd);
    if (err == 0)
        return profile;
    profile_free(profile);
    return NULL;
}

/* Of all events; sums may wrap. */
static uint64_t weight_of(const struct profile *profile)
{
    struct profile_walk walk = profile_walk_all(profile);
    uint64_t sum = 0;
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (sample->call != PROFILE_NONE && sample->call >= profile->call_count)
            __builtin_trap();
        sum += sample->weight;
    }
    return sum;
}

static uint64_t add(struct profile_merge *merge, const struct profile *from)
{
    if (!from)
        return 0;
    if (profile_merge_add(merge, from, 1) != 0)
        __builtin_trap();
    return weight_of(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct profile *first = load(bytes, size / 2);
    struct profile *second = load(bytes + size / 2, size - size / 2);
    struct profile_merge *merge = profile_merge_new(false);
    uint64_t expected = add(merge, first) + add(merge, second);
    struct profile *sum = profile_merge_finish(merge);
    if (!sum || weight_of(sum) != expected)
        __builtin_trap();
    profile_merge_free(merge);
    profile_free(first);
    profile_free(second);
    profile_free(sum);
    return 0;
}
