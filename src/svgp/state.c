/* SPDX-License-Identifier: Apache-2.0 */
/* States: everything that training moves, as numbers. */
#include "svgp/impl.h"

#include <math.h>
#include <string.h>

void hfi_svgp_get_state(const hfi_svgp_run *run, double *state)
{
    const hfi_svgp *q = run->q;
    const size_t kernel_count = hf_kernel_parameters(q->kernel), noise = run->space->noise;
    hfi_kernel_theta(q->kernel, state);
    memcpy(state + kernel_count, hf_mean_values(q->mean), hf_mean_coefficients(q->mean) * sizeof *state);
    state[noise] = log(q->noise.noise);
    if (run->space->count > noise + 1) memcpy(state + noise + 1, q->z, q->m * q->d * sizeof *state);
    state[run->space->count] = log(q->noise.student.nu - 1.0);
}

hf_status hfi_svgp_set_state(const hfi_svgp_run *run, const double *state)
{
    hfi_svgp *q = run->q;
    const size_t kernel_count = hf_kernel_parameters(q->kernel), noise = run->space->noise;
    hfi_kernel_set_theta(q->kernel, state);
    const hf_status s = hf_mean_set(q->ctx, q->mean, state + kernel_count, hf_mean_held(q->mean));
    if (s < 0) return s;
    q->noise.noise = exp(state[noise]);
    if (run->space->count > noise + 1) memcpy(q->z, state + noise + 1, q->m * q->d * sizeof *state);
    if (run->train_nu) q->noise.student = hfi_student_make(1.0 + exp(state[run->space->count]));
    return hfi_svgp_prior(q);
}
