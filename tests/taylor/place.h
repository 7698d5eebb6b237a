/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file place.h
 * @brief A box inside the box of a certificate, with what bounds values in it.
 */
#ifndef HF_TESTS_TAYLOR_PLACE_H
#define HF_TESTS_TAYLOR_PLACE_H

#include "bound/box_testing.h"

#include "taylor/taylor.h"

/* In the solver's units. */
typedef struct place {
    double low[INPUTS], high[INPUTS], middle[INPUTS], extent[INPUTS], centre[INPUTS], half[INPUTS];
    size_t free_inputs[INPUTS];
    hfi_subject subject;
    hfi_taylor *taylor;
    double *scratch;
} place;

/* `scratch` says how many doubles the bounds need, and asserts that they can be had. */
static inline void begin_place(const cert *c, double share, hfi_stream *stream,
                               size_t (*scratch)(const hfi_taylor *taylor), place *p)
{
    const hfi_scaling *s = &c->posterior->scaling;
    for (size_t j = 0; j < INPUTS; j++) {
        p->low[j] = (c->lower[j] - s->x_shift[j]) / s->x_scale[j];
        p->high[j] = (c->upper[j] - s->x_shift[j]) / s->x_scale[j];
        p->middle[j] = 0.5 * (p->low[j] + p->high[j]);
        p->extent[j] = 0.5 * (p->high[j] - p->low[j]) * (1.0 + 1e-12);
        p->half[j] = share * p->extent[j];
        p->centre[j] =
            p->middle[j] + (p->extent[j] - p->half[j]) * (2.0 * hfi_stream_uniform(stream) - 1.0);
        p->free_inputs[j] = j;
    }
    p->subject = (hfi_subject){c->posterior, INPUTS,         p->low,    p->high,
                               INPUTS,       p->free_inputs, p->middle, p->extent};
    assert_int_equal(hfi_taylor_create(c->ctx, &p->subject, &p->taylor), HF_OK);
    p->scratch = make_zeros(scratch(p->taylor));
}

static inline void end_place(place *p)
{
    free(p->scratch);
    hfi_taylor_free(p->taylor);
}

#endif
