/* SPDX-License-Identifier: MIT */
#include "compare/statistics.h"

#include "compare/math_library.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { FRACTION_STEPS = 500, BISECTIONS = 100 };

/* Above, the normal distribution is within 1e-7, and lgamma() loses digits. */
static const double FREEDOM_MOST = 1e6;

struct moments moments_of(const double *values, size_t count)
{
    struct moments moments = {.count = count};
    for (size_t i = 0; i < count; i++)
        moments.mean += values[i] / (double)count;
    for (size_t i = 0; i < count && count > 1; i++) {
        double off = values[i] - moments.mean;
        moments.variance += off * off / (double)(count - 1);
    }
    return moments;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int by_weighted_value(const void *left, const void *right)
{
    const struct weighted *a = left, *b = right;
    return by_value(&a->value, &b->value);
}

double weighted_median(struct weighted *items, size_t count)
{
    double sum = 0, below = 0;
    if (count == 0)
        return 0;
    qsort(items, count, sizeof(*items), by_weighted_value);
    for (size_t i = 0; i < count; i++)
        sum += items[i].weight;
    size_t at = 0;
    while (at + 1 < count && (below += items[at].weight) < sum / 2)
        at++;
    return items[at].value;
}

double welch_freedom(double base_error, double base_freedom, double new_error, double new_freedom)
{
    double sum = base_error + new_error;
    double terms = base_error * base_error / base_freedom + new_error * new_error / new_freedom;
    return terms > 0 ? sum * sum / terms : INFINITY;
}

/* Continued fraction of the incomplete beta function (26.5.8), by the algorithm of Lentz. */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double result = d;
    for (int m = 1; m <= FRACTION_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double steps[] = {even, odd};
        double change = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + steps[i] * d;
            c = 1 + steps[i] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            result *= change;
        }
        if (fabs(change - 1) < DBL_EPSILON)
            break;
    }
    return result;
}

/* The regularized incomplete beta function I_x(a, b). The fraction converges for x below the mean;
 * above, by symmetry (26.5.2). */
static double incomplete_beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    const struct math_library *m = &math_library;
    double front =
        m->exp(m->lgamma(a + b) - m->lgamma(a) - m->lgamma(b) + a * m->log(x) + b * m->log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student_two_sided(double t, double freedom)
{
    if (freedom > FREEDOM_MOST)
        return math_library.erfc(fabs(t) / math_library.sqrt(2));
    return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double student_quantile(double p, double freedom)
{
    double low = 0, high = 1;
    while (student_two_sided(high, freedom) > p && high < 1e12)
        high *= 2;
    for (int i = 0; i < BISECTIONS && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (student_two_sided(middle, freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* All p-values up to the largest one below its limit are accepted. */
int benjamini_hochberg(const double *p, size_t count, double rate, bool *accepted)
{
    double limit = -1;
    double *sorted = malloc((count + 1) * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = p[i];
    qsort(sorted, count, sizeof(*sorted), by_value);
    for (size_t i = 0; i < count; i++)
        if (sorted[i] <= rate * (double)(i + 1) / (double)count)
            limit = sorted[i];
    for (size_t i = 0; i < count; i++)
        accepted[i] = p[i] <= limit;
    free(sorted);
    return 0;
}
