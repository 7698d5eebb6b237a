/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms for the readings of an envelope. */
#include "core/settings.h"
#include "envelope/closed.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* An exact reading has no noise bound that says what its site could be: it is taken for one with this share
 * of the largest bound. */
#define EXACT_SHARE 1e-3
/* All of them exact: sites of this share of the kernel's variance. */
#define EXACT_SITE 1e-12
/* A noise bound read as a 99 % quantile. */
#define BOUND_IN_SDS 2.58

static bool two_sided(const hf_envelope *envelope, size_t i)
{
    return isfinite(envelope->lower[HF_UPPER][i]) && isfinite(envelope->upper[HF_UPPER][i]);
}

/* place[i]: where reading i of the envelope went; those with both limits come first. Their number. */
static size_t sort_readings(const hf_envelope *envelope, size_t *place)
{
    size_t n = 0, rest;
    for (size_t i = 0; i < envelope->n; i++) n += two_sided(envelope, i);
    rest = n;
    for (size_t i = 0, first = 0; i < envelope->n; i++) place[i] = two_sided(envelope, i) ? first++ : rest++;
    return n;
}

/* Inputs, midpoints, half widths rounded up, K with the envelope's jitter. */
static void gather(const hf_envelope *envelope, const size_t *place, hf_closed_envelope *closed)
{
    const size_t n = closed->n, d = closed->d;
    for (size_t i = 0; i < envelope->n; i++) {
        const size_t at = place[i];
        memcpy(closed->x + at * d, envelope->x + i * d, d * sizeof *closed->x);
        if (at >= n) continue;
        const double lower = envelope->lower[HF_UPPER][i], upper = envelope->upper[HF_UPPER][i];
        closed->target[at] = 0.5 * lower + 0.5 * upper;
        const double half = fmax(upper - closed->target[at], closed->target[at] - lower);
        closed->noise[at] = half * (1.0 + 2.0 * DBL_EPSILON);
        for (size_t j = 0; j < envelope->n; j++)
            if (place[j] < n) closed->matrix[place[j] + at * n] = envelope->k[j + i * envelope->ldk];
        closed->matrix[at * (n + 1)] += envelope->jitter;
    }
}

/* ---- the methods ----------------------------------------------------------------------------- */

/* Kernel ridge regression: weight = (K + n lambda I)^-1 target. `work` n. */
static hf_status ridge(hf_context *ctx, hf_closed_envelope *closed, double lambda, double *work)
{
    const size_t n = closed->n;
    for (size_t i = 0; i < n; i++) work[i] = (double)n * lambda;
    const hf_status status = hfi_closed_factor(ctx, closed, work, false, NULL);
    if (status < 0 || n == 0) return status;
    memcpy(closed->weight, closed->target, n * sizeof *closed->weight);
    hfi_chol_solve(n, closed->factor, n, closed->weight);
    return status;
}

/* Proposition 3: F = f, F0 the smoothest function, as far as it is made of readings with both limits. */
static hf_status proposition(hf_context *ctx, const hf_envelope *envelope, const size_t *place,
                             hf_closed_envelope *closed, double *work)
{
    const hf_status status = hfi_closed_factor(ctx, closed, NULL, false, NULL);
    if (status < 0) return status;
    for (size_t a = 0; a < envelope->smooth_count; a++) {
        const size_t at = place[envelope->smooth_index[a]];
        if (at < closed->n) closed->dual[at] = -envelope->smooth_nu[a];
    }
    hfi_closed_direction(closed, work);
    closed->whole = envelope->norm;
    closed->along = fmin(closed->along, closed->whole);
    return status;
}

/* s_i of d_i = site s_i^2. */
static void site_scales(const hf_closed_envelope *closed, double norm, double *s)
{
    double most = 0.0;
    for (size_t i = 0; i < closed->n; i++) most = fmax(most, closed->noise[i]);
    const double exact = sqrt(EXACT_SITE * hfi_jitter_scale(closed->kernel, closed->n, closed->x, closed->d));
    for (size_t i = 0; i < closed->n; i++)
        s[i] = most > 0.0 ? fmax(closed->noise[i], EXACT_SHARE * most) / norm : exact;
}

/* F = (f, (target - f(x_i)) / sqrt d_i), F0 the posterior mean's: its dual are the posterior's weights. `work` n. */
static hf_status ellipsoid(hf_context *ctx, double norm, double site, hf_closed_envelope *closed,
                           double *work)
{
    const size_t n = closed->n;
    double jitter = 0.0, whole = norm * norm;
    hf_status status = HF_OK;
    site_scales(closed, norm, work);
    if (site == 0.0) status = hfi_closed_choose_site(ctx, closed, work, norm, &site);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) work[i] = site * work[i] * work[i];
    status = hfi_closed_factor(ctx, closed, work, true, &jitter);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) {
        whole += closed->noise[i] * closed->noise[i] / (work[i] + jitter);
        closed->noise[i] = 0.0; /* it is in the radius now */
    }
    memcpy(closed->dual, closed->target, n * sizeof *closed->dual);
    if (n > 0) hfi_chol_solve(n, closed->factor, n, closed->dual);
    memcpy(closed->weight, closed->dual, n * sizeof *closed->weight);
    hfi_closed_direction(closed, work);
    closed->whole = sqrt(whole) * (1.0 + (double)n * DBL_EPSILON);
    closed->along = fmin(closed->along, closed->whole);
    return status;
}

