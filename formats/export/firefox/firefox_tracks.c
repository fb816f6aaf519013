/* SPDX-License-Identifier: MIT */
/*
 * The tracks of the file, in order, and the choice of the initially visible tracks.
 *
 * Every thread with samples of the main event, a recorded life or a long wait is a track; other
 * events have tracks below, for threads with samples only; a track of off-CPU time follows the
 * track of its thread. With wall time as the main event, its parts have no tracks. A thousand
 * visible tracks would stop the front-end, and the front-end's own choice hides threads below 5 %
 * of the busiest thread and every track without CPU time. Threads with off-CPU time are visible
 * whatever their CPU time.
 */
#include "export/firefox/firefox.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

enum { VISIBLE_THREADS_MAX = 25, HIDDEN_PART = 50 /* 1/50 of the CPU time may be hidden */ };

struct candidate { /* a thread */
    uint64_t weight;
    uint32_t thread;
    uint32_t track; /* the thread's first track */
};

struct choice {
    const struct profile *profile;
    struct candidate *candidates;
    size_t count;
    uint64_t total;
    uint64_t *process_weights;
    bool *is_visible_thread, *is_visible_process;
    uint32_t *first_tracks; /* by process; PROFILE_NONE: none */
};

static int add_track(struct firefox *firefox, uint32_t event, uint32_t thread)
{
    struct firefox_track *track =
        ARRAY_PUSH(firefox->tracks, firefox->track_count, firefox->track_capacity);
    if (track)
        *track = (struct firefox_track){.event = event, .thread = thread};
    return track ? 0 : -ENOMEM;
}

static int add_tracks(struct firefox *firefox, uint32_t event, bool needs_samples)
{
    struct thread_list list;
    int err = thread_list_collect(&list, firefox->profile, event);
    for (size_t i = 0; i < list.count && err == 0; i++) {
        if (needs_samples && list.views[i].sample_count == 0)
            continue;
        err = add_track(firefox, event, list.views[i].thread);
    }
    thread_list_free(&list);
    return err;
}

static bool has_long_wait(const struct firefox *firefox, uint32_t thread)
{
    struct profile_waits waits = profile_waits_of(firefox->profile, thread);
    struct profile_wait wait;
    return firefox_next_long_wait(firefox, &waits, &wait);
}

/* A thread that only waits has no samples, but markers. */
static int add_marked(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    bool *has_track = calloc(profile->thread_count + 1, sizeof(*has_track));
    bool *has_markers = calloc(profile->thread_count + 1, sizeof(*has_markers));
    int err = has_track && has_markers ? 0 : -ENOMEM;
    for (size_t i = 0; err == 0 && i < firefox->track_count; i++)
        has_track[firefox->tracks[i].thread] = true;
    for (size_t i = 0; err == 0 && i < firefox->life_count; i++)
        has_markers[firefox->lives[i].thread] = true;
    for (uint32_t i = 0; err == 0 && i < profile->thread_count; i++)
        if (!has_track[i] && (has_markers[i] || has_long_wait(firefox, i)))
            err = add_track(firefox, profile->main_event, i);
    free(has_track);
    free(has_markers);
    return err;
}

static bool is_part_of_wall(const struct profile *profile, uint32_t event)
{
    return profile_main_event(profile).is_wall &&
           (event == profile_metric_event(profile, PROFILE_CPU) ||
            event == profile_metric_event(profile, PROFILE_OFF_CPU));
}

/* Off-CPU tracks behind the tracks of their threads; the rest keeps its order. */
static int pair_tracks(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    uint32_t off_cpu = profile_metric_event(profile, PROFILE_OFF_CPU);
    size_t *places = calloc(profile->thread_count + 1, sizeof(*places));
    struct firefox_track *pairs = calloc(firefox->track_count + 1, sizeof(*pairs));
    size_t count = 0;
    for (size_t i = 0; places && i < firefox->track_count; i++)
        if (firefox->tracks[i].event == off_cpu)
            places[firefox->tracks[i].thread] = i + 1;
    for (size_t i = 0; places && pairs && i < firefox->track_count; i++) {
        const struct firefox_track *track = &firefox->tracks[i];
        size_t *place = &places[track->thread];
        if (track->event == off_cpu && *place == 0)
            continue; /* behind its thread */
        pairs[count++] = *track;
        if (track->event != off_cpu && *place)
            pairs[count++] = firefox->tracks[*place - 1];
        *place = 0;
    }
    bool failed = !places || !pairs;
    free(places);
    if (failed) {
        free(pairs);
        return -ENOMEM;
    }
    free(firefox->tracks);
    firefox->tracks = pairs;
    firefox->track_capacity = firefox->track_count;
    return 0;
}

static int add_all_tracks(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    int err = add_tracks(firefox, profile->main_event, false);
    if (err == 0)
        err = add_marked(firefox);
    for (uint32_t i = 0; i < profile->event_count && err == 0; i++)
        if (i != profile->main_event && !is_part_of_wall(profile, i))
            err = add_tracks(firefox, i, true);
    return err ? err : pair_tracks(firefox);
}

static uint32_t process_of(const struct choice *choice, uint32_t thread)
{
    return choice->profile->threads[thread].process;
}

/* Weight of the main event; in a profile without, the number of samples of all events. */
static uint64_t weight_of(const struct profile *profile, uint32_t thread, bool has_weight)
{
    uint64_t count = 0;
    const struct profile_list *list = profile_list_of(profile, thread, profile->main_event);
    if (has_weight)
        return list ? list->samples.weight : 0;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        list = profile_list_of(profile, thread, i);
        count += list ? list->samples.count : 0;
    }
    return count;
}

