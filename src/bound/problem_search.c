/* SPDX-License-Identifier: Apache-2.0 */
/* Searches of problems whose boxes are bounded and points looked at with scratch of doubles. */
#include "bound/problem.h"

#include <math.h>
#include <string.h>

double hfi_problem_look(void *of, double sign, bool descend, const double *point, double *user)
{
    hfi_certify_problem *q = of;
    const size_t m = q->subject.free_count;
    double found = (double)NAN, *place = q->room + 3 * m;
    memcpy(place, point, m * sizeof *point);
    if (descend) hfi_descend(q, sign, place, &found, user, place + m);
    if (!descend || q->functions->approximates) found = sign * q->functions->value(q, place, user, NULL);
    return found;
}

hf_status hfi_problem_begin(hfi_certify_problem *q, size_t threads, const hfi_branch_functions *functions,
                            hfi_branch_problem *out)
{
    const hfi_subject *whole = &q->subject;
    const size_t m = whole->free_count;
    size_t all;
    q->scratch = (q->scratch + 7) / 8 * 8;
    q->room_scratch = (8 * m + 7) / 8 * 8;
    if (!hfi_size_mul(threads, q->scratch, &all)) return HF_ERR_MEMORY;
    q->room = hfi_memory_alloc(&q->memory, all + q->room_scratch, sizeof *q->room);
    if (!q->room) return HF_ERR_MEMORY;
    for (size_t f = 0; f < m; f++) {
        q->room[f] = whole->lower[whole->free[f]];
        q->room[m + f] = whole->upper[whole->free[f]];
        q->room[2 * m + f] = whole->middle[whole->free[f]];
    }
    *out = (hfi_branch_problem){.functions = functions,
                                .of = q,
                                .sides = m,
                                .inputs = q->inputs,
                                .lower = q->room,
                                .upper = q->room + m,
                                .middle = q->room + 2 * m,
                                .memory = q->memory,
                                .costly = q->quantity->sd};
    return HF_OK;
}

void hfi_problem_end(hfi_certify_problem *q)
{
    hfi_memory_free(&q->memory, q->room);
    q->room = NULL;
}
