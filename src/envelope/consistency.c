/* SPDX-License-Identifier: Apache-2.0 */
/* Why readings and a norm bound do not fit together: which readings, how much norm, how much noise. */
#include "envelope/envelope.h"

#include <math.h>
#include <string.h>

enum {
    DOUBLINGS = 60, /* of all noise bounds, before it is said that no factor will do */
    STEPS = 100,    /* of the search for the factor */
    NAMED = 8       /* rows in a message */
};

/* Norms beyond this many times the bound are as good as infinite. */
#define FAR 8.0
/* Precision of the factor, relative. */
#define PRECISION 1e-10

/* State of the search for the factor. */
typedef struct factor_problem {
    const hf_envelope *envelope;
    const hf_bounded_readings *readings;
    hfi_distinct *distinct;
    hfi_active_problem problem;
    hfi_chain *chain;
    double norm;
} factor_problem;

/* A point of the norm of the smoothest function over the factor on all noise bounds: convex, never rising. */
typedef struct factor_point {
    double factor, norm, fall; /* fall: minus the slope */
    bool fits;                 /* some function of the norm bound meets all readings */
} factor_point;

/* A norm far beyond the bound counts as infinite: it would take long to find out more. */
static factor_point norm_at(factor_problem *q, double factor)
{
    factor_point p = {.factor = factor, .norm = INFINITY};
    if (!hfi_distinct_limits(q->readings, factor, q->distinct)) return p;
    for (size_t i = 0; i < q->problem.n; i++)
        if (!(q->problem.sd[i] > 0.0) && (q->distinct->lower[i] > 0.0 || q->distinct->upper[i] < 0.0))
            return p;
    p.norm = hfi_smoothest_solve(&q->problem, q->chain, FAR * q->norm);
    const double found = hfi_smoothest_norm(q->chain);
    p.norm = fmax(p.norm, hfi_envelope_certified(q->envelope, &q->problem, q->chain, NULL));
    p.fits = p.norm <= q->norm;
    /* The norm's square is the most of -nu'K nu - 2 h(nu), and h alone knows the factor. Where the
     * norm is more than the factor of K could tell, so is the best multiple of nu. */
    double sum = 0.0;
    for (size_t j = 0; j < q->chain->count; j++) {
        const size_t i = q->chain->index[j];
        const double nu = q->chain->nu[j];
        sum += fabs(nu) * (nu < 0.0 ? hfi_noise_below(q->readings, q->distinct->lower_row[i])
                                    : hfi_noise_above(q->readings, q->distinct->upper_row[i]));
    }
    p.fall = found > 0.0 ? sum / found * (p.norm / found) : 0.0;
    return p;
}

/* Two factors with the norm bound between their norms; false when the answer is *factor already. */
static bool bracket(factor_problem *q, factor_point *left, factor_point *right, double *factor)
{
    *right = norm_at(q, 1.0);
    *left = (factor_point){.factor = 0.0, .norm = INFINITY};
    *factor = INFINITY;
    for (int k = 0; !right->fits; k++) {
        *left = *right;
        if (k == DOUBLINGS || (isfinite(left->norm) && left->fall == 0.0)) return false;
        *right = norm_at(q, 2.0 * left->factor);
    }
    if (left->factor > 0.0) return true;
    /* The norm lies above its tangent. */
    const double least = right->fall > 0.0 ? 1.0 - (q->norm - right->norm) / right->fall : 0.0;
    *factor = 0.0;
    *left = norm_at(q, fmax(least, 0.0));
    return !left->fits;
}

/* Newton from the side where the norm is too large never overshoots, since the norm is convex; where it
 * creeps, halves are taken. */
static double smallest_factor(factor_problem *q)
{
    factor_point left, right;
    double answer;
    if (!bracket(q, &left, &right, &answer)) return answer;
    double width = INFINITY;
    for (int k = 0; k < STEPS && right.factor - left.factor > PRECISION * right.factor; k++) {
        const double now = right.factor - left.factor;
        double factor = 0.5 * (left.factor + right.factor);
        if (isfinite(left.norm) && left.fall > 0.0 && (k % 3 != 2 || now < 0.5 * width)) {
            const double newton = left.factor + (left.norm - q->norm) / left.fall;
            if (newton - left.factor <= PRECISION * newton) return newton;
            if (newton < right.factor) factor = newton;
        }
        if (k % 3 == 0) width = now;
        const factor_point p = norm_at(q, factor);
        if (p.fits)
            right = p;
        else
            left = p;
    }
    return right.factor;
}

/* ---- a smallest set of readings that contradict each other ------------------------------------------------------ */

static void leave_out(const hfi_active_problem *problem, hfi_chain *chain, size_t i)
{
    chain->left_out[i] = 1;
    for (size_t j = 0; j < chain->count; j++)
        if (chain->index[j] == i) {
            hfi_chain_drop(problem, chain, j);
            break;
        }
}

static bool still_conflict(const hf_envelope *envelope, const hfi_active_problem *problem, hfi_chain *chain)
{
    (void)hfi_smoothest_solve(problem, chain, INFINITY);
    return hfi_envelope_certified(envelope, problem, chain, NULL) > envelope->norm;
}