/* A candidate for each thread, in the order of the first tracks. */
static void collect(struct choice *choice, const struct firefox *firefox)
{
    const struct profile *profile = choice->profile;
    bool has_weight = profile_total(profile) > 0;
    for (uint32_t i = 0; i < firefox->track_count; i++) {
        uint32_t thread = firefox->tracks[i].thread;
        uint32_t process = process_of(choice, thread);
        if (choice->first_tracks[process] == PROFILE_NONE)
            choice->first_tracks[process] = i;
        if (choice->is_visible_thread[thread])
            continue;
        choice->is_visible_thread[thread] = true; /* seen; cleared below */
        uint64_t weight = weight_of(profile, thread, has_weight);
        choice->candidates[choice->count++] = (struct candidate){weight, thread, i};
        choice->process_weights[process] += weight;
        choice->total += weight;
    }
    for (size_t i = 0; i < choice->count; i++)
        choice->is_visible_thread[choice->candidates[i].thread] = false;
}

static int by_weight(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return left->track < right->track ? -1 : left->track > right->track;
}

/* The threads with the most weight, and the main threads of their processes. */
static void choose_visible(struct choice *choice, const struct firefox *firefox)
{
    uint64_t covered = 0;
    bool has_waits =
        profile_metric_event(choice->profile, PROFILE_OFF_CPU) != PROFILE_NONE; /* of all threads */
    qsort(choice->candidates, choice->count, sizeof(*choice->candidates), by_weight);
    for (size_t i = 0; i < choice->count && i < VISIBLE_THREADS_MAX; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        if (!has_waits && choice->total > 0 &&
            covered >= choice->total - choice->total / HIDDEN_PART)
            break;
        covered += candidate->weight;
        choice->is_visible_thread[candidate->thread] = true;
        choice->is_visible_process[process_of(choice, candidate->thread)] = true;
    }
    for (size_t i = 0; i < choice->profile->process_count; i++)
        if (choice->is_visible_process[i])
            choice->is_visible_thread[firefox->tracks[choice->first_tracks[i]].thread] = true;
}

/* Select all visible threads of this process; PROFILE_NONE: select the busiest thread alone. */
static uint32_t process_to_select(const struct choice *choice)
{
    const struct profile_event shown = profile_main_event(choice->profile);
    uint32_t busiest = 0;
    if (shown.is_off_cpu || shown.is_wall) /* a selection of several counts rows, not times */
        return PROFILE_NONE;
    for (uint32_t i = 1; i < choice->profile->process_count; i++)
        if (choice->process_weights[i] > choice->process_weights[busiest])
            busiest = i;
    for (size_t i = 0; i < choice->count; i++)
        if (process_of(choice, choice->candidates[i].thread) == busiest)
            return choice->candidates[i].weight >= choice->process_weights[busiest] / 2
                       ? PROFILE_NONE
                       : busiest;
    return PROFILE_NONE;
}

static void mark_tracks(const struct choice *choice, struct firefox *firefox)
{
    uint32_t selected = process_to_select(choice);
    for (size_t i = 0; i < firefox->track_count; i++) {
        struct firefox_track *track = &firefox->tracks[i];
        bool is_busiest = track->thread == choice->candidates[0].thread;
        track->is_visible = choice->is_visible_thread[track->thread];
        track->is_selected =
            track->is_visible && track->event == choice->profile->main_event &&
            (selected == PROFILE_NONE ? is_busiest : process_of(choice, track->thread) == selected);
    }
}

static int choice_open(struct choice *choice, const struct profile *profile)
{
    size_t threads = profile->thread_count + 1, processes = profile->process_count + 1;
    *choice = (struct choice){
        .profile = profile,
        .candidates = calloc(threads, sizeof(*choice->candidates)),
        .process_weights = calloc(processes, sizeof(*choice->process_weights)),
        .is_visible_thread = calloc(threads, sizeof(*choice->is_visible_thread)),
        .is_visible_process = calloc(processes, sizeof(*choice->is_visible_process)),
        .first_tracks = calloc(processes, sizeof(*choice->first_tracks)),
    };
    if (!choice->candidates || !choice->process_weights || !choice->is_visible_thread ||
        !choice->is_visible_process || !choice->first_tracks)
        return -ENOMEM;
    for (size_t i = 0; i < processes; i++)
        choice->first_tracks[i] = PROFILE_NONE;
    return 0;
}

static void choice_close(struct choice *choice)
{
    free(choice->candidates);
    free(choice->process_weights);
    free(choice->is_visible_thread);
    free(choice->is_visible_process);
    free(choice->first_tracks);
}

int firefox_choose_tracks(struct firefox *firefox)
{
    struct choice choice = {0};
    int err = add_all_tracks(firefox);
    if (err == 0)
        err = choice_open(&choice, firefox->profile);
    if (err == 0 && firefox->track_count > 0) {
        collect(&choice, firefox);
        choose_visible(&choice, firefox);
        mark_tracks(&choice, firefox);
    }
    choice_close(&choice);
    return err;
}

/* The track of a difference, behind all others, is selected alone. */
static void write_indices(struct firefox *firefox, const char *key, bool selected)
{
    bool has_comparison = firefox_has_comparison(firefox);
    json_key(firefox->out, key);
    json_open(firefox->out, '[');
    for (size_t i = 0; i < firefox->track_count; i++)
        if (selected ? firefox->tracks[i].is_selected && !has_comparison
                     : firefox->tracks[i].is_visible)
            json_unsigned(firefox->out, i);
    if (has_comparison)
        json_unsigned(firefox->out, firefox->track_count);
    json_close(firefox->out, ']');
}

void firefox_write_first_view(struct firefox *firefox)
{
    if (firefox->track_count == 0)
        return;
    write_indices(firefox, "initialVisibleThreads", false);
    write_indices(firefox, "initialSelectedThreads", true);
}
