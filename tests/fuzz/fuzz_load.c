/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data file, to a profile: stacks are unwound, switches and late stacks joined, and
 * every index of the profile is used once. */
#include "base/files/io.h"
#include "convert/convert.h"
#include "profile/walk.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use(const struct profile *profile)
{
    struct profile_by_time by_time;
    uint64_t before_ns = 0;
    size_t count = 0;
    if (profile_by_time_open(&by_time, profile) != 0)
        return;
    for (const struct profile_sample *sample; (sample = profile_by_time_next(&by_time)); count++) {
        if (sample->thread >= profile->thread_count || sample->event >= profile->event_count ||
            sample->time_ns < before_ns)
            __builtin_trap();
        before_ns = sample->time_ns;
        for (uint32_t call = sample->call; call != PROFILE_NONE; call = profile->calls[call].parent)
            if (profile->calls[call].address >= profile->address_count)
                __builtin_trap();
    }
    if (count != profile->sample_count)
        __builtin_trap();
    profile_by_time_close(&by_time);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct profile *profile = NULL;
    struct error error;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 || io_pwrite(fd, bytes, size, 0) != 0)
        __builtin_trap();
    const struct convert_options options = {.debug_directory = "/nonexistent"};
    if (convert_load(&profile, path, &options, &error) == 0)
        use(profile);
    profile_free(profile);
    close(fd);
    return 0;
}
