/* SPDX-License-Identifier: Apache-2.0 */
/* Questions as ground that is searched: bounds up to a rounding allowance, values that are predictions. */
#include "certify/classes.h"
#include "certify/search.h"

#include <math.h>
#include <string.h>

typedef struct plain {
    hfi_question *question;
    double *sides;   /* 3 m: lower, upper, middle of the whole box */
    double *scratch; /* of bounds, one for each thread */
    size_t one;
    double *point; /* m, and 4 m to descend */
} plain;

static void bounds(void *of, int thread, double sign, double enough, size_t count, const double *low,
                   const double *high, hfi_box_bound *out)
{
    const plain *p = of;
    hfi_question_bounds(p->question, sign, enough, count, low, high, out,
                        p->scratch + (size_t)thread * p->one);
}

/* For several classes, steps may use a cheaper approximation of the value. */
static double look(void *of, double sign, bool descend, const double *point, double *user)
{
    plain *p = of;
    hfi_question *q = p->question;
    const size_t m = q->subject.free_count;
    double value = (double)NAN;
    memcpy(p->point, point, m * sizeof *point);
    if (descend) hfi_descend(q, sign, p->point, &value, user, p->point + m);
    if (!descend || q->classes) value = sign * hfi_question_value(q, p->point, user, NULL);
    return value;
}

static const hfi_ground_kind kind = {bounds, look};

hf_status hfi_question_ground(hfi_question *q, size_t threads, hfi_ground *out)
{
    const hfi_subject *whole = &q->subject;
    const size_t m = whole->free_count;
    plain *p = hfi_memory_alloc(&q->memory, 1, sizeof *p);
    *out = (hfi_ground){.kind = &kind,
                        .of = p,
                        .sides = m,
                        .inputs = q->inputs,
                        .memory = q->memory,
                        .costly = q->what != HF_CERTIFY_MEAN};
    if (!p) return HF_ERR_MEMORY;
    p->question = q;
    p->one = (q->scratch + 7) / 8 * 8;
    p->sides = hfi_memory_alloc(&q->memory, 3 * m, sizeof *p->sides);
    p->point = hfi_memory_alloc(&q->memory, 5 * m, sizeof *p->point);
    p->scratch = hfi_memory_alloc(&q->memory, threads, p->one * sizeof *p->scratch);
    if (!p->sides || !p->point || !p->scratch) {
        hfi_question_ground_free(out);
        return HF_ERR_MEMORY;
    }
    for (size_t f = 0; f < m; f++) {
        p->sides[f] = whole->lower[whole->free[f]];
        p->sides[m + f] = whole->upper[whole->free[f]];
        p->sides[2 * m + f] = whole->middle[whole->free[f]];
    }
    out->lower = p->sides;
    out->upper = p->sides + m;
    out->middle = p->sides + 2 * m;
    return HF_OK;
}

void hfi_question_ground_free(hfi_ground *ground)
{
    plain *p = ground->of;
    if (!p) return;
    hfi_memory_free(&ground->memory, p->sides);
    hfi_memory_free(&ground->memory, p->point);
    hfi_memory_free(&ground->memory, p->scratch);
    hfi_memory_free(&ground->memory, p);
    ground->of = NULL;
}
