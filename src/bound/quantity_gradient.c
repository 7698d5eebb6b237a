/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a quantity from those of the moments that it is of. */
#include "bound/quantity.h"

void hfi_quantity_gradient(const hfi_quantity *q, double beta, size_t d, double mean, double sd,
                           double stretch, const double *of_mean, const double *of_var, double *slope)
{
    double by_mean, by_sd;
    q->slopes(q, beta, mean, sd, &by_mean, &by_sd);
    const double by_var = q->sd && sd > 0.0 ? 0.5 * stretch * by_sd / sd : 0.0;
    for (size_t j = 0; j < d; j++)
        slope[j] = (q->mean ? by_mean * of_mean[j] : 0.0) + (by_var != 0.0 ? by_var * of_var[j] : 0.0);
}
