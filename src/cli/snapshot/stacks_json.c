/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/stacks_json.h"

#include "cli/report/json_report.h"
#include "cli/report/report.h"
#include "export/encoding/json.h"
#include "record/procfs/blocked/wait_age.h"

static void append_frame(const struct profile *profile, const struct profile_frame *frame,
                         struct buffer *out)
{
    const struct profile_func *func = &profile->funcs[frame->func];
    json_open(out, '{');
    json_member_string(out, "function", profile_text(profile, func->name));
    if (frame->lib != PROFILE_NONE)
        json_member_string(out, "module", profile_text(profile, profile->libs[frame->lib].path));
    json_member_unsigned(out, "address", frame->svma);
    if (frame->file != PROFILE_NONE)
        json_member_string(out, "file", profile_text(profile, frame->file));
    if (frame->line)
        json_member_unsigned(out, "line", frame->line);
    json_member_bool(out, "is_inlined", frame->inline_depth > 0);
    json_close(out, '}');
}

/* Down to the end of the stack, or to `end`. */
static void append_frames(const struct profile *profile, const char *key, uint32_t stack,
                          uint32_t end, struct buffer *out)
{
    json_key(out, key);
    json_open(out, '[');
    for (; stack != end && stack != PROFILE_NONE; stack = profile->stacks[stack].parent)
        append_frame(profile, &profile->frames[profile->stacks[stack].frame], out);
    json_close(out, ']');
}

static void append_wait(const struct named_snapshot *named, size_t number, struct buffer *out)
{
    const struct snapshot_thread *thread = &named->snapshot.threads[number];
    json_key(out, "waits");
    json_open(out, '{');
    json_member_string(out, "kind", wait_kind_name(thread->kind));
    json_member_string(out, "text", named_snapshot_wait(named, number).text);
    if (thread->call[0])
        json_member_string(out, "system_call", thread->call);
    if (thread->descriptor >= 0)
        json_member_integer(out, "descriptor", thread->descriptor);
    if (thread->object[0])
        json_member_string(out, "object", thread->object);
    if (thread->futex_avma)
        json_member_unsigned(out, "futex_address", thread->futex_avma);
    if (thread->holder)
        json_member_integer(out, "holder_tid", thread->holder);
    if (thread->child)
        json_member_integer(out, "child_pid", thread->child);
    if (thread->age_ns != WAIT_AGE_UNKNOWN)
        json_member_unsigned(out, "since_ns", thread->age_ns);
    json_close(out, '}');
}

static void append_facts(const struct thread_facts *facts, struct buffer *out)
{
    const char state[2] = {facts->state, '\0'};
    json_member_string(out, "name", facts->name);
    if (facts->state)
        json_member_string(out, "state", state);
    json_member_unsigned(out, "cpu_ns", facts->cpu_ns);
    json_member_unsigned(out, "user_ns", facts->user_ns);
    json_member_unsigned(out, "kernel_ns", facts->kernel_ns);
    json_member_unsigned(out, "run_queue_ns", facts->delay_ns);
    json_member_unsigned(out, "voluntary_switches", facts->voluntary);
    json_member_unsigned(out, "involuntary_switches", facts->involuntary);
}

static void append_thread(const struct named_snapshot *named, size_t number, bool with_frames,
                          struct buffer *out)
{
    const struct snapshot_thread *thread = &named->snapshot.threads[number];
    uint32_t func = named_snapshot_function(named, number);
    json_open(out, '{');
    json_member_integer(out, "tid", thread->tid);
    append_facts(&thread->facts, out);
    if (thread->is_waiting)
        append_wait(named, number, out);
    if (thread->is_starved)
        json_member_unsigned(out, "without_processor_ns", thread->age_ns);
    if (thread->signal)
        json_member_integer(out, "signal", thread->signal);
    if (func != PROFILE_NONE)
        json_member_string(out, "function", report_name(named->profile, func));
    json_member_bool(out, "is_complete", thread->is_complete);
    json_member_bool(out, "has_inferred_frame_pointer", thread->is_inferred);
    const char *stop_problem = named_snapshot_stop_problem(thread);
    if (stop_problem)
        json_member_string(out, "not_stopped", stop_problem);
    if (thread->problem[0])
        json_member_string(out, "problem", thread->problem);
    const uint32_t stack = named->stacks[number], user = named_snapshot_user_stack(named, number);
    if (with_frames && stack != user)
        append_frames(named->profile, "kernel_frames", stack, user, out);
    if (with_frames)
        append_frames(named->profile, "frames", user, PROFILE_NONE, out);
    json_close(out, '}');
}

void stacks_json(const struct named_snapshot *named, bool with_frames, struct buffer *out)
{
    json_report_open(out, NULL);
    json_member_integer(out, "pid", named->snapshot.pid);
    if (named->snapshot.inner_pid)
        json_member_integer(out, "namespace_pid", named->snapshot.inner_pid);
    json_member_string(out, "name", named->snapshot.name);
    json_member_unsigned(out, "torn_reads", named->snapshot.torn);
    json_key(out, "threads");
    json_open(out, '[');
    for (size_t i = 0; i < named->snapshot.count; i++)
        append_thread(named, i, with_frames, out);
    json_close(out, ']');
    json_report_close(out);
}
