/* SPDX-License-Identifier: Apache-2.0 */
/* E[softmax(f)] for a normal f, which is a matter of the C - 1 differences to one of the classes.
 *
 * Two classes: the logistic function of one difference. Three and four: the product of trapezoidal rules in
 * z, f = mean + A z. For y along z_j the C imaginary parts of f are y A_cj; where they lie within an angle 2
 * theta < pi, |sum_c exp(f_c)| >= cos(theta) sum_c |exp(f_c)|, so that |softmax_c| <= 1 / cos(theta). The rule of step
 * h errs by at most
 *
 *     2 M / (exp(2 pi y / h) - 1),   M = exp(y^2 / 2) / cos(y w_j / 2),   w_j = max_c A_cj - min_c A_cj,   for any y < pi / w_j
 *
 * (Trefethen and Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56, 2014, theorem 5.1).
 * More: randomly shifted sums over multiples of the roots of primes (Niederreiter's sequence), pairs of which
 * become normal by the method of Box and Muller: the angle is periodic, the radius is folded. */
#include "classify/softmax.h"
#include <float.h>
#include <holdfast/classify.h>
#include <math.h>
#include <string.h>

/* Error of each rule, how far it goes, and the most points of it on either side of 0. */
typedef struct accuracy {
    double wanted, reach;
    int most;
} accuracy;

static const accuracy of_three = {1e-10, 6.6, 200}, of_four = {1e-7, 5.4, 40};

/* Three standard errors at which a sum of the sequence ends. */
static const double estimate_wanted = 1e-5;

enum {
    SCAN = 40, /* places y that are tried */
    MOST_RULES = 3,
    SHIFTS = 8,
    FEWEST = 256, /* points of the sequence for each shift */
    MOST = 8192
};

static void softmax(size_t classes, const double *f, double *p)
{
    double largest = f[0], sum = 0.0;
    for (size_t c = 1; c < classes; c++) largest = fmax(largest, f[c]);
    for (size_t c = 0; c < classes; c++) sum += p[c] = exp(f[c] - largest);
    for (size_t c = 0; c < classes; c++) p[c] /= sum;
}

/* Rows sum to 1. */
static double normalise(size_t classes, double *p)
{
    double sum = 0.0;
    for (size_t c = 0; c < classes; c++) sum += p[c];
    for (size_t c = 0; c < classes; c++) p[c] /= sum;
    return fabs(1.0 - sum);
}

/* Square root, or 0 of what is below 0 by rounding. */
static double root(double x)
{
    return x > 0.0 ? sqrt(x) : 0.0;
}

void hfi_softmax_differences(size_t classes, const double *v, size_t stride, double *factor)
{
    const size_t last = classes - 1;
    memset(factor, 0, classes * stride * sizeof *factor);
    for (size_t j = 0; j < last; j++) {
        double pivot = 0.0;
        for (size_t i = j; i < last; i++) {
            double value =
                v[i * classes + j] + v[last * classes + last] - v[i * classes + last] - v[j * classes + last];
            for (size_t k = 0; k < j; k++) value -= factor[i * stride + k] * factor[j * stride + k];
            if (i == j) pivot = root(value);
            factor[i * stride + j] = i == j ? pivot : (pivot > 0.0 ? value / pivot : 0.0);
        }
    }
}

/* ---- three and four classes ---------------------------------------------------------------------------- */

static double largest_modulus(double y, double width)
{
    return exp(0.5 * y * y) / cos(0.5 * y * width);
}

static double place_scan_point(int k, double width)
{
    const double most = fmin(HFI_PI / fmax(width, 1e-300), 12.0);
    return most * (k + 0.5) / SCAN;
}

static double rule_error(double step, double width)
{
    double least = INFINITY;
    for (int k = 0; k < SCAN; k++) {
        const double y = place_scan_point(k, width);
        least = fmin(least, 2.0 * largest_modulus(y, width) / expm1(2.0 * HFI_PI * y / step));
    }
    return least;
}

/* The longest step whose error is as wanted. */
static double rule_step(const accuracy *to, double width)
{
    double step = to->reach / to->most;
    for (int k = 0; k < SCAN; k++) {
        const double y = place_scan_point(k, width);
        step = fmax(step, 2.0 * HFI_PI * y / log1p(2.0 * largest_modulus(y, width) / to->wanted));
    }
    return step;
}

