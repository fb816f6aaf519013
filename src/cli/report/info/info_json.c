/* SPDX-License-Identifier: MIT */
#include "cli/report/info/info.h"

#include "cli/report/json_report.h"
#include "profile/metric.h"
#include "profile/synthetic.h"
#include "cli/terminal/weight.h"
#include "export/encoding/json.h"

/* Unknown values have no member. */
static void member(const struct profile *profile, const char *key, uint32_t string,
                   struct buffer *out)
{
    if (string != PROFILE_NONE)
        json_member_string(out, key, profile_text(profile, string));
}

static bool is_of_cpu_time(const struct profile *profile)
{
    const struct profile_event main_event = profile_main_event(profile);
    return profile_is_cpu_time(&main_event);
}

/* Of weights of the main event. */
static const char *total_key(const struct profile *profile)
{
    return is_of_cpu_time(profile) ? "cpu_ns" : weight_key(profile, "time_ns", "weight");
}

static void append_share(const struct profile *profile, const struct info_share *share,
                         struct buffer *out)
{
    json_member_unsigned(out, "samples", share->samples);
    json_member_unsigned(out, total_key(profile), share->weight);
}

static void append_times(const struct profile *profile, uint32_t thread,
                         const struct info_share *share, struct buffer *out)
{
    const struct info_times times = info_times(profile, thread);
    bool has_off_cpu = profile_metric_event(profile, PROFILE_OFF_CPU) != PROFILE_NONE;
    json_member_unsigned(out, "samples", share->samples);
    if (!has_off_cpu || !is_of_cpu_time(profile))
        json_member_unsigned(out, total_key(profile), share->weight);
    if (has_off_cpu) {
        json_member_unsigned(out, "cpu_ns", times.cpu_ns);
        json_member_unsigned(out, "waiting_ns", times.waiting_ns);
        json_member_unsigned(out, "runnable_ns", times.runnable_ns);
    }
    json_member_unsigned(out, "lifetime_ns", times.lifetime_ns);
}

/* All events; other keys refer to the main event, "event". */
static void append_events(const struct profile *profile, struct buffer *out)
{
    json_key(out, "events");
    json_open(out, '[');
    for (size_t i = 0; i < profile->event_count; i++)
        json_string(out, profile_text(profile, profile->events[i].name));
    json_close(out, ']');
}

static void append_facts(const struct profile *profile, struct buffer *out)
{
    member(profile, "program", profile->product, out);
    member(profile, "command_line", profile->command_line, out);
    member(profile, "os", profile->os, out);
    member(profile, "cpu", profile->cpu, out);
    member(profile, "event", profile_main_event(profile).name, out);
    append_events(profile, out);
    json_member_unsigned(out, "cpus_online", profile->cpus_online);
    json_member_unsigned(out, weight_key(profile, "period_ns", "period"),
                         profile_main_event(profile).period);
    json_member_unsigned(out, "start_ns", profile->start_ns);
    json_member_unsigned(out, "end_ns", profile->end_ns);
    json_member_unsigned(out, "start_wall_ns",
                         profile->is_wall_time_of_file ? 0 : profile->start_wall_ns);
    json_member_unsigned(out, "samples", samples_count_measured(profile));
    json_member_unsigned(out, total_key(profile), profile_total(profile));
}

/* Notes with the same key become a single member with a line for each: keys are unique. */
static void append_note(const struct profile *profile, size_t index, struct buffer *out)
{
    struct buffer value = {0};
    uint32_t key = profile->notes[index].key;
    for (size_t i = index; i < profile->note_count; i++)
        if (profile->notes[i].key == key)
            buffer_printf(&value, "%s%s", value.size ? "\n" : "",
                          profile_text(profile, profile->notes[i].value));
    buffer_u8(&value, 0);
    if (!value.failed)
        json_member_string(out, profile_text(profile, key), (const char *)value.bytes);
    out->failed |= value.failed;
    buffer_free(&value);
}

static bool is_first_of_its_key(const struct profile *profile, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (profile->notes[i].key == profile->notes[index].key)
            return false;
    return true;
}

static void append_notes(const struct profile *profile, struct buffer *out)
{
    json_key(out, "notes");
    json_open(out, '{');
    for (size_t i = 0; i < profile->note_count; i++)
        if (is_first_of_its_key(profile, i))
            append_note(profile, i, out);
    json_close(out, '}');
}

static void append_processes(const struct info *info, struct buffer *out)
{
    const struct profile *profile = info->profile;
    json_key(out, "processes");
    json_open(out, '[');
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        json_open(out, '{');
        json_member_integer(out, "pid", process->pid);
        json_member_integer(out, "parent_pid", process->parent_pid);
        if (process->namespace_pid)
            json_member_integer(out, "namespace_pid", process->namespace_pid);
        member(profile, "name", process->name, out);
        json_member_unsigned(out, "start_ns", process->start_ns);
        json_member_unsigned(out, "end_ns", process->end_ns);
        append_share(profile, &info->processes[i], out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_threads(const struct info *info, struct buffer *out)
{
    const struct profile *profile = info->profile;
    json_key(out, "threads");
    json_open(out, '[');
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        json_open(out, '{');
        json_member_integer(out, "tid", thread->tid);
        if (thread->namespace_tid)
            json_member_integer(out, "namespace_tid", thread->namespace_tid);
        json_member_integer(out, "pid", profile->processes[thread->process].pid);
        member(profile, "name", thread->name, out);
        json_member_unsigned(out, "start_ns", thread->start_ns);
        json_member_unsigned(out, "end_ns", thread->end_ns);
        append_times(profile, (uint32_t)i, &info->threads[i], out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_libs(const struct info *info, struct buffer *out)
{
    const struct profile *profile = info->profile;
    json_key(out, "modules");
    json_open(out, '[');
    for (size_t i = 0; i < profile->lib_count; i++) {
        const struct profile_lib *lib = &profile->libs[i];
        json_open(out, '{');
        member(profile, "path", lib->path, out);
        json_member_string(out, "build_id", info_build_id(lib).text);
        append_share(profile, &info->libs[i], out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void info_json(const struct info *info, const char *path, struct buffer *out)
{
    json_report_open(out, path);
    append_facts(info->profile, out);
    append_notes(info->profile, out);
    append_processes(info, out);
    append_threads(info, out);
    append_libs(info, out);
    json_report_close(out);
}
