/* SPDX-License-Identifier: Apache-2.0 */
/* Readings near one, and readings that an expert is best asked about. */
#include "mean/expert.h"

#include <math.h>

/* Correlations and gains that differ by less are equal: rounding decides nothing. */
static const double margin = 1e-9;

/* ---- neighbours -------------------------------------------------------------------------------- */

static bool is_sound(const hf_expert *e, size_t i)
{
    return !isnan(e->y[i]) && e->reading[i].label != HF_EXPERT_DOUBTED;
}

/* The J-th largest correlation of a sound row other than `row`; the smallest if there are fewer; -1 if
 * there is none. */
static double least_of_nearest(const hf_expert *e, size_t row, const double *l)
{
    double above = INFINITY, level = -1.0;
    for (size_t found = 0; found < e->settings.neighbours;) {
        double next = -1.0;
        size_t equals = 0;
        for (size_t i = 0; i < e->n; i++) {
            if (i == row || !is_sound(e, i) || l[i] >= above) continue;
            if (l[i] > next) {
                next = l[i];
                equals = 1;
            } else if (l[i] == next) {
                equals++;
            }
        }
        if (equals == 0) break;
        above = level = next;
        found += equals;
    }
    return level;
}

hf_status hfi_expert_neighbours(hf_context *ctx, const hf_expert *e, size_t row, double *l,
                                hfi_expert_prior *out)
{
    const hf_status s =
        hfi_expert_correlations(ctx, e, e->x + row * e->d, e->self[row], e->n, e->x, e->self, l);
    if (s < 0) return s;
    const double level = least_of_nearest(e, row, l) * (1.0 - margin);
    size_t count = 0;
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < e->n && level >= 0.0; i++) {
        if (i == row || !is_sound(e, i) || l[i] < level) continue;
        const double step = e->y[i] - mean;
        mean += step / (double)++count;
        squares += step * (e->y[i] - mean);
    }
    const double least = 1e-6 * e->spread;
    out->mean = count > 0 ? mean : e->settings.base;
    out->var = fmax(count > 1 ? squares / (double)(count - 1) : e->calm, least);
    return HF_OK;
}

/* ---- questions --------------------------------------------------------------------------------- */

typedef struct expert_asking {
    hf_context *ctx;
    const hf_expert *e;
    double *l;               /* n: correlations of a candidate */
    double *crowd;           /* n: sum of correlations with labelled and chosen readings, at each reading */
    double *square;          /* n: mean square move of its right value; 0: no candidate */
    double *bound;           /* n: its gain when it was last looked at; gains never grow */
    size_t *seen;            /* n: after how many choices that was */
    size_t chosen, labelled; /* labelled: by the expert, or asked about */
} expert_asking;

static hf_status asking_make(expert_asking *a)
{
    const size_t n = a->e->n;
    if (HFI_ALLOC(a->ctx, HFI_ROOMS(a->l, n, 4), HFI_ROOM(a->seen, n)) < 0) return HF_ERR_MEMORY;
    a->crowd = a->l + n;
    a->square = a->crowd + n;
    a->bound = a->square + n;
    return HF_OK;
}

static hf_status correlate(expert_asking *a, size_t i)
{
    const hf_expert *e = a->e;
    const hf_status s =
        hfi_expert_correlations(a->ctx, e, e->x + i * e->d, e->self[i], e->n, e->x, e->self, a->l);
    for (size_t k = 0; k < e->n && e->flat; k++) a->l[k] = 1.0;
    return s;
}

/* Readings without a label and doubted ones without a correction. */
static bool is_candidate(const hf_expert *e, size_t i)
{
    const hf_expert_label label = e->reading[i].label;
    return !isnan(e->y[i]) && !e->asked[i] && label != HF_EXPERT_BELIEVED;
}

/* How far its right value is expected to move, in the mean square. */
static double mean_square(const hf_expert *e, size_t i, hfi_expert_prior prior)
{
    const double s = e->settings.correction_var, r = prior.var;
    const double learnt = r > 0.0 ? r * (r / (r + s)) : 0.0;
    if (e->reading[i].label == HF_EXPERT_DOUBTED) return e->reading[i].wrong * e->reading[i].wrong * learnt;
    const double away = fabs(e->y[i] - prior.mean);
    if (away == 0.0) return 0.0;
    const double odds = away / sqrt(r), p = isfinite(odds) ? odds / (1.0 + odds) : 1.0;
    return p * (away * away + learnt);
}

