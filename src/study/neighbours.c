/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that their neighbours contradict. */
#include "study/study.h"

#include <math.h>
#include <string.h>

enum {
    NEAREST = 8,
    ENOUGH = 5,
    FEWEST = 10 /* readings below which nobody has neighbours to speak of */
};

/* Neighbours are at most this share of the cube's diagonal away, as in a niche. */
static const double near = 0.1;
/* So many deviations from the neighbours' median contradict it; a deviation is at least this share of the range. */
static const double far_off = 6.0, least_share = 0.01;

/* The nearest others of reading i: their values, nearest first. */
static size_t nearest(const hf_study *study, const hfi_surrogate *s, size_t i, double value[NEAREST])
{
    double distance[NEAREST];
    size_t count = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (k == i || s->label[k] == HF_EXPERT_DOUBTED) continue;
        const double at = hfi_study_distance(study, s->x + i * study->d, s->x + k * study->d);
        if (at > near) continue;
        if (count == NEAREST && !(at < distance[count - 1])) continue;
        size_t place = count < NEAREST ? count++ : count - 1;
        for (; place > 0 && distance[place - 1] > at; place--) {
            distance[place] = distance[place - 1];
            value[place] = value[place - 1];
        }
        distance[place] = at;
        value[place] = s->y[k];
    }
    return count;
}

bool hfi_surrogate_contradicted(const hf_study *study, const hfi_surrogate *s, double range, bool *out)
{
    bool any = false;
    memset(out, 0, s->n * sizeof *out);
    for (size_t i = 0; i < s->n && s->n >= FEWEST; i++) {
        double value[NEAREST], scratch[NEAREST];
        const size_t count = nearest(study, s, i, value);
        if (count < ENOUGH) continue;
        const double spread = hfi_mad(value, count, scratch), median = hfi_median(value, count);
        const double off = fabs(s->y[i] - median);
        out[i] = s->label[i] == HF_EXPERT_UNKNOWN && off > far_off * fmax(spread, least_share * range);
        any = any || out[i];
    }
    return any;
}
