/* SPDX-License-Identifier: MIT */
/*
 * Converts calls (one node per address) to stacks (one node per frame): a call extends its caller's
 * stack by the frames of its address, outermost first. Stacks are unique without a lookup: no two
 * calls have the same parent and address, and no two addresses share a frame.
 */
#include "profile/profile.h"

#include "base/containers/array.h"

/*
 * The call of samples without addresses. These samples carry weight, so they get a frame with a
 * descriptive name: exporters need no special case, and totals stay complete.
 */
static uint32_t no_stack_call(struct profile *profile)
{
    uint32_t lib = profile_lib_id(profile, PROFILE_NO_STACK, NULL, 0);
    uint32_t address = profile_address_id(profile, lib, 0);
    profile_name_synthetic(profile, address, PROFILE_NO_STACK);
    return profile->failed ? PROFILE_NONE : profile_call_id(profile, PROFILE_NONE, address);
}

static uint32_t add_stack(struct profile *profile, uint32_t parent, uint32_t frame)
{
    struct profile_stack *stack =
        profile->stack_count < PROFILE_NONE
            ? ARRAY_PUSH(profile->stacks, profile->stack_count, profile->stack_capacity)
            : NULL;
    profile->failed |= !stack;
    if (!stack)
        return PROFILE_NONE;
    *stack = (struct profile_stack){parent, frame};
    return (uint32_t)profile->stack_count - 1;
}

static uint32_t stack_of_call(struct profile *profile, const struct profile_call *call)
{
    uint32_t stack =
        call->parent == PROFILE_NONE ? PROFILE_NONE : profile->calls[call->parent].stack;
    const struct profile_address *address = &profile->addresses[call->address];
    for (uint32_t i = 0; i < address->frame_count && !profile->failed; i++)
        stack = add_stack(profile, stack, address->first_frame + i);
    return stack;
}

void profile_link_stacks(struct profile *profile)
{
    if (profile->has_callless && profile->no_stack_call == PROFILE_NONE)
        profile->no_stack_call = no_stack_call(profile);
    profile->stack_count = 0;
    for (size_t i = 0; i < profile->call_count && !profile->failed; i++)
        profile->calls[i].stack = stack_of_call(profile, &profile->calls[i]);
}
