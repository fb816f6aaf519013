/* SPDX-License-Identifier: MIT */
/*
 * The test of a row: Welch's t over the runs; p-values of all tested rows corrected together.
 *
 * A variance measured from three to five runs is sometimes far too small by chance, sometimes too
 * large. Each variance is therefore a weighted mean (G. K. Smyth, Statistical Applications in
 * Genetics and Molecular Biology 3, 2004: moderated t) of the measured variance, with n - 1 degrees
 * of freedom, and of an expected variance, with PRIOR_FREEDOM:
 *
 *     expected = SAMPLING_SHARE * variance of random sampling + (usual variation * mean)^2
 *
 * The usual variation is the median of all tested rows, weighted by their means, or the total's
 * variation if larger: in rows of a few samples, chance hides the variation. Samples are periodic,
 * not random: unchanged programs show half of the variance of random sampling.
 * docs/comparing.md measures the method.
 */
#include "compare/compare.h"

#include "compare/math_library.h"
#include "compare/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const double SAMPLING_SHARE = 0.5, PRIOR_FREEDOM = 2;
static const double FALSE_RATE = 0.015, OUTSIDE_INTERVAL = 0.05;

struct tested_row {
    struct compare_row *row;
    struct moments sides[COMPARE_SIDES];
};

struct judging {
    struct comparison *comparison;
    double *values;              /* of a row on one side */
    double total[COMPARE_SIDES]; /* means */
    double weight;               /* mean of a sample, in the unit of the values */
    double variation;            /* usual standard deviation of a row, relative to its mean */
    struct tested_row *tested;   /* with the total at the end, unless values are shares */
    size_t count;
};

static double scale_of(const struct comparison *comparison, const struct compare_run *run)
{
    return comparison->settings.by_share && run->total > 0 ? 1 / run->total : 1;
}

/* row PROFILE_NONE: the total. */
static double value_of(const struct comparison *comparison, const struct compare_run *run,
                       uint32_t row)
{
    double value = row == PROFILE_NONE ? run->total : row < run->value_count ? run->values[row] : 0;
    return value * scale_of(comparison, run);
}

static struct moments moments_of_side(struct judging *judging, uint32_t row, enum compare_side side)
{
    const struct comparison *comparison = judging->comparison;
    size_t count = 0;
    for (size_t i = 0; i < comparison->run_count; i++)
        if (comparison->runs[i].side == side)
            judging->values[count++] = value_of(comparison, &comparison->runs[i], row);
    return moments_of(judging->values, count);
}

/* Variance of a value with this mean, of runs with this total, if each sample were random. */
static double sampling_variance(const struct judging *judging, double mean, double total)
{
    double share = total > 0 && mean < total ? mean / total : 1;
    return judging->weight * mean * (1 - share);
}

static bool is_single(const struct comparison *comparison)
{
    return comparison->runs_of[COMPARE_BASE] == 1 && comparison->runs_of[COMPARE_NEW] == 1;
}

