/* SPDX-License-Identifier: MIT */
/*
 * Private to the Firefox Profiler exporter.
 *
 *     firefox.c          the file: meta, then the parts in their order
 *     firefox_libs.c     libs, and their ids on a symbol server
 *     firefox_rows.c     from indices of the model to rows of the file
 *     firefox_values.c   times and periods
 *     firefox_tables.c   the tables shared by all threads
 *     firefox_tracks.c   order of the threads of all events; the initially visible tracks
 *     firefox_threads.c  threads, of each event
 *     firefox_comparison.c  the track of a difference
 *     firefox_samples.c  the samples of a thread
 *     period_rows.c      rows of equal CPU time from weighted samples
 *     interval_rows.c    rows of waits, with their ends
 *     firefox_markers.c  samples of other events on the time line of a thread
 *     firefox_lives.c    its creation, names and end there
 *     firefox_waits.c    its long waits there; categories of waits
 *
 * The format is the "processed profile", version 75: column tables, no nulls (an unset number is 0,
 * and each row has a byte of flags for the set columns). Older front-ends refuse the file, newer
 * front-ends upgrade the file.
 */
#pragma once

#include "export/common.h"
#include "export/export.h"
#include "export/encoding/json.h"
#include "export/threads.h"
#include "profile/metric.h"
#include "profile/waits.h"

#include <stdint.h>

/* Index in meta.categories. */
enum firefox_category {
    FIREFOX_OTHER,
    FIREFOX_USER,
    FIREFOX_KERNEL,
    FIREFOX_LIBRARY,
    FIREFOX_JIT,
    FIREFOX_WAITING,
    FIREFOX_RUNNABLE,
};

struct firefox_symbol { /* a row of nativeSymbols */
    uint32_t lib;
    uint32_t address;
    uint32_t name;
    uint64_t bytes; /* 0: unknown */
};

struct firefox_func { /* a row of funcTable: the identity of a function */
    uint32_t name;
    uint32_t resource; /* PROFILE_NONE: none */
    uint32_t source;   /* PROFILE_NONE: none */
};

struct firefox_track { /* a row of threads: a thread of the model, for an event */
    uint32_t event;
    uint32_t thread;
    bool is_visible, is_selected; /* when the file is opened */
};

struct firefox_life { /* a marker of a thread's life */
    uint32_t thread;
    uint32_t event; /* in life_events; PROFILE_NONE: the end */
    uint64_t time_ns;
};

struct firefox {
    const struct profile *profile;
    const struct export_options *options;
    struct buffer *out;
    struct text_table texts;
    uint64_t thinning; /* periods, or samples of other events, a row */

    struct firefox_track *tracks;
    size_t track_count, track_capacity;

    struct firefox_life *lives; /* by thread, then time */
    size_t life_count;

    uint8_t *wait_kinds;   /* by lib: enum profile_wait_kind plus one; 0: no leaf of waits */
    uint64_t long_wait_ns; /* waits of this length have a marker */

    /* From indices of the model to rows of the file; PROFILE_NONE: no row. */
    uint32_t *lib_rows;
    uint32_t *symbol_rows;
    uint32_t *func_rows; /* by frame */

    struct firefox_symbol *symbols;
    size_t symbol_count;
    struct intern *resources; /* key: text of the name */
    struct intern *sources;   /* key: text of the path */
    uint32_t *source_libs;    /* by row of sources: the first lib with this source; PROFILE_NONE:
                            * none */
    size_t source_lib_count, source_lib_capacity;
    struct intern *funcs; /* key: struct firefox_func */
    uint32_t *func_lines; /* by row of funcs */
    size_t func_line_count, func_line_capacity;
};

/* The address relative to the lib's start, as in the format; false: none. */
bool firefox_address(const struct firefox *firefox, uint32_t lib, uint64_t svma, uint32_t *address);

/* Fills lib_rows with the libs of the file. */
void firefox_choose_libs(struct firefox *firefox);
void firefox_write_libs(struct firefox *firefox);

