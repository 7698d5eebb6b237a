/* SPDX-License-Identifier: Apache-2.0 */
/* How the objective depends on one reading's own variance, in closed form: what the others say about the
 * reading is a normal distribution, and rho adds to its variance. */
#include "outliers/pursuit_impl.h"

#include <math.h>

double hfi_pursuit_gain(const hfi_outlook *o, double rho)
{
    const double wider = o->variance + rho, share = rho / wider;
    double gain = 0.5 * (o->error / o->variance * o->error * share - log1p(rho / o->variance));
    if (o->unresolved > 0.0) gain += 0.5 * o->unresolved / o->noise * (rho / (o->noise + rho));
    return gain;
}

double hfi_pursuit_slope(const hfi_outlook *o, double rho)
{
    const double wider = o->variance + rho, far = o->error / wider, noise = o->noise + rho;
    const double slope = 0.5 * (far * far - 1.0 / wider);
    return o->unresolved > 0.0 ? slope + 0.5 * o->unresolved / noise / noise : slope;
}

double hfi_pursuit_best(const hfi_outlook *o)
{
    const double plain = fmax(o->error * o->error - o->variance, 0.0);
    if (!(o->unresolved > 0.0)) return plain;
    if (!(hfi_pursuit_slope(o, 0.0) > 0.0)) return 0.0;
    /* (variance + rho)^2 slope falls in rho, and the unresolved part of it, from unresolved (variance / noise)^2 on. */
    const double ratio = o->variance / o->noise;
    double low = plain, high = fmax(o->error * o->error - o->variance, 0.0) + o->unresolved * ratio * ratio;
    for (int step = 0; step < 100 && high - low > 1e-12 * high; step++) {
        const double middle = low > 0.0 && high > 4.0 * low ? sqrt(low * high) : 0.5 * (low + high);
        if (hfi_pursuit_slope(o, middle) > 0.0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

hf_status hfi_pursuit_look(hfi_pursuit *p)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    return e->kind->outlook(e, p->known, p->outlook);
}
