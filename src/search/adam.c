/* SPDX-License-Identifier: Apache-2.0 */
/* Adam on the full objective, for results that were published with it. */
#include "search/maximise.h"
#include <math.h>
#include <string.h>

static const double decay_mean = 0.9, decay_square = 0.999, epsilon = 1e-8;

enum {
    HALVINGS = 20
};

void hfi_adam_entry(double gradient, size_t count, double *first, double *second, double *up, double *down)
{
    *first = decay_mean * *first + (1.0 - decay_mean) * gradient;
    *second = decay_square * *second + (1.0 - decay_square) * gradient * gradient;
    *up = *first / (1.0 - pow(decay_mean, (double)count));
    *down = sqrt(*second / (1.0 - pow(decay_square, (double)count))) + epsilon;
}

/* The trial at `rate` from the point. */
static void step_adam_trial(const hfi_search_run *r, const double *move, double rate, double *trial)
{
    for (size_t k = 0; k < r->count; k++)
        trial[k] = fmin(fmax(r->point[k] + rate * move[k], r->lower[k]), r->upper[k]);
}

/* `work`: five points. */
static hf_status climb_by_adam(hfi_search_run *r, double *work)
{
    const size_t m = r->count;
    double *trial = work, *gradient = work + m, *first = work + 2 * m, *second = work + 3 * m,
           *move = work + 4 * m, rate = r->settings->rate, total = 0.0;
    hf_status s = hfi_search_look(r, r->point, &total, gradient);
    for (size_t count = 1; s >= 0 && count <= r->settings->most; count++) {
        for (size_t k = 0; k < m; k++) {
            double up, down;
            hfi_adam_entry(gradient[k], count, &first[k], &second[k], &up, &down);
            move[k] = up / down;
        }
        step_adam_trial(r, move, rate, trial);
        s = hfi_search_look(r, trial, &total, gradient);
        for (int halvings = 0; s == HF_ERR_NOT_POSITIVE_DEFINITE && halvings < HALVINGS; halvings++) {
            rate *= 0.5;
            step_adam_trial(r, move, rate, trial);
            s = hfi_search_look(r, trial, &total, gradient);
        }
        if (s >= 0) memcpy(r->point, trial, m * sizeof *trial);
    }
    return s;
}

hf_status hfi_by_adam(hfi_search_run *r)
{
    double *work = hfi_alloc(r->ctx, r->count, 5 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    const hf_status s = climb_by_adam(r, work);
    r->here.stop = HF_STOP_ITERATIONS;
    hfi_search_take_last(r);
    hfi_free(r->ctx, work);
    return s;
}