/* The support of a nu that proves the conflict is a conflict by itself; members that can go, go. */
void hfi_smallest_conflict(const hf_envelope *envelope, const hfi_active_problem *problem, hfi_chain *chain)
{
    const size_t n = problem->n;
    memset(chain->left_out, 1, n);
    for (size_t j = 0; j < chain->count; j++) chain->left_out[chain->index[j]] = 0;
    for (size_t i = 0; i < n; i++) {
        if (chain->left_out[i]) continue;
        leave_out(problem, chain, i);
        if (!still_conflict(envelope, problem, chain)) chain->left_out[i] = 0;
    }
    (void)still_conflict(envelope, problem, chain);
    memset(chain->left_out, 0, n);
}

/* Rows of the table instead of distinct readings: whose limits are held. */
static size_t smallest_conflict(factor_problem *q, size_t *rows)
{
    const hfi_chain *chain = q->chain;
    hfi_smallest_conflict(q->envelope, &q->problem, q->chain);
    for (size_t j = 0; j < chain->count; j++) {
        const size_t i = chain->index[j];
        rows[j] = chain->nu[j] < 0.0 ? q->distinct->lower_row[i] : q->distinct->upper_row[i];
    }
    return chain->count;
}

/* Conflicts that need no norm: intervals of one input, or a value where every function of the space is zero. */
static size_t plain_conflict(const factor_problem *q, size_t *rows)
{
    const hfi_distinct *distinct = q->distinct;
    for (size_t i = 0; i < distinct->n; i++) {
        if (distinct->lower[i] > distinct->upper[i]) {
            rows[0] = distinct->lower_row[i];
            rows[1] = distinct->upper_row[i];
            return 2;
        }
        if (!(q->problem.sd[i] > 0.0) && (distinct->lower[i] > 0.0 || distinct->upper[i] < 0.0)) {
            rows[0] = distinct->lower[i] > 0.0 ? distinct->lower_row[i] : distinct->upper_row[i];
            return 1;
        }
    }
    return 0;
}

void hfi_explain(hf_envelope *envelope, const hf_bounded_readings *readings, hfi_distinct *distinct,
                 hf_consistency *report, size_t *conflict)
{
    hfi_chain *chain = &envelope->work_area.chain;
    factor_problem q = {.envelope = envelope,
                        .readings = readings,
                        .distinct = distinct,
                        .problem = hfi_envelope_problem(envelope, HF_UPPER),
                        .chain = chain,
                        .norm = envelope->norm};
    q.problem.jitter = 0.0;
    q.problem.lower = distinct->lower;
    q.problem.upper = distinct->upper;
    *report = (hf_consistency){.distinct = distinct->n};
    (void)hfi_distinct_limits(readings, 1.0, distinct);
    report->conflicting = plain_conflict(&q, conflict);
    bool fits = report->conflicting == 0;
    if (fits) {
        (void)hfi_smoothest_solve(&q.problem, chain, INFINITY);
        report->minimum_norm = hfi_envelope_certified(envelope, &q.problem, chain, &report->norm_open);
        fits = report->minimum_norm <= q.norm;
        if (!fits) report->conflicting = smallest_conflict(&q, conflict);
    } else {
        report->minimum_norm = INFINITY;
    }
    hfi_sort_indices(conflict, report->conflicting);
    report->noise_factor = smallest_factor(&q);
    if (fits) report->noise_factor = fmin(report->noise_factor, 1.0);
}

void hfi_list_numbers(size_t count, const size_t *number, char out[HFI_NUMBERS])
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t k = 0; k < count && k < NAMED; k++)
        length +=
            (size_t)hfi_print(out + length, HFI_NUMBERS - length, "%s%zu", k > 0 ? ", " : "", number[k] + 1);
    if (count > NAMED) (void)hfi_print(out + length, HFI_NUMBERS - length, " and %zu more", count - NAMED);
}

hf_status hfi_inconsistent(hf_context *ctx, double norm, const hf_consistency *report, const size_t *conflict)
{
    char rows[HFI_NUMBERS];
    hfi_list_numbers(report->conflicting, conflict, rows);
    char norms[96] = "no norm would do", noise[96] = "no noise bounds would do";
    if (isfinite(report->minimum_norm))
        (void)hfi_print(norms, sizeof norms, "the smallest norm that would do is %s%.6g",
                        report->norm_open > HFI_NORM_OPEN ? "at least " : "", report->minimum_norm);
    if (isfinite(report->noise_factor))
        (void)hfi_print(noise, sizeof noise, "noise bounds %.6g times as large would do",
                        report->noise_factor);
    return hfi_fail(
        ctx, HF_ERR_INCONSISTENT,
        "no function of norm %g or less meets all readings: row%s %s (counted from 1) contradict%s; %s; %s",
        norm, report->conflicting == 1 ? "" : "s", rows, report->conflicting == 1 ? "s it" : " each other",
        norms, noise);
}
