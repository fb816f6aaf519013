/* SPDX-License-Identifier: MIT */
#include "cli/waits/waits_report.h"

#include "cli/report/json_report.h"
#include "cli/waits/wait_text.h"
#include "export/encoding/json.h"

static void member_sum(const struct wait_sum *sum, struct buffer *out)
{
    json_member_unsigned(out, "total_ns", sum->total_ns);
    json_member_unsigned(out, "longest_ns", wait_sum_longest_ns(sum));
    json_member_unsigned(out, "waits", sum->waits);
}

/* "calls": names, innermost first, without the leaf. */
static void member_calls(const struct profile *profile, uint32_t stack, struct buffer *out)
{
    json_key(out, "calls");
    json_open(out, '[');
    stack = wait_text_stack(profile, stack);
    for (; stack != PROFILE_NONE; stack = profile->stacks[stack].parent)
        json_string(
            out,
            profile_text(profile,
                         profile->funcs[profile->frames[profile->stacks[stack].frame].func].name));
    json_close(out, ']');
}

static void member_thread(const struct profile *profile, uint32_t index, struct buffer *out)
{
    const struct profile_thread *thread = &profile->threads[index];
    json_member_integer(out, "pid", profile->processes[thread->process].pid);
    json_member_integer(out, "tid", thread->tid);
    json_member_string(out, "name", profile_text(profile, thread->name));
}

static void append_members(const struct wait_groups *groups, const struct wait_group *group,
                           struct buffer *out)
{
    json_key(out, "threads");
    json_open(out, '[');
    for (size_t i = 0; i < group->member_count; i++) {
        const struct wait_member *member = &groups->members[group->first_member + i];
        json_open(out, '{');
        member_thread(groups->profile, member->thread, out);
        member_sum(&member->sum, out);
        json_member_bool(out, "is_idle", member->is_idle);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void waits_json(const struct wait_groups *groups, const char *path, struct buffer *out)
{
    json_report_open(out, path);
    json_member_unsigned(out, "total_ns", groups->total_ns);
    json_member_unsigned(out, "idle_ns", groups->idle_ns);
    json_member_unsigned(out, "runnable_ns", groups->runnable_ns);
    json_key(out, "reasons");
    json_open(out, '[');
    for (size_t i = 0; i < groups->reason_count; i++) {
        json_open(out, '{');
        json_member_string(out, "reason", groups->reasons[i].reason.text);
        member_sum(&groups->reasons[i].sum, out);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_key(out, "stacks");
    json_open(out, '[');
    for (size_t i = 0; i < groups->count; i++) {
        const struct wait_group *group = &groups->groups[i];
        json_open(out, '{');
        json_member_string(out, "reason", group->reason.text);
        member_sum(&group->sum, out);
        json_member_unsigned(out, "idle_ns", group->pool.total_ns);
        member_calls(groups->profile, group->stack, out);
        append_members(groups, group, out);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_report_close(out);
}

void stuck_json(const struct stuck *stuck, const char *path, struct buffer *out)
{
    const struct profile *profile = stuck->profile;
    json_report_open(out, path);
    json_key(out, "threads");
    json_open(out, '[');
    for (size_t i = 0; i < stuck->count; i++) {
        const struct stuck_group *group = &stuck->groups[i];
        for (size_t j = 0; j < group->count; j++) {
            const struct profile_wait *wait = &stuck->waits[group->first + j].wait;
            json_open(out, '{');
            member_thread(profile, wait->thread, out);
            json_member_string(out, "reason", group->reason.text);
            json_member_bool(out, "is_at_end", group->is_at_end);
            json_member_unsigned(out, "age_ns", wait->length_ns);
            json_member_unsigned(
                out, "start_ns",
                wait->start_ns > profile->start_ns ? wait->start_ns - profile->start_ns : 0);
            struct wait_object_text object =
                wait_object_text(profile, stuck->waits[group->first + j].object);
            if (object.text[0])
                json_member_string(out, "object", object.text);
            member_calls(profile, group->stack, out);
            json_close(out, '}');
        }
    }
    json_close(out, ']');
    json_report_close(out);
}
