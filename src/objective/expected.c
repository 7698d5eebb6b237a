/* SPDX-License-Identifier: Apache-2.0 */
/* Expected log densities of readings and sites under a Gaussian q; formulas in train.h. */
#include "objective/evaluator.h"
#include <math.h>

/* One reading's term and its derivatives. */
typedef struct term {
    double value, mu, v, z, d, s;
} term;

static term site_term(const hf_sites *sites, size_t j, double mu, double v)
{
    const double d = sites->variance[j], error = sites->target[j] - mu;
    const double ratio = (error * error + v) / d;
    return (term){.value = -HFI_HALF_LOG_2PI - 0.5 * log(d) - 0.5 * ratio,
                  .mu = error / d,
                  .v = -0.5 / d,
                  .z = -error / d,
                  .d = 0.5 * (ratio - 1.0) / d};
}

static term weighted_term(const hf_sites *sites, size_t j, double mu, double v)
{
    const double s = hfi_sites_noise(sites, j), rho = sites->weight[j], error = sites->y[j] - mu;
    const double ratio = (error * error + v) / s;
    return (term){.value = rho * (-HFI_HALF_LOG_2PI - 0.5 * log(s) - 0.5 * ratio),
                  .mu = rho * error / s,
                  .v = -0.5 * rho / s,
                  .s = 0.5 * rho * (ratio - 1.0) / s};
}

/* dw^2/dy = -w^2 shift. */
static term rcagp_term(const hf_sites *sites, size_t j, double mu, double v)
{
    const double s = hfi_sites_noise(sites, j), error = sites->y[j] - mu;
    const double beta = sites->beta[j], w2 = sites->weight[j] * (beta > 0.0 ? beta * beta : 0.5 * s);
    const double square = error * error + v, bracket = 1.0 - sites->shift[j] * error;
    const double by_s = 2.0 * w2 / (s * s) * (square / s - bracket);
    /* With the usual amplitude w^2 grows with s too: w^2 = rho s / 2. */
    const double by_w2 = beta > 0.0 ? 0.0 : (-square / (s * s) + 2.0 * bracket / s) * w2 / s;
    return (term){.value = -w2 / (s * s) * square + 2.0 * w2 / s * bracket,
                  .mu = 2.0 * w2 / (s * s) * error + 2.0 * w2 / s * sites->shift[j],
                  .v = -w2 / (s * s),
                  .s = by_s + by_w2};
}

double hfi_expected_terms(hf_objective objective, const hf_sites *sites, const double *mu, const double *v,
                          hfi_expected *bar)
{
    double sum = 0.0;
    for (size_t j = 0; j < sites->n; j++) {
        term t = {0};
        if (sites->weight[j] > 0.0)
            t = objective == HF_OBJECTIVE_WEIGHTED ? weighted_term(sites, j, mu[j], v[j])
                : objective == HF_OBJECTIVE_RCAGP  ? rcagp_term(sites, j, mu[j], v[j])
                                                   : site_term(sites, j, mu[j], v[j]);
        sum += t.value;
        if (!bar) continue;
        bar->mu[j] = t.mu;
        bar->v[j] = t.v;
        bar->z[j] = t.z;
        bar->d[j] = t.d;
        bar->s[j] = t.s;
    }
    return sum;
}

void hfi_noise_adjoint(const hf_sites *sites, const double *z_bar, const double *d_bar, const double *s_bar,
                       double *gradient)
{
    for (size_t j = 0; j < sites->n; j++) {
        if (!(sites->weight[j] > 0.0)) continue;
        double sum = 0.0;
        if (z_bar) sum += z_bar[j] * sites->shift[j];
        if (d_bar) sum += d_bar[j] * hfi_sites_variance_slope(sites, j);
        if (s_bar) sum += s_bar[j];
        const size_t c = hfi_sites_channel(sites, j);
        gradient[c] += sum * hf_sites_channel_noise(sites, c);
    }
}
