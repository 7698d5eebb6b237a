/* SPDX-License-Identifier: Apache-2.0 */
/* From the readings that count to a posterior: places merged, prior mean estimated. */
#include "track/track.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* The sites of a moment, one for each place (tv-gp-ucb: for each reading, whose time matters). */
typedef struct gathered {
    const hfi_moment *moment;
    size_t count, readings, answers;
    double *x;        /* count x d */
    double *target;   /* of all readings there: their mean, weighted by 1 / variance */
    double *variance; /* 1 / sum of 1 / variance */
    double *fading;   /* tv-gp-ucb; else NULL */
    double *time;     /* of each; tv-gp-ucb; else NULL */
    size_t *number;   /* of a place among the gathered, + 1 */
} gathered;

static void free_gathered(hf_context *ctx, gathered *g)
{
    HFI_FREE(ctx, g->x, g->target, g->variance, g->fading, g->time, g->number);
}

static hf_status prepare_gathered(hf_context *ctx, const hfi_moment *moment, size_t count, gathered *g)
{
    const hf_track *track = moment->track;
    *g = (gathered){.moment = moment};
    bool fine = HFI_ALLOC(ctx, HFI_ROOMS(g->x, count, track->d), HFI_ROOM(g->target, count),
                          HFI_ROOM(g->variance, count), HFI_ROOM(g->number, track->places.count)) == HF_OK;
    if (track->own.s.method == HF_TRACK_TV_GP_UCB) {
        g->fading = hfi_alloc(ctx, count, sizeof *g->fading);
        g->time = hfi_alloc(ctx, count, sizeof *g->time);
        fine = fine && g->fading != NULL && g->time != NULL;
    }
    if (fine) return HF_OK;
    free_gathered(ctx, g);
    return HF_ERR_MEMORY;
}

/* One more reading at place k, whose variance is 0 when it is the first. A single one stays what it is, to
 * the digit. */
static void merge(gathered *g, size_t k, double target, double variance)
{
    if (g->variance[k] > 0.0) {
        const double share = g->variance[k] / (g->variance[k] + variance);
        g->target[k] += share * (target - g->target[k]);
        g->variance[k] = share * variance;
    } else {
        g->target[k] = target;
        g->variance[k] = variance;
    }
}

static void gather_told_readings(gathered *g, size_t count, const hfi_told *told)
{
    const hf_track *track = g->moment->track;
    for (size_t i = 0; i < count; i++) {
        const double variance = hfi_track_variance(g->moment, &told[i]);
        if (!isfinite(variance)) continue;
        size_t *number = &g->number[told[i].place];
        if (*number == 0 || g->time != NULL) {
            *number = ++g->count;
            memcpy(g->x + (g->count - 1) * track->d, track->places.x + told[i].place * track->d,
                   track->d * sizeof *g->x);
        }
        const size_t k = *number - 1;
        merge(g, k, told[i].target, variance);
        if (g->time != NULL) {
            g->time[k] = told[i].time;
            g->fading[k] = hfi_track_fading(track, g->moment->time - told[i].time);
        }
        g->readings++;
        g->answers += told[i].batch != 0;
    }
}

/* ---- prior mean -------------------------------------------------------------------------------------------------- */

/*
 * Generalised least squares of a constant: m = 1'A^-1 z / 1'A^-1 1, with the factor there is; the solution
 * was made with mean 0 and becomes that of mean m. `ones` (count) is room.
 */
static double solve_prior_mean(hfi_solution *s, double given, bool is_given, double *ones)
{
    for (size_t i = 0; i < s->n; i++) ones[i] = 1.0;
    double above = 0.0, below = 0.0;
    hfi_chol_solve(s->n, s->factor, s->capacity, ones);
    for (size_t i = 0; i < s->n; i++) {
        above += ones[i] * s->residual[i];
        below += ones[i];
    }
    const double mean = is_given ? given : below > 0.0 ? above / below : 0.0;
    for (size_t i = 0; i < s->n; i++) {
        s->t[i] -= mean * ones[i];
        s->residual[i] -= mean;
    }
    return mean;
}

/* ---- tv-gp-ucb --------------------------------------------------------------------------------------------------- */

/* Arguments of the matrix that hfi_chol_jitter() fills: K with fading in time, and the variances. */
typedef struct fading_matrix {
    hf_context *ctx;
    const hf_track *track;
    const gathered *g;
} fading_matrix;

static hf_status fill_faded(void *arg, double *a, size_t lda)
{
    const fading_matrix *f = arg;
    const gathered *g = f->g;
    hf_status status = hfi_kernel_gram_lower(f->ctx, f->track->kernel, g->count, g->x, f->track->d, a, lda);
    for (size_t j = 0; j < g->count && status >= 0; j++) {
        a[j * (lda + 1)] += g->variance[j];
        for (size_t i = j + 1; i < g->count; i++)
            a[i + j * lda] *= hfi_track_fading(f->track, g->time[i] - g->time[j]);
    }
    return status;
}

/*
 * With F = diag(fading) the covariance of f(., now) with the readings is F k, so that t = F A^-1 r and S = F
 * A^-1 F = R R' with R = F L^-T: the posterior of f(., now) over the inputs alone, whatever its kernel in
 * time.
 */