/* Sum over all readings of the squared weight that it would have there. */
static double reach(const expert_asking *a, bool labelled)
{
    const double h = (double)(a->labelled + (labelled ? 0 : 1));
    double sum = 0.0;
    for (size_t k = 0; k < a->e->n; k++) {
        const double crowd = a->crowd[k] + (labelled ? 0.0 : a->l[k]);
        const double w = a->l[k] / (a->e->settings.rule == HF_EXPERT_PUBLISHED ? h : fmax(1.0, crowd));
        sum += w * w;
    }
    return sum;
}

static hf_status update_candidate_bound(expert_asking *a, size_t i)
{
    const hf_status s = correlate(a, i);
    if (s >= 0) a->bound[i] = a->square[i] * reach(a, a->e->reading[i].label == HF_EXPERT_DOUBTED);
    a->seen[i] = a->chosen;
    return s;
}

/* Labelled readings crowd their surroundings. */
static hf_status crowd(expert_asking *a, size_t i)
{
    const hf_status s = correlate(a, i);
    for (size_t k = 0; k < a->e->n && s >= 0; k++) a->crowd[k] += a->l[k];
    return s;
}

static hf_status prepare_candidate_bounds(expert_asking *a, const double *expected, const double *sd,
                                          hfi_watch *watch)
{
    const hf_expert *e = a->e;
    hf_status s = HF_OK;
    for (size_t k = 0; k < e->count && s >= 0; k++) s = crowd(a, e->row[k]);
    for (size_t i = 0; i < e->n && s >= 0; i++) {
        if (!is_candidate(e, i)) continue;
        hfi_expert_prior prior = {0};
        watch->done = (double)i / (double)e->n;
        if (!hfi_watch_glance(watch)) return hfi_cancelled(a->ctx);
        s = hfi_expert_neighbours(a->ctx, e, i, a->l, &prior);
        if (s < 0) break;
        if (expected != NULL && !isnan(expected[i])) prior.mean = expected[i];
        if (sd != NULL && !isnan(sd[i])) prior.var = sd[i] * sd[i];
        a->square[i] = mean_square(e, i, prior);
        s = update_candidate_bound(a, i);
    }
    return s;
}

/* The first row whose bound is the largest. */
static size_t best(const expert_asking *a)
{
    size_t row = SIZE_MAX;
    double most = 0.0;
    for (size_t i = 0; i < a->e->n; i++) {
        if (!(a->bound[i] > most * (1.0 + margin))) continue;
        most = a->bound[i];
        row = i;
    }
    return row;
}

static hf_status choose_expert_questions(expert_asking *a, hfi_watch *watch, size_t k, size_t *rows,
                                         double *move)
{
    hf_status s = HF_OK;
    while (a->chosen < k && s >= 0) {
        const size_t i = best(a);
        if (i == SIZE_MAX) break;
        if (!hfi_watch_glance(watch)) return hfi_cancelled(a->ctx);
        if (a->seen[i] != a->chosen) {
            s = update_candidate_bound(a, i);
            continue;
        }
        if (move != NULL) move[a->chosen] = sqrt(a->bound[i] / (double)a->e->n);
        rows[a->chosen++] = i;
        a->bound[i] = 0.0;
        if (a->e->reading[i].label != HF_EXPERT_UNKNOWN) continue;
        a->labelled++;
        s = crowd(a, i);
    }
    return s;
}

static hf_status check_question_moments(hf_context *ctx, const hf_expert *e, const double *expected,
                                        const double *sd)
{
    for (size_t i = 0; i < e->n && expected != NULL; i++)
        if (isinf(expected[i])) return hfi_refuse(ctx, "hf_expert_ask: expected[%zu] is infinite", i);
    for (size_t i = 0; i < e->n && sd != NULL; i++)
        if (!isnan(sd[i]) && !(sd[i] > 0.0 && isfinite(sd[i])))
            return hfi_refuse(ctx, "hf_expert_ask: sd[%zu] is %g; it must be above 0", i, sd[i]);
    return HF_OK;
}

hf_status hf_expert_ask(hf_context *ctx, const hf_expert *expert, const double *expected, const double *sd,
                        size_t *count, size_t *rows, double *move)
{
    if (expert == NULL || count == NULL || (*count > 0 && rows == NULL))
        return hfi_refuse(ctx, "hf_expert_ask: expert, rows and count must not be NULL");
    hf_status s = check_question_moments(ctx, expert, expected, sd);
    if (s < 0) return s;
    expert_asking a = {.ctx = ctx, .e = expert, .labelled = expert->count};
    hfi_watch watch;
    hfi_watch_begin(&watch, ctx, "expert", 0.0);
    s = asking_make(&a);
    if (s >= 0) s = prepare_candidate_bounds(&a, expected, sd, &watch);
    if (s >= 0) s = choose_expert_questions(&a, &watch, *count, rows, move);
    if (s >= 0) *count = a.chosen;
    HFI_FREE(ctx, a.l, a.seen);
    return s;
}
