/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classify.h
 * @brief Internal face of the classify room: what labels must be, and the likelihoods of links.
 */
#ifndef HFI_CLASSIFY_H
#define HFI_CLASSIFY_H

#include "inference/latent.h"
#include "posterior/posterior.h"
#include <holdfast/classify.h>

#include <math.h>

/** Other rooms make one by hfi_classifier_with_loss() and read it by functions. */
struct hf_classifier {
    hfi_memory memory;
    hf_posterior *posterior;
    hf_link link;
    size_t classes;
    hf_class_rule rule;
    double *loss; /**< what the rule's points to when it is owned */
};

/** For who owns the classifier: the posterior that it owns. */
hf_posterior *hfi_classifier_posterior(hf_classifier *classifier);

/** *out: the classifier as it is when its rule has this loss, or with NULL as it is. It borrows
 * posterior and loss, and nothing frees it. HF_ERR_ARGUMENT for a loss that is none. */
hf_status hfi_classifier_with_loss(hf_context *ctx, const hf_classifier *classifier,
                                   const double *loss, hf_classifier *out);

/** The cost of a decision where the class is another or the same; `loss` as hf_class_rule has
 * it. */
static inline double hfi_decision_cost(size_t classes, const double *loss, size_t decision,
                                       size_t class)
{
    return loss ? loss[decision * classes + class] : decision == class ? 0.0 : 1.0;
}
/** By how much decision a costs more than decision b where that is the class. */
static inline double hfi_decision_excess(size_t classes, const double *loss, size_t a, size_t b,
                                         size_t class)
{
    return hfi_decision_cost(classes, loss, a, class) - hfi_decision_cost(classes, loss, b, class);
}
/** The most that a decision costs. */
static inline double hfi_largest_cost(size_t classes, const double *loss)
{
    double most = loss ? 0.0 : 1.0;
    for (size_t k = 0; loss && k < classes * classes; k++) most = fmax(most, loss[k]);
    return most;
}

/** The link of sites of labels. */
hf_link hfi_class_link(hf_likelihood sites);
/** static double probability(double mean, double var) of the second of two classes, in the texts of
 * export/export_c.h; NULL for a link that has more. */
const char *hfi_class_probability_code(hf_link link);

/** hf_classifier_fit() by settings of a fit, whose sites are of labels and say the link.
 * @param own_kernels of softmax: as hf_class_settings has it */
hf_status hfi_classifier_fit(hf_context *ctx, const hf_class_data *data,
                             const hf_fit_settings *settings, bool own_kernels, hf_classifier **out,
                             hf_class_report *report);

/** The likelihood of a label of two classes: class 0 is the reading -1, class 1 the reading 1. */
const hfi_likelihood *hfi_class_likelihood(hf_link link);

/** Labels as every function of this room takes them: HF_ERR_ARGUMENT for one out of range,
 * HF_ERR_NO_DATA where none is left; names the row. */
hf_status hfi_class_check_labels(hf_context *ctx, size_t n, const size_t *label, size_t classes);
/** The inference that auto stands for with a link; others as they are. */
hf_inference hfi_class_inference(hf_link link, hf_inference inference);
/** HF_ERR_ARGUMENT: a link does not go with an inference. */
hf_status hfi_class_check_inference(hf_context *ctx, hf_link link, hf_inference inference);
/** A right decision costs less than a wrong one, whatever the class is: HF_ERR_ARGUMENT names the
 * decision and the class otherwise. */
hf_status hfi_class_check_loss(hf_context *ctx, size_t classes, const double *loss);
/** How many classes a link is for: HF_ERR_ARGUMENT otherwise. */
hf_status hfi_class_check_link(hf_context *ctx, hf_link link, size_t classes);
/** Rows with a label must be finite: HF_ERR_NOT_FINITE names the first that is not. */
hf_status hfi_class_check_rows(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                               const size_t *label);
/** The readings of labels of two classes: -1, 1, and NaN for HF_LABEL_MISSING. */
void hfi_class_readings(size_t n, const size_t *label, double *y);

#endif
