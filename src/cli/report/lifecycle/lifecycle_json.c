/* SPDX-License-Identifier: MIT */
#include "cli/report/lifecycle/lifecycle.h"

#include "cli/report/json_report.h"
#include "export/encoding/json.h"

enum { FUNCTIONS_MAX = 128 };

static void member_time(const struct profile *profile, const char *key, uint64_t time_ns,
                        struct buffer *out)
{
    json_member_unsigned(out, key, time_ns > profile->start_ns ? time_ns - profile->start_ns : 0);
}

/* {"time_ns", "tid", "calls": innermost first} */
static void append_action(const struct profile *profile, const char *key,
                          const struct profile_life_event *event, struct buffer *out)
{
    const char *names[FUNCTIONS_MAX];
    if (!event)
        return;
    json_key(out, key);
    json_open(out, '{');
    member_time(profile, "time_ns", event->time_ns, out);
    json_member_integer(out, "tid", profile->threads[event->by].tid);
    json_key(out, "calls");
    json_open(out, '[');
    size_t count = lifecycle_functions(profile, event->call, names, FUNCTIONS_MAX);
    for (size_t i = 0; i < count; i++)
        json_string(out, names[i]);
    json_close(out, ']');
    json_close(out, '}');
}

static void append_names(const struct lifecycle *lifecycle, uint32_t thread, struct buffer *out)
{
    const struct profile *profile = lifecycle->profile;
    uint32_t at = lifecycle->first_name[thread];
    json_key(out, "names");
    json_open(out, '[');
    for (; at != PROFILE_NONE; at = lifecycle->next_name[at]) {
        const struct profile_life_event *event = &profile->life_events[at];
        json_open(out, '{');
        member_time(profile, "time_ns", event->time_ns, out);
        json_member_string(out, "name", profile_text(profile, event->name));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_thread(const struct lifecycle *lifecycle, const struct lifecycle_thread *thread,
                          struct buffer *out)
{
    const struct profile *profile = lifecycle->profile;
    const struct profile_thread *of = &profile->threads[thread->thread];
    json_open(out, '{');
    json_member_integer(out, "pid", profile->processes[of->process].pid);
    json_member_integer(out, "tid", of->tid);
    json_member_string(out, "name", profile_text(profile, of->name));
    json_member_string(out, "fate", lifecycle_fate_name(thread->fate));
    append_action(profile, "created", thread->created, out);
    json_member_bool(out, "created_detached", thread->created->is_detached);
    append_names(lifecycle, thread->thread, out);
    if (of->end_ns)
        member_time(profile, "ended_ns", of->end_ns, out);
    append_action(profile, "joined", thread->joined, out);
    append_action(profile, "detached", thread->detached, out);
    member_time(profile, "last_cpu_ns", thread->last_cpu_ns, out);
    json_member_unsigned(out, "cpu_ns", thread->cpu_ns);
    json_close(out, '}');
}

void lifecycle_json(const struct lifecycle *lifecycle, const char *path, struct buffer *out)
{
    const struct profile *profile = lifecycle->profile;
    json_report_open(out, path);
    json_member_string(out, "program", profile_text(profile, profile->product));
    for (enum lifecycle_fate fate = 0; fate < LIFECYCLE_FATES; fate++)
        json_member_unsigned(out, lifecycle_fate_name(fate), lifecycle->fates[fate]);
    json_member_unsigned(out, "unmatched", lifecycle->unmatched);
    json_key(out, "threads");
    json_open(out, '[');
    for (size_t i = 0; i < lifecycle->count; i++)
        append_thread(lifecycle, &lifecycle->threads[i], out);
    json_close(out, ']');
    json_report_close(out);
}
