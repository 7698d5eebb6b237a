/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file count_values.c
 * @brief Numbers that follow from counts and amounts, for comparison with scipy.
 *
 * Standard input: the sites; a line with the kernel; then numbers: its parameters on the training scale (how
 * many, and they), the mean, the dispersion, n; n rows of one input, a reading and an exposure. Standard
 * output: one JSON object for each inference: "evidence", and at the rows "latent" (less the prior mean),
 * "variance"; "moments" (mean, sd of the mean, sd of a new reading); "quantiles" of 0.025, 0.5 and 0.975; and "score"
 * of the reading.
 */
#include "read_text.h"

#include "inference/latent.h"
#include <holdfast/likelihood.h>

typedef struct task {
    hf_context *ctx;
    hf_likelihood sites;
    hf_kernel *kernel;
    hf_mean *mean;
    double dispersion, prior;
    size_t n;
    double *row; /* n x 3 */
} task;

static void read_task(task *t)
{
    char sites[64], expression[256];
    if (scanf(" %63[^\n]", sites) != 1 || scanf(" %255[^\n]", expression) != 1)
        fail("sites and kernel were expected");
    must(t->ctx, hf_enum_parse(t->ctx, HF_ENUM_LIKELIHOOD, sites, &t->sites), "sites");
    const size_t count = (size_t)read_number();
    double *theta = read_numbers(count);
    t->prior = read_number();
    t->dispersion = read_number();
    t->n = (size_t)read_number();
    t->row = read_numbers(3 * t->n);
    must(t->ctx, hf_kernel_parse(t->ctx, expression, NULL, 1, &t->kernel), "kernel");
    if (count != hf_kernel_parameters(t->kernel)) fail("the kernel has another number of parameters");
    hfi_kernel_set_theta(t->kernel, theta);
    must(t->ctx, hf_mean_create(t->ctx, HF_MEAN_CONSTANT, 1, &t->mean), "mean");
    must(t->ctx, hf_mean_set(t->ctx, t->mean, &t->prior, true), "mean");
    free(theta);
}

static json_t *predictions(const task *t, const double *latent, const double *variance, const double *y,
                           const double *shift)
{
    static const double levels[] = {0.025, 0.5, 0.975};
    json_t *moments = json_array(), *quantiles = json_array(), *scores = json_array();
    for (size_t i = 0; i < t->n; i++) {
        const double mean = t->prior + latent[i] + shift[i];
        hf_reading_moments m;
        double q[3], score;
        must(t->ctx, hf_likelihood_moments(t->sites, t->dispersion, mean, variance[i], &m), "moments");
        for (size_t k = 0; k < 3; k++)
            must(t->ctx, hf_likelihood_quantile(t->sites, t->dispersion, mean, variance[i], levels[k], &q[k]),
                 "quantile");
        must(t->ctx, hf_likelihood_log_score(t->sites, t->dispersion, mean, variance[i], y[i], &score),
             "score");
        json_array_append_new(moments, array_json(3, (const double[]){m.mean, m.sd_mean, m.sd}));
        json_array_append_new(quantiles, array_json(3, q));
        json_array_append_new(scores, number_json(score));
    }
    return json_pack("{so so so}", "moments", moments, "quantiles", quantiles, "score", scores);
}

static json_t *answers(task *t, hf_inference inference)
{
    const size_t n = t->n;
    double value = 0.0, gradient[64], *room = malloc((6 * n + 1) * sizeof *room);
    if (!room) fail("out of memory");
    double *x = room, *y = room + n, *shift = room + 2 * n, *force = room + 3 * n, *latent = room + 4 * n,
           *variance = room + 5 * n;
    for (size_t i = 0; i < n; i++) {
        x[i] = t->row[3 * i];
        y[i] = t->row[3 * i + 1];
        shift[i] = log(t->row[3 * i + 2]);
    }
    const hfi_latent_given given = {
        .kernel = t->kernel, .mean = t->mean, .rows = n, .x = x, .ldx = 1, .y = y, .shift = shift};
    hfi_latent_problem p;
    must(t->ctx,
         hfi_latent_problem_init(t->ctx, hfi_likelihood_named(hf_enum_name(HF_ENUM_LIKELIHOOD, t->sites)),
                                 inference, &given, &p),
         "problem");
    p.dispersion = t->dispersion;
    must(t->ctx, hfi_latent_evaluate(&p, &value, gradient), "evidence");
    must(t->ctx, hfi_latent_condition(&p, force, latent, variance), "posterior");
    json_t *out = predictions(t, latent, variance, y, shift);
    json_object_set_new(out, "evidence", number_json(value));
    json_object_set_new(out, "converged", json_boolean(p.converged));
    json_object_set_new(out, "latent", array_json(n, latent));
    json_object_set_new(out, "variance", array_json(n, variance));
    hfi_latent_problem_free(&p);
    free(room);
    return out;
}

int main(void)
{
    task t = {.ctx = hf_context_create()};
    json_t *out = json_object();
    if (!t.ctx || !out) fail("out of memory");
    read_task(&t);
    for (int k = 0; k <= HF_INFERENCE_EP; k++)
        json_object_set_new(out, hf_enum_name(HF_ENUM_INFERENCE, (hf_inference)k),
                            answers(&t, (hf_inference)k));
    print_json(out);
    hf_kernel_free(t.kernel);
    hf_mean_free(t.mean);
    hf_context_free(t.ctx);
    free(t.row);
    return 0;
}
