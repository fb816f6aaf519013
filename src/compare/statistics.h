/* SPDX-License-Identifier: MIT */
/* Statistics of small samples: pure arithmetic. Formulas: Abramowitz and Stegun, Handbook of
 * Mathematical Functions, 26.5 and 26.7; B. L. Welch, Biometrika 34 (1947); Y. Benjamini and
 * Y. Hochberg, Journal of the Royal Statistical Society B 57 (1995). After math_library_load(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct moments {
    double mean;
    double variance; /* of a single value, with n - 1 in the denominator; 0 for a single value */
    size_t count;
};

struct moments moments_of(const double *values, size_t count);

/* Degrees of freedom of the difference of two means, by the squared standard error of each mean and
 * its degrees of freedom. INFINITY: an error without measurement. */
double welch_freedom(double base_error, double base_freedom, double new_error, double new_freedom);

struct weighted {
    double value, weight; /* weight: not negative */
};

/* The least value that, with the smaller ones, has half of the weight. Reorders the items. 0
 * without items. */
double weighted_median(struct weighted *items, size_t count);

/* P(|T| > |t|), Student's t distribution. freedom INFINITY: the normal distribution. */
double student_two_sided(double t, double freedom);

/* The t with P(|T| > t) = p, for 0 < p < 1. */
double student_quantile(double p, double freedom);

/* Sets accepted[i] for the hypotheses rejected at this false discovery rate. 0 or -ENOMEM. */
int benjamini_hochberg(const double *p, size_t count, double rate, bool *accepted);