static hf_status to_now(const gathered *g, hfi_solution *exact, hfi_solution *out)
{
    const size_t n = exact->n;
    memcpy(out->z, exact->z, n * exact->d * sizeof *out->z);
    memcpy(out->residual, exact->residual, n * sizeof *out->residual);
    memcpy(out->variance, exact->variance, n * sizeof *out->variance);
    for (size_t i = 0; i < n; i++) {
        out->t[i] = exact->t[i] * g->fading[i];
        out->r[i * (n + 1)] = 1.0;
    }
    hfi_chol_backward_block(n, n, exact->factor, exact->capacity, out->r, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) out->r[i + j * n] *= g->fading[i];
    out->solver = HF_SOLVER_EXACT;
    out->jitter = exact->jitter;
    out->log_det = exact->log_det;
    return HF_OK;
}

static hf_status solve_faded(hf_context *ctx, const gathered *g, hfi_solution *s)
{
    const hf_track *track = g->moment->track;
    hf_status status = hfi_solution_alloc(ctx, g->count, track->d, s);
    if (status < 0) return status;
    memcpy(s->z, g->x, g->count * track->d * sizeof *s->z);
    memcpy(s->residual, g->target, g->count * sizeof *s->residual);
    memcpy(s->variance, g->variance, g->count * sizeof *s->variance);
    fading_matrix f = {.ctx = ctx, .track = track, .g = g};
    status =
        hfi_chol_jitter(ctx, g->count, s->factor, s->capacity,
                        hfi_jitter_scale(track->kernel, g->count, s->z, s->d), fill_faded, &f, &s->jitter);
    if (status < 0) return status;
    s->log_det = hfi_chol_logdet(g->count, s->factor, s->capacity);
    memcpy(s->t, s->residual, g->count * sizeof *s->t);
    hfi_chol_solve(g->count, s->factor, s->capacity, s->t);
    return status;
}

/* ---- all others -------------------------------------------------------------------------------------------------- */

static hf_status solve_plain(hf_context *ctx, const gathered *g, const hf_mean *zero, hfi_solution *s)
{
    const hf_track *track = g->moment->track;
    hf_sites *sites = NULL;
    hf_status status = hf_sites_gaussian(ctx, g->count, g->target, track->own.s.noise, NULL, &sites);
    if (status < 0) return status;
    hfi_sites_give(sites, g->target, g->variance);
    status = hfi_exact_solve(ctx, track->kernel, zero, sites, track->d, g->x, track->d, s);
    hf_sites_free(sites);
    return status;
}

/* ---- the posterior ----------------------------------------------------------------------------------------------- */

static hf_status create_track_posterior(hf_context *ctx, const gathered *g, hf_mean *mean, hfi_solution *s,
                                        hf_posterior **out)
{
    const hf_track *track = g->moment->track;
    hfi_scaling scaling;
    hf_status status = hfi_scaling_identity(ctx, track->d, &scaling);
    if (status < 0) return status;
    hfi_solution now = {0};
    if (g->fading != NULL) {
        status = hfi_solution_alloc_low_rank(ctx, HFI_FORM_DENSE, s->n, s->d, s->n, true, &now);
        if (status >= 0) status = to_now(g, s, &now);
    }
    if (status >= 0)
        status = hfi_posterior_create(ctx, track->kernel, mean, g->fading != NULL ? &now : s, &scaling,
                                      track->own.s.noise, 1.0, out);
    hfi_solution_free(&now);
    hfi_scaling_free(&scaling);
    return status;
}

static hf_status solve_gathered(hf_context *ctx, gathered *g, hf_mean *mean, hfi_solution *s, hfi_solved *out)
{
    const hf_track_settings *settings = &g->moment->track->own.s;
    hf_status status = g->fading != NULL ? solve_faded(ctx, g, s) : solve_plain(ctx, g, mean, s);
    if (status < 0) return status;
    double *ones = hfi_alloc(ctx, g->count, sizeof *ones);
    if (ones == NULL) return HF_ERR_MEMORY;
    hfi_solved made = {
        .readings = g->readings, .answers = g->answers, .places = g->count, .jitter = s->jitter};
    made.information = 0.5 * s->log_det;
    for (size_t k = 0; k < g->count; k++) made.information -= 0.5 * log(g->variance[k]);
    made.prior_mean = solve_prior_mean(s, settings->mean, settings->mean_given, ones);
    hfi_free(ctx, ones);
    hf_status created = hf_mean_set(ctx, mean, &made.prior_mean, true);
    if (created >= 0) created = create_track_posterior(ctx, g, mean, s, &made.posterior);
    if (created < 0) return created;
    *out = made;
    return status;
}

hf_status hfi_track_solve(hf_context *ctx, const hfi_moment *moment, size_t count, const hfi_told *told,
                          hfi_solved *out)
{
    memset(out, 0, sizeof *out);
    gathered g;
    hf_status status = prepare_gathered(ctx, moment, count, &g);
    if (status < 0) return status;
    gather_told_readings(&g, count, told);
    hf_mean *mean = NULL;
    hfi_solution solution = {0};
    if (g.count == 0) status = hfi_fail(ctx, HF_ERR_NO_DATA, "no reading counts at time %g", moment->time);
    if (status >= 0) status = hf_mean_create(ctx, HF_MEAN_CONSTANT, moment->track->d, &mean);
    if (status >= 0) status = solve_gathered(ctx, &g, mean, &solution, out);
    hfi_solution_free(&solution);
    hf_mean_free(mean);
    free_gathered(ctx, &g);
    return status;
}
