/* SPDX-License-Identifier: MIT */
#include "cli/waits/wait_text.h"

#include "base/text/log.h"
#include "cli/terminal/frames.h"

#include <stdio.h>
#include <string.h>

enum { THREADS_SHOWN = 6, FRAMES_SHOWN = 24 };

void wait_text_threads(const struct profile *profile, size_t count,
                       uint32_t (*thread_at)(const void *context, size_t index),
                       const void *context)
{
    printf("%zu thread%s: ", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < THREADS_SHOWN; i++) {
        const struct profile_thread *thread = &profile->threads[thread_at(context, i)];
        text_print(stdout, "%s%d %s", i ? ", " : "", (int)thread->tid,
                   profile_text(profile, thread->name));
    }
    if (count > THREADS_SHOWN)
        printf(", and %zu more", count - THREADS_SHOWN);
}

uint32_t wait_text_stack(const struct profile *profile, uint32_t stack)
{
    bool has_leaf = stack != PROFILE_NONE &&
                    wait_reason_is_lib(profile, profile->frames[profile->stacks[stack].frame].lib);
    return has_leaf ? profile->stacks[stack].parent : stack;
}

void wait_text_frames(const struct profile *profile, uint32_t stack, unsigned columns)
{
    stack = wait_text_stack(profile, stack);
    if (stack == PROFILE_NONE)
        printf("    no stack\n");
    else
        frames_print(profile, stack, columns, FRAMES_SHOWN);
}

static bool is_of_system(const struct profile *profile, const struct profile_frame *frame)
{
    const char *lib =
        frame->lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[frame->lib].name);
    return frame->category == PROFILE_KERNEL || strncmp(lib, "libc.", 5) == 0 ||
           strncmp(lib, "libpthread", 10) == 0 || strncmp(lib, "ld-", 3) == 0 ||
           strncmp(lib, "librec-sampler", 14) == 0;
}

const char *wait_text_place(const struct profile *profile, uint32_t stack)
{
    const struct profile_frame *place = NULL;
    stack = wait_text_stack(profile, stack);
    for (; stack != PROFILE_NONE; stack = profile->stacks[stack].parent) {
        const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
        bool is_own = !is_of_system(profile, frame);
        if (is_own || !place)
            place = frame;
        if (is_own)
            break;
    }
    return place ? profile_text(profile, profile->funcs[place->func].name) : "";
}

const char *wait_text_reason(const struct profile_wait_reason *reason)
{
    return reason->kind == PROFILE_RUNNABLE       ? "runnable, without a processor"
           : reason->kind == PROFILE_WAIT_UNKNOWN ? "unknown reason"
                                                  : reason->text;
}
