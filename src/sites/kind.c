/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds of sites. */
#include "sites/kind.h"
#include <holdfast/sites.h>
#include <math.h>

static const hfi_sites_kind none = {.usual = HF_INFERENCE_EP};

#define ROW(id, symbol, name, help) [HF_LIKELIHOOD_##id] = {.likelihood = &hfi_likelihood_##symbol},
static const hfi_sites_kind kinds[] = {
    [HF_LIKELIHOOD_GAUSSIAN] = {.plain = true, .direct = true, .usual = HF_INFERENCE_EP},
    [HF_LIKELIHOOD_ROBUST] = {.weighed = true, .direct = true, .usual = HF_INFERENCE_EP},
    [HF_LIKELIHOOD_PURSUIT] = {.usual = HF_INFERENCE_EP},
    [HF_LIKELIHOOD_SOFTMAX] = {.every_class = true, .usual = HF_INFERENCE_CORRECTED},
    HF_LIKELIHOOD_LIST(ROW)};
#undef ROW

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

const hfi_sites_kind *hfi_sites_kind_of(hf_likelihood sites)
{
    return (size_t)sites < KINDS ? &kinds[sites] : &none;
}

double hfi_sites_observed_noise(const hfi_sites_kind *kind, double noise, double shape, double threshold)
{
    if (kind->likelihood && kind->likelihood->observed) return kind->likelihood->observed(noise, shape);
    return kind->weighed && isfinite(threshold) ? hf_robust_consistent_noise(noise, threshold) : noise;
}
