/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing_values.c
 * @brief Answers of the inducing solver about a problem, for comparison with other software.
 *
 * Standard input: a line with the kernel, then numbers: method (0 vfe, 1 fitc, 2 dtc), the kernel's
 * parameters on the training scale (how many, and they); the mean, the noise variance, the threshold of
 * robust sites (inf: Gaussian ones), n, d, m, q; n rows of inputs, reading and centre; m rows of inducing
 * inputs; q rows to predict at. Standard output: one JSON object with value and gradient of every objective,
 * and predictions.
 */
#include "read_text.h"

#include "objective/evaluator.h"

#include <math.h>

typedef struct task {
    hf_context *ctx;
    hf_inducing_method method;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    size_t n, d, m, q;
    double *x, *z, *query;
} task;

static void read_model(task *t, double *noise, double *threshold)
{
    char expression[256];
    if (scanf(" %255[^\n]", expression) != 1) fail("a kernel was expected");
    t->method = (hf_inducing_method)read_number();
    const size_t count = (size_t)read_number();
    double *theta = read_numbers(count), mean = read_number();
    *noise = read_number();
    *threshold = read_number();
    t->n = (size_t)read_number();
    t->d = (size_t)read_number();
    t->m = (size_t)read_number();
    t->q = (size_t)read_number();
    must(t->ctx, hf_kernel_parse(t->ctx, expression, NULL, t->d, &t->kernel), "kernel");
    if (count != hf_kernel_parameters(t->kernel)) fail("the kernel has another number of parameters");
    hfi_kernel_set_theta(t->kernel, theta);
    must(t->ctx, hf_mean_create(t->ctx, HF_MEAN_CONSTANT, t->d, &t->mean), "mean");
    must(t->ctx, hf_mean_set(t->ctx, t->mean, &mean, true), "mean");
    free(theta);
}

static void read_rows(task *t, double noise, double threshold)
{
    double *rows = read_numbers(t->n * (t->d + 2)), *y = malloc((t->n + 1) * sizeof *y),
           *centre = malloc((t->n + 1) * sizeof *centre);
    t->x = malloc((t->n * t->d + 1) * sizeof *t->x);
    if (!y || !centre || !t->x) fail("out of memory");
    for (size_t i = 0; i < t->n; ++i) {
        const double *row = rows + i * (t->d + 2);
        for (size_t j = 0; j < t->d; ++j) t->x[i * t->d + j] = row[j];
        y[i] = row[t->d];
        centre[i] = row[t->d + 1];
    }
    must(t->ctx, hf_sites_robust(t->ctx, t->n, y, noise, NULL, centre, threshold, &t->sites), "sites");
    t->z = read_numbers(t->m * t->d);
    t->query = read_numbers(t->q * t->d);
    free(rows);
    free(y);
    free(centre);
}

static json_t *objectives(const task *t)
{
    hfi_inducing inducing;
    hfi_evaluator e;
    json_t *object = json_object();
    must(t->ctx, hfi_inducing_init(t->ctx, t->method, t->m, t->d, t->z, t->d, &inducing), "inducing");
    inducing.train_inputs = true;
    must(t->ctx, hfi_evaluator_init_inducing(t->ctx, &e, t->n, t->d, t->x, t->d, &inducing), "evaluator");
    e.kernel = t->kernel;
    e.mean = t->mean;
    e.sites = t->sites;
    const size_t count = hf_kernel_parameters(t->kernel) + 2 + t->m * t->d;
    double *gradient = malloc(count * sizeof *gradient), value;
    if (!gradient) fail("out of memory");
    for (int o = 0; o <= HF_OBJECTIVE_RCAGP; ++o) {
        must(t->ctx, hfi_evaluator_run(&e, (hf_objective)o, &value, gradient), "objective");
        json_object_set_new(
            object, hf_enum_name(HF_ENUM_OBJECTIVE, (unsigned)o),
            json_pack("{so so}", "value", number_json(value), "gradient", array_json(count, gradient)));
    }
    free(gradient);
    hfi_evaluator_free(&e);
    return object;
}

static void predictions(const task *t, json_t *out)
{
    hf_posterior *posterior;
    double *mean = malloc((t->q + 1) * sizeof *mean), *latent = malloc((t->q + 1) * sizeof *latent);
    if (!mean || !latent) fail("out of memory");
    must(t->ctx,
         hf_solve_inducing(t->ctx, t->kernel, t->mean, t->sites, t->x, t->d, t->method, t->m, t->z, t->d,
                           &posterior),
         "solve");
    must(t->ctx, hf_predict(t->ctx, posterior, t->q, t->query, t->d, mean, latent, NULL), "predict");
    json_object_set_new(out, "mean", array_json(t->q, mean));
    json_object_set_new(out, "latent", array_json(t->q, latent));
    hf_posterior_free(posterior);
    free(mean);
    free(latent);
}

int main(void)
{
    task t = {.ctx = hf_context_create()};
    json_t *out = json_object();
    double noise, threshold;
    if (!t.ctx || !out) fail("out of memory");
    read_model(&t, &noise, &threshold);
    read_rows(&t, noise, threshold);
    json_object_set_new(out, "objectives", objectives(&t));
    predictions(&t, out);
    json_object_set_new(out, "targets", array_json(t.n, hf_sites_targets(t.sites)));
    json_object_set_new(out, "variances", array_json(t.n, hf_sites_variances(t.sites)));
    print_json(out);
    hf_sites_free(t.sites);
    hf_mean_free(t.mean);
    hf_kernel_free(t.kernel);
    hf_context_free(t.ctx);
    free(t.x);
    free(t.z);
    free(t.query);
    return 0;
}
