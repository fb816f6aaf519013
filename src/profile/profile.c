/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "base/containers/array.h"
#include "profile/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool index_open(struct profile_index *index)
{
    index->libs = intern_new();
    index->addresses = intern_new();
    index->funcs = intern_new();
    index->symbols = intern_new();
    return index->libs && index->addresses && index->funcs && index->symbols;
}

static void index_free(struct profile_index *index)
{
    if (!index)
        return;
    intern_free(index->libs);
    intern_free(index->addresses);
    prefix_table_free(&index->calls);
    intern_free(index->funcs);
    intern_free(index->symbols);
    prefix_table_free(&index->lists);
    free(index);
}

struct profile *profile_new(void)
{
    struct profile *profile = calloc(1, sizeof(*profile));
    if (!profile)
        return NULL;
    profile->product = PROFILE_NONE;
    profile->command_line = PROFILE_NONE;
    profile->os = PROFILE_NONE;
    profile->cpu = PROFILE_NONE;
    profile->no_stack_call = PROFILE_NONE;
    profile->strings = intern_new();
    profile->index = calloc(1, sizeof(*profile->index));
    if (!profile->strings || !profile->index || !index_open(profile->index)) {
        profile_free(profile);
        return NULL;
    }
    return profile;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    intern_free(profile->strings);
    index_free(profile->index);
    free(profile->libs);
    free(profile->addresses);
    free(profile->calls);
    free(profile->funcs);
    free(profile->symbols);
    free(profile->frames);
    free(profile->stacks);
    free(profile->processes);
    for (size_t i = 0; i < profile->list_count; i++)
        sample_list_free(&profile->lists[i].samples);
    free(profile->lists);
    free(profile->threads);
    free(profile->wait_objects);
    free(profile->life_events);
    free(profile->events);
    free(profile->notes);
    free(profile);
}

uint32_t profile_string(struct profile *profile, const char *text)
{
    uint32_t id = intern_text(profile->strings, text);
    if (id == INTERN_NONE)
        profile->failed = true;
    return id;
}

const char *profile_text(const struct profile *profile, uint32_t string)
{
    return string == PROFILE_NONE ? "" : intern_string(profile->strings, string);
}

void profile_add_note(struct profile *profile, const char *key, const char *value)
{
    struct profile_note note = {profile_string(profile, key), profile_string(profile, value)};
    for (size_t i = 0; i < profile->note_count; i++)
        if (profile->notes[i].key == note.key && profile->notes[i].value == note.value)
            return;
    if (profile->note_count == PROFILE_NOTES_MAX) {
        profile->notes_left_out++;
        return;
    }
    struct profile_note *added =
        ARRAY_PUSH(profile->notes, profile->note_count, profile->note_capacity);
    if (added)
        *added = note;
    else
        profile->failed = true;
}

const char *profile_note(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->note_count; i++) {
        if (strcmp(profile_text(profile, profile->notes[i].key), key) == 0)
            return profile_text(profile, profile->notes[i].value);
    }
    return NULL;
}

uint32_t profile_add_event(struct profile *profile, const struct profile_event *event)
{
    struct profile_event *added =
        ARRAY_PUSH(profile->events, profile->event_count, profile->event_capacity);
    if (!added) {
        profile->failed = true;
        return PROFILE_NONE;
    }
    *added = *event;
    return (uint32_t)profile->event_count - 1;
}

/* Links the list in front of the thread's others. */
static struct profile_list *add_list(struct profile *profile, uint32_t thread_id, uint32_t event)
{
    struct profile_thread *thread = &profile->threads[thread_id];
    struct profile_list *list =
        ARRAY_PUSH(profile->lists, profile->list_count, profile->list_capacity);
    if (list)
        *list =
            (struct profile_list){.thread = thread_id, .event = event, .next = thread->first_list};
    if (list)
        thread->first_list = (uint32_t)profile->list_count;
    return list;
}

/* The list of a new sample; NULL: out of memory. The thread's previous list is tried first:
 * consecutive samples of a thread mostly have the same event. */
static struct profile_list *list_for(struct profile *profile, const struct profile_sample *sample)
{
    struct profile_thread *thread = &profile->threads[sample->thread];
    uint32_t recent = thread->recent_list;
    if (recent && profile->lists[recent - 1].event == sample->event)
        return &profile->lists[recent - 1];
    uint32_t id =
        prefix_table_find_or_add(&profile->index->lists, profile->lists, sizeof(*profile->lists),
                                 profile->list_count, prefix_key_of(sample->thread, sample->event));
    if (id == PREFIX_TABLE_NONE)
        return NULL;
    struct profile_list *list = id < profile->list_count
                                    ? &profile->lists[id]
                                    : add_list(profile, sample->thread, sample->event);
    if (list)
        thread->recent_list = id + 1;
    return list;
}

int profile_add_sample(struct profile *profile, const struct profile_sample *sample)
{
    struct profile_list *list = list_for(profile, sample);
    if (!list)
        return -ENOMEM;
    profile->sample_count += sample->count ? sample->count : 1;
    profile->has_callless |= sample->call == PROFILE_NONE;
    return profile->adds_samples_up ? sample_list_sum(&list->samples, sample)
                                    : sample_list_add(&list->samples, sample);
}

int profile_finish_samples(struct profile *profile)
{
    int err = 0;
    for (size_t i = 0; i < profile->list_count && err == 0; i++)
        err = profile->adds_samples_up ? sample_list_finish_sums(&profile->lists[i].samples)
                                       : sample_list_sort(&profile->lists[i].samples);
    return err;
}

/* A thread has few lists, one for each event: a walk along them is shorter than a lookup. */
const struct profile_list *profile_list_of(const struct profile *profile, uint32_t thread,
                                           uint32_t event)
{
    uint32_t next = thread < profile->thread_count ? profile->threads[thread].first_list : 0;
    while (next && profile->lists[next - 1].event != event)
        next = profile->lists[next - 1].next;
    return next ? &profile->lists[next - 1] : NULL;
}

struct profile_event profile_main_event(const struct profile *profile)
{
    if (profile->main_event < profile->event_count)
        return profile->events[profile->main_event];
    return (struct profile_event){.name = PROFILE_NONE};
}

uint64_t profile_total(const struct profile *profile)
{
    uint64_t total = 0;
    for (size_t i = 0; i < profile->list_count; i++)
        if (profile->lists[i].event == profile->main_event)
            total += profile->lists[i].samples.weight;
    return total;
}
