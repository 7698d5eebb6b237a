/* SPDX-License-Identifier: Apache-2.0 */
/* Surveys: places whose answers together leave the least variance on average over all of them. */
#include "track/track.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Rounds of exchanges at most; by how much of itself a gain must be larger to be worth one; and what of the noise
 * must be left where an answer is taken back. */
#define ROUNDS 2
#define GAIN   1e-6
#define LEFT   1e-6

typedef struct place_survey {
    size_t n;
    double *c; /* n x n: covariance given the list */
    double noise;
    double *column; /* n */
} place_survey;

/* C := C - scale c_p c_p' */
static void change(place_survey *s, size_t p, double scale)
{
    memcpy(s->column, s->c + p * s->n, s->n * sizeof *s->column);
    for (size_t j = 0; j < s->n; j++) hfi_axpy(s->n, -scale * s->column[j], s->column, s->c + j * s->n);
}

static double variance(const place_survey *s, size_t p)
{
    return s->c[p * (s->n + 1)];
}

static void add_surveyed_place(place_survey *s, size_t p)
{
    change(s, p, 1.0 / (variance(s, p) + s->noise));
}

/* The part that an answer at p takes off the sum of all variances. */
static double gain(const place_survey *s, size_t p)
{
    const double *c = s->c + p * s->n;
    return hfi_dot(s->n, c, c) / (variance(s, p) + s->noise);
}

/* The place that gains most; the first of equals. */
static size_t best(const place_survey *s, double *most)
{
    size_t found = 0;
    *most = -INFINITY;
    for (size_t p = 0; p < s->n; p++) {
        const double here = gain(s, p);
        if (here <= *most) continue;
        *most = here;
        found = p;
    }
    return found;
}

static double find_largest_variance(const place_survey *s)
{
    double most = 0.0;
    for (size_t p = 0; p < s->n; p++) most = fmax(most, variance(s, p));
    return most;
}

static hf_status exchange(hf_context *ctx, place_survey *s, size_t count, size_t *place)
{
    bool moved = count > 1;
    for (unsigned round = 0; round < ROUNDS && moved; round++) {
        moved = false;
        for (size_t k = 0; k < count; k++) {
            const size_t old = place[k];
            const double left = s->noise - variance(s, old);
            if (!hfi_progress(ctx, "survey", (double)(round * count + k) / (double)(ROUNDS * count), NAN))
                return hfi_cancelled(ctx);
            if (!(left > LEFT * s->noise)) continue;
            change(s, old, -1.0 / left);
            double most;
            const size_t found = best(s, &most);
            if (most > (1.0 + GAIN) * gain(s, old)) {
                place[k] = found;
                moved = true;
            }
            add_surveyed_place(s, place[k]);
        }
    }
    return HF_OK;
}

hf_status hfi_survey_choose(hf_context *ctx, size_t n, double *covariance, double noise, double enough,
                            size_t most, size_t *place, size_t *chosen)
{
    place_survey s = {.n = n, .c = covariance, .noise = noise};
    s.column = hfi_alloc(ctx, n, sizeof *s.column);
    if (s.column == NULL) return HF_ERR_MEMORY;
    size_t count = 0;
    for (; count < most && find_largest_variance(&s) > enough; count++) {
        double unused;
        place[count] = best(&s, &unused);
        add_surveyed_place(&s, place[count]);
    }
    const hf_status status = exchange(ctx, &s, count, place);
    hfi_free(ctx, s.column);
    if (status >= 0) *chosen = count;
    return status;
}