typedef struct rules {
    size_t classes, count;
    double factor[(MOST_RULES + 1) * MOST_RULES];
    double step[MOST_RULES];
    int points[MOST_RULES]; /* on either side of 0 */
} rules;

static double place_rules(rules *r, const accuracy *to)
{
    double error = 0.0;
    for (size_t j = 0; j < r->count; j++) {
        double high = 0.0, low = 0.0;
        for (size_t c = 0; c < r->classes; c++) {
            high = fmax(high, r->factor[c * r->count + j]);
            low = fmin(low, r->factor[c * r->count + j]);
        }
        r->step[j] = rule_step(to, high - low);
        r->points[j] = (int)ceil(to->reach / r->step[j]);
        /* what a rule adds up lies beyond it with the weight of the tails */
        error += 1.01 * rule_error(r->step[j], high - low) + erfc(to->reach * sqrt(0.5));
    }
    return error;
}

/* The terms of the rules from `level` on; f and weight are those of the terms before. */
static void sum_rules(const rules *r, size_t level, const double *f, double weight, double *probability)
{
    double next[MOST_RULES + 1] = {0}, p[MOST_RULES + 1];
    for (int i = -r->points[level]; i <= r->points[level]; i++) {
        const double z = i * r->step[level];
        const double share = weight * exp(-0.5 * z * z - HFI_HALF_LOG_2PI) * r->step[level];
        for (size_t c = 0; c < r->classes; c++) next[c] = f[c] + r->factor[c * r->count + level] * z;
        if (level + 1 < r->count && level + 1 < MOST_RULES) { /* count is no more, unknown to compilers */
            sum_rules(r, level + 1, next, share, probability);
            continue;
        }
        softmax(r->classes, next, p);
        for (size_t c = 0; c < r->classes; c++) probability[c] += share * p[c];
    }
}

static double few(size_t classes, const double *mean, const double *v, double *probability)
{
    rules r = {.classes = classes, .count = classes - 1};
    hfi_softmax_differences(classes, v, r.count, r.factor);
    const double error = place_rules(&r, classes == 3 ? &of_three : &of_four);
    double terms = 64.0;
    for (size_t j = 0; j < r.count; j++) terms += 2.0 * r.points[j] + 1.0;
    memset(probability, 0, classes * sizeof *probability);
    sum_rules(&r, 0, mean, 1.0, probability);
    return error + terms * DBL_EPSILON + normalise(classes, probability);
}

/* ---- more ---------------------------------------------------------------------------------------------- */

typedef struct sequence {
    size_t classes, pairs;
    const double *mean;
    double *factor; /* C x 2 pairs: f = mean + factor z */
    double *stride; /* 2 pairs: fractional parts of the roots of primes */
    double *shift;  /* SHIFTS x 2 pairs */
    double *z, *f, *p;
    double *sum; /* SHIFTS x C */
} sequence;

static size_t pairs_of(size_t classes)
{
    return classes / 2; /* of classes - 1 normal numbers, one more where that is odd */
}

static size_t lay_out_sequence(size_t classes, double *scratch, sequence *s)
{
    const size_t normals = 2 * pairs_of(classes);
    return HFI_LAY_OUT(scratch, HFI_ROOMS(s->factor, classes, normals), HFI_ROOM(s->stride, normals),
                       HFI_ROOMS(s->shift, SHIFTS, normals), HFI_ROOM(s->z, normals), HFI_ROOM(s->f, classes),
                       HFI_ROOM(s->p, classes), HFI_ROOMS(s->sum, SHIFTS, classes));
}

size_t hfi_softmax_scratch(size_t classes)
{
    sequence s;
    return lay_out_sequence(classes, NULL, &s);
}

static void start_sequence(sequence *s)
{
    const size_t normals = 2 * s->pairs;
    size_t candidate = 2;
    for (size_t j = 0; j < normals; candidate++) {
        size_t divisor = 2;
        while (divisor * divisor <= candidate && candidate % divisor != 0) divisor++;
        if (divisor * divisor <= candidate) continue;
        const double irrational = sqrt((double)candidate);
        s->stride[j++] = irrational - floor(irrational);
    }
    hfi_stream stream;
    hfi_stream_init(&stream, 0, HFI_PURPOSE_SAMPLE, s->classes);
    for (size_t k = 0; k < SHIFTS * normals; k++) s->shift[k] = hfi_stream_uniform(&stream);
    memset(s->sum, 0, SHIFTS * s->classes * sizeof *s->sum);
}

