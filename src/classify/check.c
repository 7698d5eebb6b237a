/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that labels and their rows must obey. */
#include "classify/classify.h"
#include <math.h>

hf_status hfi_class_check_link(hf_context *ctx, hf_link link, size_t classes)
{
    if ((unsigned)link > HF_LINK_SOFTMAX) return hfi_refuse(ctx, "there is no link number %d", (int)link);
    if (link == HF_LINK_SOFTMAX && classes >= 2) return HF_OK;
    if (link == HF_LINK_SOFTMAX)
        return hfi_refuse(ctx, "the softmax link is for 2 classes or more, not %zu", classes);
    if (classes != 2)
        return hfi_refuse(ctx, "the %s link is for 2 classes, not %zu", hf_enum_name(HF_ENUM_LINK, link),
                          classes);
    return HF_OK;
}

hf_link hfi_class_link(hf_likelihood sites)
{
    /* Sites of labels are called like their links. */
    unsigned link = HF_LINK_PROBIT;
    hf_enum_parse(NULL, HF_ENUM_LINK, hf_enum_name(HF_ENUM_LIKELIHOOD, sites), &link);
    return (hf_link)link;
}

hf_inference hfi_class_inference(hf_link link, hf_inference inference)
{
    const hfi_likelihood *row = hfi_class_likelihood(link);
    if (inference != HF_INFERENCE_AUTO) return inference;
    return row ? row->usual : HF_INFERENCE_CORRECTED;
}

hf_status hfi_class_check_inference(hf_context *ctx, hf_link link, hf_inference inference)
{
    const hf_inference own = hfi_class_inference(link, inference);
    if ((unsigned)inference > HF_INFERENCE_AUTO)
        return hfi_refuse(ctx, "there is no inference number %d", (int)inference);
    if (!hfi_class_likelihood(link) && own != HF_INFERENCE_CORRECTED && own != HF_INFERENCE_LAPLACE)
        return hfi_refuse(ctx, "the softmax link is inferred by laplace or corrected, not by %s",
                          hf_enum_name(HF_ENUM_INFERENCE, own));
    if (hfi_class_likelihood(link) && own == HF_INFERENCE_CORRECTED)
        return hfi_refuse(ctx, "'corrected' is for the softmax link; %s has 'ep', which is better",
                          hf_enum_name(HF_ENUM_LINK, link));
    return HF_OK;
}

hf_status hfi_class_check_labels(hf_context *ctx, size_t n, const size_t *label, size_t classes)
{
    size_t present = 0;
    for (size_t i = 0; i < n; i++) {
        if (label[i] == HF_LABEL_MISSING) continue;
        if (label[i] >= classes)
            return hfi_refuse(ctx, "row %zu has label %zu, but there are %zu classes, numbered from 0", i + 1,
                              label[i], classes);
        present++;
    }
    if (present == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "none of the %zu rows has a label", n);
    return HF_OK;
}

hf_status hfi_class_check_loss(hf_context *ctx, size_t classes, const double *loss)
{
    for (size_t a = 0; a < classes; a++)
        for (size_t b = 0; b < classes; b++) {
            const double cost = loss[a * classes + b], right = loss[b * (classes + 1)];
            if (!(cost >= 0.0) || !isfinite(cost))
                return hfi_refuse(
                    ctx,
                    "the loss of the decision %zu for class %zu is %g; it must be finite and not "
                    "below 0",
                    a, b, cost);
            if (a != b && !(cost > right))
                return hfi_refuse(
                    ctx,
                    "the loss of the decision %zu for class %zu is %g, but %g that of the right "
                    "one, which must be less",
                    a, b, cost, right);
        }
    return HF_OK;
}

hf_status hfi_class_check_rows(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                               const size_t *label)
{
    for (size_t i = 0; i < n; i++) {
        if (label[i] == HF_LABEL_MISSING) continue;
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu is not finite", j + 1, i + 1);
    }
    return HF_OK;
}

const hfi_likelihood *hfi_class_likelihood(hf_link link)
{
    return hfi_likelihood_named(hf_enum_name(HF_ENUM_LINK, link));
}

void hfi_class_readings(size_t n, const size_t *label, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] = label[i] == HF_LABEL_MISSING ? NAN : label[i] == 1 ? 1.0 : -1.0;
}
