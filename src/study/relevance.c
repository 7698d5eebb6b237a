/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much each variable matters: the standard deviation of its main effect, by averages over a design that
 * fills the space. The main effect of variable j at a value is the average of the function with j set to it.
 * Draws of the posterior at all these places together give the interval.
 */
#include "study/study.h"

#include <holdfast/path.h>
#include <math.h>
#include <string.h>

enum {
    GRID = 7,    /* values of a variable */
    POINTS = 16, /* places that an average is over */
    DRAWS = 20,
    WAVES = 128 /* of a draw: the interval needs no more */
};

typedef struct effects {
    const hf_study *study;
    const hf_posterior *posterior;
    size_t places; /* POINTS (1 + d GRID) */
    double *u;     /* places x d */
    double *value; /* (DRAWS + 1) x places: the mean, then draws */
    double *share; /* d x DRAWS */
} effects;

/* Value k of GRID of a variable's input. */
static double grid_at(const hf_study *study, size_t j, size_t k, size_t *values)
{
    const double upper = study->domain.upper[j], step = study->domain.step[j];
    const size_t all = step > 0.0 ? (size_t)llround(upper / step) + 1 : GRID;
    *values = all < GRID ? all : GRID;
    if (step > 0.0 && all <= GRID) return (double)k * step;
    const double at = (double)k / (GRID - 1) * upper;
    return step > 0.0 ? rint(at / step) * step : at;
}

static void make_places(effects *e)
{
    const hf_study *study = e->study;
    const size_t d = study->d;
    size_t ignored;
    hf_domain_quasirandom(&study->domain, 0, POINTS, e->u);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < GRID; k++)
            for (size_t i = 0; i < POINTS; i++) {
                double *row = e->u + (POINTS + (j * GRID + k) * POINTS + i) * d;
                memcpy(row, e->u + i * d, d * sizeof *row);
                (void)grid_at(study, j, 0, &ignored);
                row[j] = grid_at(study, j, k < ignored ? k : ignored - 1, &ignored);
            }
}

static double deviation(const double *values, size_t count)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < count; i++) mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) square += (values[i] - mean) * (values[i] - mean) / (double)count;
    return sqrt(square);
}

/* Share of variable j in one function over all places. */
static double compute_variable_share(const effects *e, const double *f, size_t j)
{
    double effect[GRID];
    size_t values;
    (void)grid_at(e->study, j, 0, &values);
    for (size_t k = 0; k < values; k++) {
        const double *at = f + POINTS + (j * GRID + k) * POINTS;
        effect[k] = 0.0;
        for (size_t i = 0; i < POINTS; i++) effect[k] += at[i] / POINTS;
    }
    const double whole = deviation(f, e->places);
    return whole > 0.0 ? fmin(deviation(effect, values) / whole, 1.0) : 0.0;
}

static hf_status compute_relevance_shares(hf_context *ctx, effects *e, double *share, double *lower,
                                          double *upper)
{
    const size_t d = e->study->d;
    make_places(e);
    hf_status s = hf_predict(ctx, e->posterior, e->places, e->u, d, e->value, NULL, NULL);
    for (size_t r = 0; r < DRAWS && s >= 0; r++) {
        hf_path *path = NULL;
        s = hfi_worse(s, hf_path_create(ctx, e->posterior, r, WAVES, &path));
        if (s >= 0)
            s = hfi_worse(s,
                          hf_path_many_rows(ctx, path, e->places, e->u, d, e->value + (r + 1) * e->places));
        hf_path_free(path);
    }
    for (size_t j = 0; j < d && s >= 0; j++) {
        double *draws = e->share + j * DRAWS;
        for (size_t r = 0; r < DRAWS; r++)
            draws[r] = compute_variable_share(e, e->value + (r + 1) * e->places, j);
        share[j] = compute_variable_share(e, e->value, j);
        lower[j] = hfi_quantile(draws, DRAWS, 0.05);
        upper[j] = hfi_quantile(draws, DRAWS, 0.95);
    }
    return s < 0 ? s : HF_OK;
}

hf_status hf_study_relevance(hf_context *ctx, hf_study *study, size_t outcome, double *share, double *lower,
                             double *upper)
{
    hf_context *own;
    if (ctx == NULL || study == NULL || share == NULL || lower == NULL || upper == NULL)
        return hfi_refuse(ctx, "hf_study_relevance: a context, a study and places are needed");
    if (outcome >= study->outcomes)
        return hfi_refuse(ctx, "there is no outcome %zu; the study has %zu", outcome, study->outcomes);
    hf_status s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    const size_t d = study->d, places = POINTS * (1 + d * GRID);
    effects e = {.study = study, .posterior = study->surrogate[outcome].posterior, .places = places};
    s = HFI_ALLOC(own, HFI_ROOMS(e.u, places, d), HFI_ROOMS(e.value, places, DRAWS + 1),
                  HFI_ROOMS(e.share, d, DRAWS));
    if (s >= 0) s = compute_relevance_shares(own, &e, share, lower, upper);
    HFI_FREE(own, e.u, e.value, e.share);
    hfi_context_give_back(ctx, own);
    return s;
}
