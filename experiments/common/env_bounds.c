/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_bounds.h"
#include "common/room.h"

#include <stdlib.h>

hf_envelope *env_problem_envelope(hf_context *ctx, const env_problem *p, const char *what)
{
    hf_kernel *kernel = NULL;
    hf_envelope *envelope = NULL;
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.jitter = p->jitter;
    hf_status status = hf_kernel_parse(ctx, p->kernel, NULL, p->readings.ldx, &kernel);
    if (status >= 0) status = hf_envelope_create(ctx, kernel, &p->readings, p->norm, &settings, &envelope);
    if (status < 0) fprintf(stderr, "%s: %s: %s\n", what, hf_status_name(status), hf_context_message(ctx));
    hf_kernel_free(kernel);
    return envelope;
}

env_bounds env_bounds_create(size_t m)
{
    env_bounds b = {.m = m, .lower = room(2 * m, sizeof *b.lower)};
    b.upper = b.lower + m;
    return b;
}

void env_bounds_free(env_bounds *b)
{
    free(b->lower);
    *b = (env_bounds){0};
}

bool env_optimal(hf_context *ctx, const hf_envelope *envelope, size_t m, const double *x, env_bounds *out)
{
    hf_bound *bounds = malloc((m + 1) * sizeof *bounds);
    const hf_status status =
        bounds ? hf_envelope_bounds_batch(ctx, envelope, m, x, hf_envelope_dimension(envelope), NULL, bounds)
               : HF_ERR_MEMORY;
    if (status < 0) fprintf(stderr, "optimal: %s: %s\n", hf_status_name(status), hf_context_message(ctx));
    for (size_t i = 0; status >= 0 && i < m; ++i) {
        out->lower[i] = bounds[i].lower;
        out->upper[i] = bounds[i].upper;
    }
    free(bounds);
    return status >= 0;
}

bool env_closed(hf_context *ctx, const hf_envelope *envelope, hf_closed_method method,
                const hf_closed_settings *settings, size_t m, const double *x, env_bounds *out)
{
    hf_closed_envelope *closed = NULL;
    hf_status status = hf_closed_envelope_create(ctx, envelope, method, settings, &closed);
    if (status >= 0)
        status = hf_closed_envelope_bounds(ctx, closed, m, x, hf_envelope_dimension(envelope), out->lower,
                                           out->upper, NULL);
    if (status < 0)
        fprintf(stderr, "closed form: %s: %s\n", hf_status_name(status), hf_context_message(ctx));
    else
        out->radius = hf_closed_envelope_radius(closed);
    hf_closed_envelope_free(closed);
    return status >= 0;
}

double env_mean_width(const env_bounds *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < b->m; ++i) sum += b->upper[i] - b->lower[i];
    return sum / (double)b->m;
}

size_t env_outside(const env_bounds *inner, const env_bounds *outer, double slack)
{
    size_t count = 0;
    for (size_t i = 0; i < inner->m; ++i)
        count += inner->lower[i] < outer->lower[i] - slack || inner->upper[i] > outer->upper[i] + slack;
    return count;
}
