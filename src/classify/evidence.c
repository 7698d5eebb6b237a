/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence and the classifier at given hyperparameters. */
#include "classify/classify.h"
#include "classify/softmax.h"

typedef struct evidence_parts {
    hf_link link;
    hf_inference inference;
    const hf_kernel *kernel;
    const hf_mean *mean;
    size_t n;
    const double *x;
    size_t ldx;
    const size_t *label;
    size_t classes;
} evidence_parts;

static hf_status check_evidence_parts(hf_context *ctx, const evidence_parts *in)
{
    if (!in->kernel || !in->mean || !in->x || !in->label)
        return hfi_refuse(ctx, "kernel, mean, x and label are all needed; %s is NULL",
                          !in->kernel ? "kernel"
                          : !in->mean ? "mean"
                          : !in->x    ? "x"
                                      : "label");
    const size_t d = hf_kernel_dimension(in->kernel);
    /* the number of the class is no column of x */
    const size_t columns = in->link == HF_LINK_SOFTMAX ? d - 1 : d;
    if (in->ldx < columns)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "rows of x are %zu apart, but the kernel has %zu inputs",
                        in->ldx, columns);
    if (hf_mean_get_kind(in->mean) == HF_MEAN_LINEAR && hf_mean_coefficients(in->mean) != d + 1)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the linear mean has %zu inputs, but the kernel has %zu",
                        hf_mean_coefficients(in->mean) - 1, d);
    hf_status s = hfi_class_check_link(ctx, in->link, in->classes);
    if (s >= 0) s = hfi_class_check_inference(ctx, in->link, in->inference);
    if (s >= 0) s = hfi_class_check_labels(ctx, in->n, in->label, in->classes);
    if (s >= 0) s = hfi_class_check_rows(ctx, in->n, columns, in->x, in->ldx, in->label);
    return s;
}

static hf_status start_evidence_problem(hf_context *ctx, const evidence_parts *in,
                                        hfi_latent_problem *problem)
{
    hf_status s = check_evidence_parts(ctx, in);
    if (s < 0) return s;
    double *y = hfi_alloc(ctx, in->n, sizeof *y);
    if (!y) return HF_ERR_MEMORY;
    hfi_class_readings(in->n, in->label, y);
    const hfi_latent_given given = {
        .kernel = in->kernel, .mean = in->mean, .rows = in->n, .x = in->x, .ldx = in->ldx, .y = y};
    s = hfi_latent_problem_init(ctx, hfi_class_likelihood(in->link),
                                hfi_class_inference(in->link, in->inference), &given, problem);
    hfi_free(ctx, y);
    return s;
}

static hf_status check_converged(const hfi_latent_problem *p, hf_inference inference)
{
    if (p->converged) return HF_OK;
    return hfi_fail(p->ctx, HF_WARN_NOT_CONVERGED, "%s inference stopped after %zu steps before it settled",
                    hf_enum_name(HF_ENUM_INFERENCE, inference), p->rounds);
}

hf_status hf_class_evidence(hf_context *ctx, hf_link link, hf_inference inference, const hf_kernel *kernel,
                            const hf_mean *mean, size_t n, const double *x, size_t ldx, const size_t *label,
                            size_t classes, double *value, double *gradient)
{
    const evidence_parts in = {link, inference, kernel, mean, n, x, ldx, label, classes};
    if (!value) return hfi_refuse(ctx, "hf_class_evidence: value is NULL");
    if (link == HF_LINK_SOFTMAX) {
        const hf_status checked = check_evidence_parts(ctx, &in);
        return checked < 0
                   ? checked
                   : hfi_softmax_evidence(ctx, kernel, mean, n, x, ldx, label, classes, value, gradient);
    }
    hfi_latent_problem problem;
    hf_status s = start_evidence_problem(ctx, &in, &problem);
    if (s < 0) return s;
    s = hfi_latent_evaluate(&problem, value, gradient);
    if (s >= 0) s = check_converged(&problem, inference);
    hfi_latent_problem_free(&problem);
    return s;
}

/* The exact posterior of the sites, and the classifier that owns it. */
static hf_status conclude_evidence(const hfi_latent_problem *p, const evidence_parts *in, hf_classifier **out)
{
    double *target = hfi_alloc(p->ctx, p->rows, 2 * sizeof *target);
    if (!target) return HF_ERR_MEMORY;
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    hfi_latent_sites(p, target, target + p->rows);
    hf_status s = hf_sites_gaussian(p->ctx, p->rows, target, 1.0, NULL, &sites);
    if (s >= 0) {
        hfi_sites_give(sites, target, target + p->rows);
        s = hf_solve_exact(p->ctx, p->kernel, p->mean, sites, p->x, p->ldx, &posterior);
    }
    hfi_free(p->ctx, target);
    hf_sites_free(sites);
    if (s < 0) return s;
    const hf_status made = hf_classifier_create(p->ctx, posterior, in->link, in->classes, out);
    if (made < 0) hf_posterior_free(posterior);
    return made < 0 ? made : s;
}

static hf_status classify_softmax(hf_context *ctx, const evidence_parts *in, hf_classifier **out,
                                  double *value)
{
    hf_posterior *posterior = NULL;
    double found = 0.0;
    hf_status s = check_evidence_parts(ctx, in);
    if (s < 0) return s;
    s = hfi_softmax_posterior(ctx, in->kernel, in->mean, in->n, in->x, in->ldx, in->label, in->classes,
                              in->inference != HF_INFERENCE_LAPLACE, &posterior, &found);
    if (s < 0) return s;
    const hf_status made = hf_classifier_create(ctx, posterior, in->link, in->classes, out);
    if (made < 0)
        hf_posterior_free(posterior);
    else if (value)
        *value = found;
    return made < 0 ? made : s;
}

hf_status hf_classify_exact(hf_context *ctx, hf_link link, hf_inference inference, const hf_kernel *kernel,
                            const hf_mean *mean, size_t n, const double *x, size_t ldx, const size_t *label,
                            size_t classes, hf_classifier **out, double *value)
{
    const evidence_parts in = {link, inference, kernel, mean, n, x, ldx, label, classes};
    if (!out) return hfi_refuse(ctx, "hf_classify_exact: out is NULL");
    if (link == HF_LINK_SOFTMAX) return classify_softmax(ctx, &in, out, value);
    hfi_latent_problem problem;
    hf_status s = start_evidence_problem(ctx, &in, &problem);
    if (s < 0) return s;
    double found = 0.0;
    s = hfi_latent_evaluate(&problem, &found, NULL);
    if (s >= 0) s = conclude_evidence(&problem, &in, out);
    if (s >= 0 && value) *value = found;
    if (s == HF_OK) s = check_converged(&problem, inference);
    hfi_latent_problem_free(&problem);
    return s;
}
