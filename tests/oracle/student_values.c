/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file student_values.c
 * @brief Answers of the three approximations under Student-t noise about a problem, for comparison with plain numpy.
 *
 * Standard input: a line with the kernel, then numbers: its parameters on the training scale (how many, and
 * they), the mean, the squared scale, the degrees of freedom, n, d; n rows of inputs; n readings; n known
 * variances. Standard output: one JSON object; for each method value, gradient, posterior means and variances
 * of the latent values; targets and variances of the final sites; and what the exact solver makes of these sites at the
 * readings.
 */
#include "read_text.h"

#include "inference/student.h"

typedef struct task {
    hf_context *ctx;
    hfi_evaluator e;
    double nu, *x;
} task;

static void read_task(task *t)
{
    char expression[256];
    hfi_evaluator *e = &t->e;
    if (scanf(" %255[^\n]", expression) != 1) fail("a kernel was expected");
    const size_t count = (size_t)read_number();
    double *theta = read_numbers(count), mean = read_number(), scale = read_number();
    t->nu = read_number();
    const size_t n = (size_t)read_number(), d = (size_t)read_number();
    t->x = read_numbers(n * d);
    double *y = read_numbers(n), *known = read_numbers(n);
    must(t->ctx, hfi_evaluator_init(t->ctx, e, false, n, d, t->x, d), "evaluator");
    must(t->ctx, hf_kernel_parse(t->ctx, expression, NULL, d, &e->kernel), "kernel");
    if (count != hf_kernel_parameters(e->kernel)) fail("the kernel has another number of parameters");
    hfi_kernel_set_theta(e->kernel, theta);
    must(t->ctx, hf_mean_create(t->ctx, HF_MEAN_CONSTANT, d, &e->mean), "mean");
    must(t->ctx, hf_mean_set(t->ctx, e->mean, &mean, true), "mean");
    must(t->ctx, hf_sites_gaussian(t->ctx, n, y, scale, known, &e->sites), "sites");
    must(t->ctx, hfi_evaluator_select(e), "select");
    free(theta);
    free(known);
    free(y);
}

/* The mean of the posterior that the exact solver finds for the final sites. */
static json_t *solved(task *t, const double *target, const double *variance)
{
    hfi_evaluator *e = &t->e;
    hf_sites *sites;
    hf_posterior *posterior;
    double *mean = malloc((e->n + 1) * sizeof *mean);
    if (!mean) fail("out of memory");
    must(t->ctx, hf_sites_copy(t->ctx, e->sites, &sites), "sites");
    hfi_sites_give(sites, target, variance);
    must(t->ctx, hf_solve_exact(t->ctx, e->kernel, e->mean, sites, e->x, e->ldx, &posterior), "solve");
    must(t->ctx, hf_predict(t->ctx, posterior, e->n, e->x, e->ldx, mean, NULL, NULL), "predict");
    json_t *out = array_json(e->n, mean);
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    free(mean);
    return out;
}

static json_t *answers(task *t, hf_inference method)
{
    hfi_latent_problem p;
    double gradient[64], value;
    const size_t count = hf_kernel_parameters(t->e.kernel) + 3;
    if (count > 64) fail("too many parameters");
    must(t->ctx, hfi_student_problem(&t->e, &hfi_likelihood_student_t, method, &p), "problem");
    must(t->ctx, hfi_student_evaluate(&p, &t->e, t->nu, &value, gradient), "evaluate");
    double *site = malloc((2 * p.n + 1) * sizeof *site);
    if (!site) fail("out of memory");
    hfi_latent_sites(&p, site, site + p.n);
    json_t *out =
        json_pack("{sb so so so so so so so}", "converged", (int)p.converged, "value", number_json(value),
                  "gradient", array_json(count, gradient), "mean", array_json(p.n, p.latent), "variance",
                  array_json(p.n, p.variance), "target", array_json(p.n, site), "site_variance",
                  array_json(p.n, site + p.n), "solved", solved(t, site, site + p.n));
    if (!out) fail("out of memory");
    free(site);
    hfi_latent_problem_free(&p);
    return out;
}

int main(void)
{
    task t = {.ctx = hf_context_create()};
    json_t *out = json_object();
    if (!t.ctx || !out) fail("out of memory");
    read_task(&t);
    for (int m = 0; m <= HF_INFERENCE_VARIATIONAL; ++m)
        json_object_set_new(out, hf_enum_name(HF_ENUM_INFERENCE, (unsigned)m), answers(&t, (hf_inference)m));
    print_json(out);
    hf_kernel_free(t.e.kernel);
    hf_mean_free(t.e.mean);
    hf_sites_free(t.e.sites);
    hfi_evaluator_free(&t.e);
    free(t.x);
    hf_context_free(t.ctx);
    return 0;
}