/* The squared variation of a row beyond sampling, and the mean. Sides with more runs weigh more. */
static struct weighted squared_variation(const struct judging *judging,
                                         const struct tested_row *tested)
{
    const struct moments *base = &tested->sides[COMPARE_BASE], *next = &tested->sides[COMPARE_NEW];
    double freedom = (double)(base->count + next->count - 2);
    double mean = (base->mean + next->mean) / 2;
    double variance =
        (base->variance * (double)(base->count - 1) + next->variance * (double)(next->count - 1)) /
        freedom;
    double total = (judging->total[COMPARE_BASE] + judging->total[COMPARE_NEW]) / 2;
    double beyond = variance - sampling_variance(judging, mean, total);
    return (struct weighted){beyond > 0 && mean > 0 ? beyond / (mean * mean) : 0, mean};
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static int set_variation(struct judging *judging)
{
    double noise = judging->comparison->settings.noise_share;
    if (is_single(judging->comparison)) {
        judging->variation = noise > 0 ? noise : 0;
        return 0;
    }
    size_t rows = judging->comparison->tested;
    struct weighted *squares = malloc((rows + 1) * sizeof(*squares));
    if (!squares)
        return -ENOMEM;
    for (size_t i = 0; i < rows; i++)
        squares[i] = squared_variation(judging, &judging->tested[i]);
    double of_total =
        judging->count > rows ? squared_variation(judging, &judging->tested[rows]).value : 0;
    judging->variation = math_library.sqrt(larger(weighted_median(squares, rows), of_total));
    free(squares);
    return 0;
}

struct error_of_mean {
    double square, freedom;
};

/* One run on each side shows no variation: sampling error and --noise remain. */
static struct error_of_mean error_of(const struct judging *judging, const struct tested_row *tested,
                                     enum compare_side number)
{
    const struct moments *side = &tested->sides[number];
    double sampling = sampling_variance(judging, side->mean, judging->total[number]);
    double from_runs = judging->variation * judging->variation * side->mean * side->mean;
    if (is_single(judging->comparison))
        return (struct error_of_mean){sampling + from_runs, INFINITY};
    double expected = SAMPLING_SHARE * sampling + from_runs;
    double freedom = (double)(side->count - 1) + PRIOR_FREEDOM;
    double variance =
        (expected * PRIOR_FREEDOM + side->variance * (double)(side->count - 1)) / freedom;
    return (struct error_of_mean){larger(variance, SAMPLING_SHARE * sampling) / (double)side->count,
                                  freedom};
}

static void test_row(const struct judging *judging, const struct tested_row *tested)
{
    struct compare_row *row = tested->row;
    struct error_of_mean base = error_of(judging, tested, COMPARE_BASE);
    struct error_of_mean next = error_of(judging, tested, COMPARE_NEW);
    double error = math_library.sqrt(base.square + next.square);
    double freedom = welch_freedom(base.square, base.freedom, next.square, next.freedom);
    double half = error > 0 ? error * student_quantile(OUTSIDE_INTERVAL, freedom) : 0;
    row->low = row->difference - half;
    row->high = row->difference + half;
    if (error > 0)
        row->p = student_two_sided(row->difference / error, freedom);
    else
        row->p = row->difference == 0 ? 1 : 0;
}

/* A row with a mean over both sides below half of the threshold shows a change of the threshold's
 * size only by appearing or vanishing. A test would cost the other rows power. */
static void measure_row(struct judging *judging, struct compare_row *row, uint32_t index)
{
    struct tested_row *tested = &judging->tested[judging->count];
    *tested = (struct tested_row){.row = row,
                                  .sides = {moments_of_side(judging, index, COMPARE_BASE),
                                            moments_of_side(judging, index, COMPARE_NEW)}};
    row->mean[COMPARE_BASE] = tested->sides[COMPARE_BASE].mean;
    row->mean[COMPARE_NEW] = tested->sides[COMPARE_NEW].mean;
    row->difference = row->mean[COMPARE_NEW] - row->mean[COMPARE_BASE];
    row->low = row->high = row->difference;
    row->p = 1;
    double mean = (row->mean[COMPARE_BASE] + row->mean[COMPARE_NEW]) / 2;
    bool is_tested = mean > 0 && mean >= judging->comparison->threshold / 2;
    row->verdict = is_tested ? COMPARE_NOISE : COMPARE_SMALL;
    judging->count += is_tested;
}

static enum compare_verdict verdict_of(const struct comparison *comparison,
                                       const struct compare_row *row, bool is_accepted)
{
    if (is_single(comparison) && comparison->settings.noise_share < 0)
        return COMPARE_SINGLE;
    if (!is_accepted || fabs(row->difference) < comparison->threshold)
        return COMPARE_NOISE;
    if (row->difference > 0)
        return row->mean[COMPARE_BASE] > 0 ? COMPARE_GROWN : COMPARE_ADDED;
    return row->mean[COMPARE_NEW] > 0 ? COMPARE_SHRUNK : COMPARE_REMOVED;
}

static int decide(const struct judging *judging)
{
    double *p = calloc(judging->count + 1, sizeof(*p));
    bool *accepted = calloc(judging->count + 1, sizeof(*accepted));
    int err = p && accepted ? 0 : -ENOMEM;
    for (size_t i = 0; i < judging->count && err == 0; i++)
        p[i] = judging->tested[i].row->p;
    if (err == 0)
        err = benjamini_hochberg(p, judging->count, FALSE_RATE, accepted);
    for (size_t i = 0; i < judging->count && err == 0; i++) {
        struct compare_row *row = judging->tested[i].row;
        row->verdict = verdict_of(judging->comparison, row, accepted[i]);
    }
    free(p);
    free(accepted);
    return err;
}

static void set_means(struct judging *judging)
{
    struct comparison *comparison = judging->comparison;
    double weight = 0;
    for (size_t i = 0; i < comparison->run_count; i++) {
        const struct compare_run *run = &comparison->runs[i];
        double scale = scale_of(comparison, run);
        comparison->runs_of[run->side]++;
        judging->total[run->side] += run->total * scale;
        weight += run->mean_weight * scale / (double)comparison->run_count;
    }
    for (int side = 0; side < COMPARE_SIDES; side++)
        judging->total[side] /= (double)comparison->runs_of[side];
    judging->weight = weight;
    comparison->threshold = comparison->settings.threshold_share * judging->total[COMPARE_BASE];
}

static int judge(struct judging *judging)
{
    struct comparison *comparison = judging->comparison;
    set_means(judging);
    for (size_t i = 0; i < comparison->row_count; i++)
        measure_row(judging, &comparison->rows[i], (uint32_t)i);
    comparison->tested = judging->count;
    measure_row(judging, &comparison->total, PROFILE_NONE);
    if (comparison->settings.by_share)
        judging->count = comparison->tested;
    int err = set_variation(judging);
    for (size_t i = 0; i < judging->count && err == 0; i++)
        test_row(judging, &judging->tested[i]);
    return err ? err : decide(judging);
}

static int by_change(const void *left, const void *right)
{
    const struct compare_row *a = left, *b = right;
    if (compare_is_change(a) != compare_is_change(b))
        return compare_is_change(a) ? -1 : 1;
    if ((a->verdict == COMPARE_SMALL) != (b->verdict == COMPARE_SMALL))
        return a->verdict == COMPARE_SMALL ? 1 : -1;
    double x = fabs(a->difference), y = fabs(b->difference);
    if (x != y)
        return x < y ? 1 : -1;
    return (a->name > b->name) - (a->name < b->name);
}

int comparison_judge(struct comparison *comparison)
{
    struct judging judging = {.comparison = comparison};
    judging.tested = calloc(comparison->row_count + 2, sizeof(*judging.tested));
    judging.values = calloc(comparison->run_count + 1, sizeof(*judging.values));
    int err = judging.tested && judging.values ? judge(&judging) : -ENOMEM;
    if (err == 0 && comparison->row_count)
        qsort(comparison->rows, comparison->row_count, sizeof(*comparison->rows), by_change);
    free(judging.tested);
    free(judging.values);
    return err;
}
