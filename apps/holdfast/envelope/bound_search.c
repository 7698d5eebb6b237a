/* SPDX-License-Identifier: Apache-2.0 */
/* --cv: the parameters that shape the kernel, by leaving readings out. */
#include "envelope/bounded.h"

hf_status bounded_search(bounded *run)
{
    const hf_bounded_readings readings = bounded_readings(run);
    hf_kernel_search found;
    hf_status status = hf_envelope_kernel_search(run->session.ctx, run->kernel, &readings, &found);
    if (status >= 0)
        note(&run->session, "cross-validation: %zu parameters, %zu evaluations, root mean square error %.4g",
             found.parameters, found.evaluations, found.error);
    return status;
}