/* Fills symbol_rows, func_rows and the tables behind. */
void firefox_build_rows(struct firefox *firefox);
void firefox_write_tables(struct firefox *firefox);

/* Fills tracks; without any, a stand-in is written. 0 or -ENOMEM. */
int firefox_choose_tracks(struct firefox *firefox);
void firefox_write_first_view(struct firefox *firefox);

void firefox_write_threads(struct firefox *firefox);
/* A thread behind all tracks, for a difference. */
void firefox_write_comparison(struct firefox *firefox);
static inline bool firefox_has_comparison(const struct firefox *firefox)
{
    return firefox->options && firefox->options->diff;
}

/* The event of the current thread. */
struct firefox_event {
    uint32_t index;
    struct profile_event event;
    bool is_cpu_time;
    uint64_t period; /* see firefox_row_period() */
};

/* An event outside of the profile's table is the unnamed main event of profile_main_event(). */
struct profile_event firefox_event_of(const struct profile *profile, uint32_t index);
bool firefox_is_cpu_time(const struct profile *profile, uint32_t event);
/* CPU time of a row; 0 of other events. Reads all lists where the recording does not state a
 * period. */
uint64_t firefox_row_period(const struct profile *profile, uint32_t event);

void firefox_write_samples(struct firefox *firefox, const struct firefox_event *rows,
                           uint32_t thread);

void firefox_write_marker_schema(struct firefox *firefox);
/* Into the string table, before the table is written. */
void firefox_add_marker_names(struct firefox *firefox);
/* Of a thread; PROFILE_NONE: none. */
void firefox_write_markers(struct firefox *firefox, uint32_t thread);

/* Fills lives. 0 or -ENOMEM. */
int firefox_collect_lives(struct firefox *firefox);
/* The lives of a thread, by time; their number goes to *count. */
const struct firefox_life *firefox_lives_of(const struct firefox *firefox, uint32_t thread,
                                            size_t *count);
const char *firefox_life_name(const struct firefox *firefox, const struct firefox_life *life);
/* The data of a marker. */
/* The new, joined or detached thread of a sample of thread-create, …; NULL: not recorded. */
const struct profile_thread *firefox_thread_of_sample(const struct firefox *firefox,
                                                      const struct profile_sample *sample);
/* Of the caller of thread-create, …: the other thread, by tid and name. */
void firefox_write_life_call(struct firefox *firefox, const struct profile_thread *of,
                             const struct profile_sample *sample);
void firefox_write_life(struct firefox *firefox, const struct firefox_life *life);
/* A row of markerSchema. */
void firefox_write_life_schema(struct firefox *firefox);

/* Fills wait_kinds and long_wait_ns. 0 or -ENOMEM. */
int firefox_classify_waits(struct firefox *firefox);
bool firefox_is_wait(const struct firefox *firefox, uint32_t call);
/* The category of frames of a lib. */
enum firefox_category firefox_wait_category(const struct firefox *firefox, uint32_t lib,
                                            enum firefox_category otherwise);
/* The length of a sum is none of an interval. */
bool firefox_is_sum(const struct firefox *firefox, const struct profile_wait *wait);
/* The next wait with a marker; false: none. */
bool firefox_next_long_wait(const struct firefox *firefox, struct profile_waits *waits,
                            struct profile_wait *wait);
uint32_t firefox_wait_name(struct firefox *firefox, const struct profile_wait *wait);
enum firefox_category firefox_category_of_wait(const struct firefox *firefox,
                                               const struct profile_wait *wait);
/* The data of a marker, and the row of markerSchema. */
void firefox_write_wait(struct firefox *firefox, const struct profile_wait *wait);
void firefox_write_wait_schema(struct firefox *firefox);

/* A time of the model, as ms since the start of the recording. */
void firefox_member_time(struct firefox *firefox, const char *key, uint64_t time_ns);
/* The stack of a sample. */
void firefox_member_cause(struct firefox *firefox, const struct profile_sample *sample);
