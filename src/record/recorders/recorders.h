/* SPDX-License-Identifier: MIT */
/*
 * The table of recorders: a recorder is a kind of recording. The option
 * parser, the perf.data writer and `rec list` read the same rows.
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/writer.h"
#include "record/recorders/sources.h"
#include "wire/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_parameter_type {
    RECORD_PARAMETER_INTEGER,
    RECORD_PARAMETER_TIME,   /* 5, 1.5s, 200ms, 2m; limits in ns */
    RECORD_PARAMETER_SIZE,   /* 500K, 64M, 2G; limits in bytes */
    RECORD_PARAMETER_SOURCE, /* the name of a source of the recorder */
    RECORD_PARAMETER_SWITCH, /* without a value, off by default */
};

struct record_parameter {
    const char *name; /* stable: the long option without its dashes */
    enum record_parameter_type type;
    const char *unit; /* of the three numbers; NULL: the parameter is no number */
    uint64_t value_default, least, most;
    const char *default_text; /* behaviour without the option, instead of a number; or NULL */
    const char *help;
};

/* An event of the recorder, in the rings and in perf.data. */
struct recorder_event {
    enum record_event id;
    const char *name; /* stable */
    const char *unit; /* of the weights: "ns", "count" */
    bool has_object;  /* see perfdata_event_row */
};

struct recorder {
    const char *id; /* stable */
    const char *name;
    const char *description;
    const struct recorder_event *events; /* the first one has the recorder's weight */
    size_t event_count;
    bool is_always_on;    /* recorded without being named */
    const char *excludes; /* id of a recorder that cannot run at the same time; NULL: none */
    bool can_start;       /* records a program started by rec */
    bool can_attach;      /* records a running process */
    bool has_hooks;       /* needs the sampler in SESSION_RECORDERS_FOLDER */
    const char *privileges;
    const struct record_source *sources; /* in order of preference */
    size_t source_count;
    const struct record_parameter *parameters;
    size_t parameter_count;
};

#define RECORDERS 3
extern const struct recorder recorders[RECORDERS];

/* NULL: no such row. */
const struct recorder *recorder_find(const char *id);
const struct record_parameter *recorder_parameter(const struct recorder *recorder,
                                                  const char *name);
/* Of the first recorder with such a parameter. */
const struct record_parameter *recorders_parameter(const char *name);

/* A set of recorders: a bit for each row. */
static inline uint32_t recorder_bit(const struct recorder *recorder)
{
    return UINT32_C(1) << (recorder - recorders);
}

/* Whether rings hold the event. Without hooks, the launcher alone writes the events of a recorder
 * other than cpu: a target cannot forge these. */
bool recorders_event_is_of_target(enum record_event id);

/* The event of an id, below RECORD_EVENTS. */
const struct recorder_event *recorders_event(enum record_event id);

/* Whether a recorder of the set has hooks of its own. */
bool recorders_have_hooks(uint32_t set);

/* The events of a set as rows of the capture, each at the place of its id. */
void recorders_describe(uint32_t set, uint64_t period_ns,
                        struct perfdata_event_row rows[PERFDATA_EVENTS_MAX]);

/* Whether the recorders of the set can run together; from_outside: without the injected sampler. 0,
 * or -EINVAL with the remedy. `rows` is the table, or a test's. */
int recorders_check(const struct recorder *rows, size_t count, uint32_t set, bool from_outside,
                    struct error *error);

/* Whether the set has off-CPU time. */
bool recorders_have_off_cpu(uint32_t set);

struct recorder_availability {
    bool is_available;
    char reason[512]; /* why not */
};

/* Whether a recording can start: sampler installed and trusted, and a source available. */
struct recorder_availability recorder_probe(const struct recorder *recorder,
                                            const struct record_probe *probe);
