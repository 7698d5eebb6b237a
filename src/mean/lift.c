/* SPDX-License-Identifier: Apache-2.0 */
/* An expert's mean as part of a prior mean: hf_expert_mean() without a context, and its gradient. */
#include "mean/expert.h"
#include "mean/mean_impl.h"

#include "kernel/kernel.h"
#include <math.h>
#include <string.h>

struct hfi_lift {
    hfi_memory memory;
    size_t d, count;    /* inputs; labelled readings */
    hf_kernel *kernel;  /* of the mean's inputs; NULL: l = 1 */
    bool published;     /* weights l / count, else l / max(1, sum l) */
    double base;        /* B */
    double *z;          /* count x d */
    double *self;       /* count: sqrt(k(z, z)) */
    double *correction; /* count: E[t_i] - B */
};

static hf_status create_lift(hf_context *ctx, size_t d, size_t count, const hf_kernel *kernel, hfi_lift **out)
{
    hfi_lift *lift = hfi_alloc(ctx, 1, sizeof *lift);
    if (lift == NULL) return HF_ERR_MEMORY;
    *lift = (hfi_lift){.memory = hfi_context_memory(ctx), .d = d, .count = count};
    lift->z = hfi_alloc(ctx, count + 1, (d + 2) * sizeof *lift->z);
    hf_status s = lift->z != NULL ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0 && kernel != NULL) s = hf_kernel_copy(ctx, kernel, &lift->kernel);
    if (s < 0) {
        hfi_lift_free(lift);
        return s;
    }
    lift->self = lift->z + count * d;
    lift->correction = lift->self + count;
    *out = lift;
    return HF_OK;
}

void hfi_lift_free(hfi_lift *lift)
{
    if (lift == NULL) return;
    const hfi_memory memory = lift->memory;
    hf_kernel_free(lift->kernel);
    HFI_MEMORY_FREE(&memory, lift->z, lift);
}

hf_status hfi_lift_copy(hf_context *ctx, const hfi_lift *lift, hfi_lift **out)
{
    hfi_lift *copy = NULL;
    const hf_status s = create_lift(ctx, lift->d, lift->count, lift->kernel, &copy);
    if (s < 0) return s;
    copy->published = lift->published;
    copy->base = lift->base;
    memcpy(copy->z, lift->z, lift->count * (lift->d + 2) * sizeof *copy->z);
    *out = copy;
    return HF_OK;
}

const hf_kernel *hfi_expert_kernel(const hf_expert *expert)
{
    return expert->flat ? NULL : expert->kernel;
}

size_t hfi_expert_inputs(const hf_expert *expert)
{
    return expert->d;
}

bool hfi_mean_lifted(const hf_mean *mean)
{
    return mean->lift != NULL;
}

hf_status hfi_mean_lift(hf_context *ctx, hf_mean *mean, const hf_expert *expert, const hf_kernel *kernel,
                        const double *shift, const double *scale, double unit)
{
    const size_t d = mean->d;
    hfi_lift *lift = NULL;
    const hf_status s = create_lift(ctx, d, expert->count, kernel, &lift);
    if (s < 0) return s;
    lift->published = expert->settings.rule == HF_EXPERT_PUBLISHED;
    lift->base = expert->settings.base / unit;
    for (size_t k = 0; k < lift->count; k++) {
        double *z = lift->z + k * d;
        for (size_t j = 0; j < d; j++) z[j] = (expert->place[k * d + j] - shift[j]) / scale[j];
        if (kernel != NULL) hfi_kernel_diagonal(kernel, 1, z, d, false, &lift->self[k]);
        lift->self[k] = sqrt(fmax(lift->self[k], 0.0));
        lift->correction[k] = (expert->reading[expert->row[k]].expected - expert->settings.base) / unit;
    }
    hfi_lift_free(mean->lift);
    mean->lift = lift;
    return HF_OK;
}

/* sqrt(k(x, x)). */
static double own_of(const hfi_lift *lift, const double *x)
{
    double own = 0.0;
    if (lift->kernel != NULL) hfi_kernel_diagonal(lift->kernel, 1, x, lift->d, false, &own);
    return sqrt(fmax(own, 0.0));
}

/* l(x, z_k) as hfi_expert_correlations() has it; *inside: where it has a slope. */
static double correlation(const hfi_lift *lift, const double *x, double own, size_t k, bool *inside)
{
    *inside = false;
    if (lift->kernel == NULL) return 1.0;
    const double scale = own * lift->self[k];
    if (!(scale > 0.0) || !isfinite(scale)) return 0.0;
    const double l = hfi_kernel_value(lift->kernel, x, lift->z + k * lift->d, false) / scale;
    *inside = l > 0.0 && l < 1.0;
    return fmin(fmax(l, 0.0), 1.0);
}

/* m(x) - B, and what the weights are divided by. */
static double raised(const hfi_lift *lift, const double *x, double own, double *sum)
{
    double total = 0.0;
    bool inside;
    *sum = 0.0;
    for (size_t k = 0; k < lift->count; k++) {
        const double l = correlation(lift, x, own, k, &inside);
        *sum += l;
        total += l * lift->correction[k];
    }
    if (lift->published) *sum = (double)lift->count;
    return lift->count > 0 ? total / fmax(1.0, *sum) : 0.0;
}

double hfi_lift_value(const hfi_lift *lift, const double *x)
{
    double sum;
    return lift->base + raised(lift, x, own_of(lift, x), &sum);
}

size_t hfi_mean_scratch(const hf_mean *mean)
{
    return mean->lift != NULL && mean->lift->kernel != NULL ? hfi_kernel_scratch(mean->lift->kernel) : 0;
}

/* With S = max(1, sum l): d m = sum_k v_k dl_k, v_k = (c_k - [S > 1] (m - B)) / S; and with o(x)^2 = k(x, x),
 * dl_k = dk(x, z_k) / (o s_k) - l_k dk(x, x) / (2 k(x, x)). */
void hfi_mean_lift_gradient(const hf_mean *mean, const double *x, double *scratch, double *grad)
{
    const hfi_lift *lift = mean->lift;
    if (lift == NULL || lift->kernel == NULL) return;
    const double own = own_of(lift, x);
    double sum, diagonal = 0.0;
    const double here = raised(lift, x, own, &sum), divisor = fmax(1.0, sum);
    const double pulled = !lift->published && sum > 1.0 ? here : 0.0;
    for (size_t k = 0; k < lift->count; k++) {
        bool inside;
        const double l = correlation(lift, x, own, k, &inside);
        if (!inside) continue;
        const double v = (lift->correction[k] - pulled) / divisor, w = v / (own * lift->self[k]);
        hfi_kernel_input_gradient(lift->kernel, x, 1, lift->z + k * lift->d, lift->d, &w, grad, scratch);
        diagonal += v * l;
    }
    /* dk(x, x) is twice the slope in the first argument alone. */
    const double back = diagonal != 0.0 ? -diagonal / (own * own) : 0.0;
    if (back != 0.0) hfi_kernel_input_gradient(lift->kernel, x, 1, x, lift->d, &back, grad, scratch);
}