static hf_status confidence(hf_context *ctx, double norm, const hf_closed_settings *settings,
                            hf_closed_envelope *closed, double *work)
{
    const size_t n = closed->n;
    double s = settings->noise_sd, jitter = 0.0, most = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, closed->noise[i]);
    if (s == 0.0) s = most / BOUND_IN_SDS;
    if (!(s > 0.0) && n > 0)
        return hfi_refuse(ctx, "the GP bound needs a noise standard deviation: the readings are exact");
    for (size_t i = 0; i < n; i++) {
        work[i] = s * s;
        closed->noise[i] = 0.0;
    }
    const hf_status status = hfi_closed_factor(ctx, closed, work, true, &jitter);
    if (status < 0) return status;
    memcpy(closed->weight, closed->target, n * sizeof *closed->weight);
    if (n > 0) hfi_chol_solve(n, closed->factor, n, closed->weight);
    const double variance = s * s + jitter;
    const double gain =
        n > 0 ? 0.5 * (hfi_chol_logdet(n, closed->factor, n) - (double)n * log(variance)) : 0.0;
    closed->whole = norm + 4.0 * sqrt(variance) * sqrt(gain + 1.0 - log(settings->probability));
    return status;
}

/* ---- creating -------------------------------------------------------------------------------- */

typedef struct request {
    hf_closed_method method;
    const hf_closed_settings *settings;
    const double *alpha; /* of the model, in the envelope's order; NULL: the method's own */
} request;

/* The coefficients of the centre that Proposition 3 is about. */
static hf_status set_model(hf_context *ctx, const hf_envelope *envelope, const request *r,
                           const size_t *place, hf_closed_envelope *closed, double *work)
{
    if (r->alpha) {
        for (size_t i = 0; i < envelope->n; i++) closed->weight[place[i]] = r->alpha[i];
        return HF_OK;
    }
    if (r->method == HF_CLOSED_RIDGE) return ridge(ctx, closed, r->settings->ridge, work);
    for (size_t a = 0; a < envelope->smooth_count; a++)
        closed->weight[place[envelope->smooth_index[a]]] = -envelope->smooth_nu[a];
    return HF_OK;
}

static hf_status compute(hf_context *ctx, const hf_envelope *envelope, const request *r, const size_t *place,
                         hf_closed_envelope *closed, double *work)
{
    if (!hfi_progress(ctx, "closed envelope", 0.0, NAN)) return hfi_cancelled(ctx);
    if (r->method == HF_CLOSED_ELLIPSOID)
        return ellipsoid(ctx, envelope->norm, r->settings->site, closed, work);
    if (r->method == HF_CLOSED_GP) return confidence(ctx, envelope->norm, r->settings, closed, work);
    const hf_status status = set_model(ctx, envelope, r, place, closed, work);
    if (status < 0) return status;
    if (!hfi_progress(ctx, "closed envelope", 0.5, NAN)) return hfi_cancelled(ctx);
    return hfi_worse(proposition(ctx, envelope, place, closed, work), status);
}

static hf_status create(hf_context *ctx, const hf_envelope *envelope, const request *r,
                        hf_closed_envelope **out)
{
    hf_closed_envelope *closed = NULL;
    size_t *place = hfi_alloc(ctx, envelope->n, sizeof *place);
    double *work = place ? hfi_alloc(ctx, envelope->n, sizeof *work) : NULL;
    hf_status status = work ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        const size_t n = sort_readings(envelope, place);
        status = hfi_closed_allocate(ctx, envelope->kernel, n, envelope->n, &closed);
    }
    if (status >= 0) {
        gather(envelope, place, closed);
        closed->scaling.y_shift = envelope->offset;
        closed->slack = 2.0 * DBL_EPSILON * fabs(envelope->offset);
        status = compute(ctx, envelope, r, place, closed, work);
    }
    HFI_FREE(ctx, work, place);
    if (status >= 0)
        *out = closed;
    else
        hf_closed_envelope_free(closed);
    return status;
}

hf_status hf_closed_envelope_create(hf_context *ctx, const hf_envelope *envelope, hf_closed_method method,
                                    const hf_closed_settings *settings, hf_closed_envelope **out)
{
    hf_closed_settings own;
    const request r = {.method = method, .settings = &own};
    if (!ctx || !envelope || !out)
        return hfi_refuse(ctx, "a closed envelope needs a context, an envelope and a place for the result");
    if (method != HF_CLOSED_RIDGE && method != HF_CLOSED_MINIMUM_NORM && method != HF_CLOSED_ELLIPSOID &&
        method != HF_CLOSED_GP)
        return hfi_refuse(ctx, "there is no closed form %d", (int)method);
    const hf_status status = hfi_settings_open(ctx, hf_closed_settings_table(), settings, &own);
    return status < 0 ? status : create(ctx, envelope, &r, out);
}

hf_status hf_closed_envelope_model(hf_context *ctx, const hf_envelope *envelope, const double *alpha,
                                   hf_closed_envelope **out)
{
    const request r = {.method = HF_CLOSED_RIDGE, .alpha = alpha};
    if (!ctx || !envelope || !alpha || !out)
        return hfi_refuse(
            ctx, "a closed envelope needs a context, an envelope, coefficients and a place for the result");
    for (size_t i = 0; i < envelope->n; i++)
        if (!isfinite(alpha[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "coefficient %zu (counted from 0) is %g", i, alpha[i]);
    return create(ctx, envelope, &r, out);
}
