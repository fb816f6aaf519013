/* SPDX-License-Identifier: MIT */
/*
 * Two sides, base and new, with one or several runs each: changes, and noise.
 *
 *     comparison_open ─▶ comparison_add, for each run ─▶ comparison_judge ─▶ rows
 *
 * A row is a function of both sides (function_key.h), or a source line, with a value for each run:
 * its CPU time, or the main event's count. docs/comparing.md explains the verdicts and measures
 * their errors.
 */
#pragma once

#include "base/containers/intern.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compare_side { COMPARE_BASE, COMPARE_NEW, COMPARE_SIDES };

enum compare_what { COMPARE_SELF, COMPARE_TOTAL, COMPARE_LINES };

enum compare_verdict {
    COMPARE_SMALL,  /* below half of the threshold on average: not tested */
    COMPARE_NOISE,  /* within the threshold, or within the variation of the runs */
    COMPARE_SINGLE, /* one run each: the variation is unknown */
    COMPARE_GROWN,
    COMPARE_SHRUNK,
    COMPARE_ADDED,
    COMPARE_REMOVED,
};

struct compare_row {
    uint32_t name, module; /* strings of the comparison; no module: "" */
    uint32_t file;         /* COMPARE_LINES: last component of the path; "": unknown */
    uint32_t line;
    uint32_t key;               /* private */
    double mean[COMPARE_SIDES]; /* per run, as all values here: ns, counts, or shares */
    double difference;
    /* Of tested rows: 95 % interval of the difference, probability of a difference this large
     * without a change. */
    double low, high, p;
    enum compare_verdict verdict;
};

struct compare_run {
    enum compare_side side;
    double total;       /* in the unit of the event */
    double mean_weight; /* of a sample */
    double *values;     /* of the first value_count rows; 0 for the others */
    size_t value_count, value_capacity;
};

struct compare_settings {
    enum compare_what what;
    bool by_share;          /* values are shares of the run's total */
    double threshold_share; /* of the base's mean total */
    double noise_share;     /* < 0: none; standard deviation of a single run's values */
};

struct comparison {
    struct compare_settings settings;
    struct intern *strings, *keys;
    struct compare_row *rows;
    size_t row_count, row_capacity;
    struct compare_run *runs;
    size_t run_count, run_capacity;
    uint32_t program; /* string, module of the base's recorded program; INTERN_NONE: unknown */
    struct intern *programs; /* paths of the recorded programs of all runs */
    /* After judging: */
    size_t runs_of[COMPARE_SIDES];
    struct compare_row total; /* all functions together; by_share: not tested */
    double threshold;         /* in the unit of the values */
    size_t tested;
};

/* 0, -ENOMEM, or -ELIBACC: libm.so.6 cannot be loaded. Close in any case. */
int comparison_open(struct comparison *comparison, const struct compare_settings *settings);
void comparison_close(struct comparison *comparison);

/* Adds a run: the main event of a resolved profile. 0 or -ENOMEM. */
int comparison_add(struct comparison *comparison, enum compare_side side,
                   const struct profile *profile);

/* Call once, after the last run; each side has one. Rows are ordered then: changes first, by
 * decreasing difference. 0 or -ENOMEM. */
int comparison_judge(struct comparison *comparison);

/* Gives functions of the same row one function, of the new side if present, in a profile of all
 * runs, base first. rows[func]: the row, or NULL. After judging, not with COMPARE_LINES. 0
 * or -ENOMEM. */
int comparison_unify(const struct comparison *comparison, struct profile *profile,
                     const struct compare_row **rows);

static inline bool compare_is_growth(const struct compare_row *row)
{
    return row->verdict == COMPARE_GROWN || row->verdict == COMPARE_ADDED;
}

static inline bool compare_is_change(const struct compare_row *row)
{
    return row->verdict >= COMPARE_GROWN;
}

const char *comparison_text(const struct comparison *comparison, uint32_t string);
