/* SPDX-License-Identifier: MIT */
#include "cli/summary/kernel_hint.h"

#include "cli/summary/diagnostic_list.h"
#include "cli/terminal/format.h"
#include "profile/walk.h"
#include "record/launch/kernel_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The start of a program and its file accesses stay below. */
#define KERNEL_PERCENT_MIN 30.0

static bool is_large(uint64_t kernel_ns, uint64_t cpu_ns)
{
    return diagnostic_percent(kernel_ns, cpu_ns) >= KERNEL_PERCENT_MIN;
}

static struct kernel_hint hint_of(uint64_t kernel_ns, uint64_t cpu_ns, const char *remedy,
                                  const char *detail)
{
    struct kernel_hint hint;
    snprintf(hint.text, sizeof(hint.text),
             "%s of the CPU time is in the kernel, recorded without kernel functions: %s%s",
             format_percent(kernel_ns, cpu_ns).text, remedy, detail);
    return hint;
}

struct kernel_hint kernel_hint_of_recording(const struct record_options *options,
                                            const struct record_summary *summary)
{
    uint64_t kernel_ns = summary->cpu_kernel_ns;
    uint64_t billed_ns = summary->cpu_billed_ns, seen_ns = summary->cpu_seen_ns;
    uint64_t cpu_ns = billed_ns > seen_ns ? billed_ns : seen_ns;
    struct error refusal = {{0}};
    if (options->kernel_stacks || options->exclude_kernel || !is_large(kernel_ns, cpu_ns))
        return (struct kernel_hint){""};
    if (kernel_access_check(&refusal) != 0)
        return hint_of(kernel_ns, cpu_ns, "--kernel records them, but ", refusal.text);
    bool is_timer = options->engine == RECORD_ENGINE_TIMER;
    return hint_of(kernel_ns, cpu_ns, "add --kernel", is_timer ? " and remove --engine" : "");
}

static uint64_t note_ns(const struct profile *profile, const char *key)
{
    const char *note = profile_note(profile, key);
    return note ? strtoull(note, NULL, 10) : 0;
}

/* Samples of a part of the capture may have another share than the recording. Waits of root end in
 * kernel functions, too: the main event decides. */
struct kernel_time {
    uint64_t kernel_ns, cpu_ns;
    bool has_functions;
};

static struct kernel_time kernel_time_of(const struct profile *profile)
{
    struct kernel_time time = {0};
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (!profile_is_main(profile, sample))
            continue;
        time.cpu_ns += sample->weight;
        uint32_t call = sample->call;
        uint32_t lib = call == PROFILE_NONE ? PROFILE_NONE
                                            : profile->addresses[profile->calls[call].address].lib;
        const char *path =
            lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[lib].path);
        if (strcmp(path, "[kernel]") == 0)
            time.kernel_ns += sample->weight;
        time.has_functions |= strcmp(path, "[kernel.kallsyms]") == 0;
    }
    return time;
}

struct kernel_hint kernel_hint_of_capture(const struct profile *profile)
{
    struct kernel_hint none = {""};
    struct profile_event event = profile_main_event(profile);
    if (!profile_is_cpu_time(&event) ||
        !is_large(note_ns(profile, "cpu_kernel_ns"), note_ns(profile, "cpu_seen_ns")))
        return none;
    struct kernel_time time = kernel_time_of(profile);
    if (!is_large(time.kernel_ns, time.cpu_ns) || time.has_functions)
        return none;
    return hint_of(time.kernel_ns, time.cpu_ns, "record with --kernel", "");
}
