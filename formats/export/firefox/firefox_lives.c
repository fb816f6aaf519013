/* SPDX-License-Identifier: MIT */
/* The life of a thread as markers on its own track: created, named, joined, detached, ended. */
#include "export/firefox/firefox.h"

#include "profile/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char type[] = "Thread";

static int by_thread_and_time(const void *a, const void *b)
{
    const struct firefox_life *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    return (left->event > right->event) - (left->event < right->event); /* the end is last */
}

static void add(struct firefox *firefox, uint32_t thread, uint64_t time_ns, uint32_t event)
{
    firefox->lives[firefox->life_count++] = (struct firefox_life){thread, event, time_ns};
}

/* Ends are shown for threads with a recorded creation. */
static void add_event(struct firefox *firefox, uint32_t index)
{
    const struct profile *profile = firefox->profile;
    const struct profile_life_event *event = &profile->life_events[index];
    if (event->thread == PROFILE_NONE || event->kind == PROFILE_PROCESS_EXECUTED)
        return;
    add(firefox, event->thread, event->time_ns, index);
    uint64_t end_ns = profile->threads[event->thread].end_ns;
    if (event->kind == PROFILE_THREAD_CREATED && end_ns)
        add(firefox, event->thread, end_ns, PROFILE_NONE);
}

int firefox_collect_lives(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    firefox->lives = calloc(2 * profile->life_event_count + 1, sizeof(*firefox->lives));
    if (!firefox->lives)
        return -ENOMEM;
    for (size_t i = 0; i < profile->life_event_count; i++)
        add_event(firefox, (uint32_t)i);
    qsort(firefox->lives, firefox->life_count, sizeof(*firefox->lives), by_thread_and_time);
    return 0;
}

const struct firefox_life *firefox_lives_of(const struct firefox *firefox, uint32_t thread,
                                            size_t *count)
{
    size_t first = 0, end = firefox->life_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (firefox->lives[middle].thread < thread)
            first = middle + 1;
        else
            end = middle;
    }
    while (end < firefox->life_count && firefox->lives[end].thread == thread)
        end++;
    *count = end - first;
    return firefox->lives + first;
}

const char *firefox_life_name(const struct firefox *firefox, const struct firefox_life *life)
{
    static const char *const names[PROFILE_LIVES] = {
        [PROFILE_THREAD_CREATED] = "Thread created",
        [PROFILE_THREAD_NAMED] = "Thread named",
        [PROFILE_THREAD_JOINED] = "Thread joined",
        [PROFILE_THREAD_DETACHED] = "Thread detached",
    };
    if (life->event == PROFILE_NONE)
        return "Thread ended";
    return names[firefox->profile->life_events[life->event].kind];
}

/* "by 123 app", or the new name. */
static void member_text(struct firefox *firefox, const struct profile_life_event *event)
{
    const struct profile *profile = firefox->profile;
    char text[64];
    if (event->by == PROFILE_NONE) {
        json_member_string(firefox->out, "text", profile_text(profile, event->name));
        return;
    }
    const struct profile_thread *by = &profile->threads[event->by];
    snprintf(text, sizeof(text), "by %d %.40s%s", (int)by->tid, profile_text(profile, by->name),
             event->is_detached ? ", as detached" : "");
    json_member_string(firefox->out, "text", text);
}

/* The stack of the creator, the joiner, … */
static void member_cause(struct firefox *firefox, const struct profile_life_event *event)
{
    const struct profile *profile = firefox->profile;
    uint32_t stack =
        event->by == PROFILE_NONE ? PROFILE_NONE : profile_stack_of(profile, event->call);
    if (stack == PROFILE_NONE)
        return;
    json_key(firefox->out, "cause");
    json_open(firefox->out, '{');
    json_member_integer(firefox->out, "tid", profile->threads[event->by].tid);
    firefox_member_time(firefox, "time", event->time_ns);
    json_member_unsigned(firefox->out, "stack", stack);
    json_close(firefox->out, '}');
}

void firefox_write_life(struct firefox *firefox, const struct firefox_life *life)
{
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "type", type);
    if (life->event != PROFILE_NONE) {
        const struct profile_life_event *event = &firefox->profile->life_events[life->event];
        member_text(firefox, event);
        member_cause(firefox, event);
    }
    json_close(firefox->out, '}');
}

const struct profile_thread *firefox_thread_of_sample(const struct firefox *firefox,
                                                      const struct profile_sample *sample)
{
    const struct profile *profile = firefox->profile;
    size_t first = 0, end = profile->life_event_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (profile->life_events[middle].time_ns < sample->time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    for (; first < profile->life_event_count; first++) {
        const struct profile_life_event *event = &profile->life_events[first];
        if (event->time_ns != sample->time_ns)
            break;
        if (event->by == sample->thread && event->call == sample->call)
            return event->thread == PROFILE_NONE ? NULL : &profile->threads[event->thread];
    }
    return NULL;
}

void firefox_write_life_call(struct firefox *firefox, const struct profile_thread *of,
                             const struct profile_sample *sample)
{
    char text[64];
    snprintf(text, sizeof(text), "%d %.40s", (int)of->tid,
             profile_text(firefox->profile, of->name));
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "type", type);
    json_member_string(firefox->out, "text", text);
    firefox_member_cause(firefox, sample);
    json_close(firefox->out, '}');
}

void firefox_write_life_schema(struct firefox *firefox)
{
    static const char schema[] =
        "{\"name\":\"Thread\","
        "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
        "\"tooltipLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\","
        "\"tableLabel\":\"{marker.data.text}\","
        "\"fields\":[{\"key\":\"text\",\"label\":\"Details\",\"format\":\"string\"}]}";
    json_spelled(firefox->out, schema, sizeof(schema) - 1);
}