static void place_point(sequence *s, size_t index, size_t shift)
{
    const size_t normals = 2 * s->pairs;
    for (size_t j = 0; j < normals; j += 2) {
        const double *by = s->shift + shift * normals + j;
        double u = (double)index * s->stride[j] + by[0], angle = (double)index * s->stride[j + 1] + by[1];
        u = fabs(2.0 * (u - floor(u)) - 1.0);
        const double radius = sqrt(-2.0 * log(fmax(u, DBL_MIN)));
        s->z[j] = radius * cos(2.0 * HFI_PI * angle);
        s->z[j + 1] = radius * sin(2.0 * HFI_PI * angle);
    }
}

static void add_point(sequence *s, size_t index, size_t shift)
{
    const size_t normals = 2 * s->pairs;
    place_point(s, index, shift);
    for (size_t c = 0; c < s->classes; c++) {
        s->f[c] = s->mean[c];
        for (size_t j = 0; j < normals; j++) s->f[c] += s->factor[c * normals + j] * s->z[j];
    }
    softmax(s->classes, s->f, s->p);
    for (size_t c = 0; c < s->classes; c++) s->sum[shift * s->classes + c] += s->p[c];
}

hf_status hfi_softmax_normals(hf_context *ctx, size_t classes, size_t count, double *points)
{
    sequence s = {.classes = classes, .pairs = pairs_of(classes)};
    double *scratch = hfi_alloc(ctx, hfi_softmax_scratch(classes), sizeof *scratch);
    if (!scratch) return HF_ERR_MEMORY;
    (void)lay_out_sequence(classes, scratch, &s);
    start_sequence(&s);
    for (size_t k = 0; k < count; k++) {
        place_point(&s, k, 0);
        memcpy(points + k * (classes - 1), s.z, (classes - 1) * sizeof *points);
    }
    hfi_free(ctx, scratch);
    return HF_OK;
}

/* Means over the shifts, and three standard errors of the class that has most. */
static double conclude_probability(const sequence *s, size_t points, double *probability)
{
    double largest = 0.0;
    for (size_t c = 0; c < s->classes; c++) {
        double mean = 0.0, squares = 0.0;
        for (size_t k = 0; k < SHIFTS; k++) mean += s->sum[k * s->classes + c] / (double)points / SHIFTS;
        for (size_t k = 0; k < SHIFTS; k++) {
            const double off = s->sum[k * s->classes + c] / (double)points - mean;
            squares += off * off;
        }
        probability[c] = mean;
        largest = fmax(largest, squares);
    }
    return 3.0 * sqrt(largest / (SHIFTS * (SHIFTS - 1.0)));
}

static double more(size_t classes, const double *mean, const double *v, double *probability, double *scratch)
{
    sequence s = {.classes = classes, .pairs = pairs_of(classes), .mean = mean};
    (void)lay_out_sequence(classes, scratch, &s);
    hfi_softmax_differences(classes, v, 2 * s.pairs, s.factor);
    start_sequence(&s);
    double error = INFINITY;
    size_t done = 0;
    for (size_t points = FEWEST; points <= MOST && error > estimate_wanted; points *= 2) {
        for (; done < points; done++)
            for (size_t k = 0; k < SHIFTS; k++) add_point(&s, done, k);
        error = conclude_probability(&s, points, probability);
    }
    return error + normalise(classes, probability);
}

void hfi_softmax_probability(size_t classes, const double *mean, const double *covariance,
                             double *probability, double *error, double *scratch)
{
    double bound = 0.0;
    if (classes == 2) {
        const double variance = covariance[0] + covariance[3] - covariance[1] - covariance[2];
        double one = NAN;
        hf_class_probability(HF_LINK_LOGIT, mean[1] - mean[0], fmax(variance, 0.0), &one, &bound);
        probability[0] = 1.0 - one;
        probability[1] = one;
    } else if (classes == 3 || classes == MOST_RULES + 1) {
        bound = few(classes, mean, covariance, probability);
    } else {
        bound = more(classes, mean, covariance, probability, scratch);
    }
    if (error) *error = bound;
}
