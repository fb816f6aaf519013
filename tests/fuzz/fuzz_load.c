/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data file, to a profile: stacks are unwound, switches and late stacks joined, and
 * every index of the profile is used once. */
#include "base/io.h"
#include "convert/load.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use(const struct profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        if (sample->thread >= profile->thread_count || sample->event >= profile->event_count ||
            (i > 0 && sample[-1].time_ns > sample->time_ns))
            __builtin_trap();
        for (uint32_t call = sample->call; call != PROFILE_NONE; call = profile->calls[call].parent)
            if (profile->calls[call].address >= profile->address_count)
                __builtin_trap();
    }
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
