/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gp_values.c
 * @brief Everything the library says about a Gaussian process at given hyperparameters, for comparison with
 * other software.
 *
 * Standard input: lines "kernel EXPRESSION", "set NAME VALUE", "mean zero|constant|linear COEFFICIENT...",
 * "noise VARIANCE"; "robust THRESHOLD" (each data row then ends with its centre); "extra" (each data row then
 * ends with a known variance); and last "data N D M", N rows of inputs and target, M rows of inputs to
 * predict at. Standard output: one JSON object.
 */
#include "read_text.h"

#include <math.h>
#include <string.h>

typedef struct task {
    char kernel[256];
    char names[64][64];
    double values[64];
    size_t set_count;
    hf_mean_kind mean;
    double coefficients[16];
    double noise, threshold;
    bool robust, has_extra;
    size_t n, d, m;
    double *x, *y, *extra, *centre, *query;
} task;

static void read_header(hf_context *ctx, task *t)
{
    char word[64], kind[64];
    while (scanf("%63s", word) == 1) {
        if (strcmp(word, "kernel") == 0) {
            if (scanf(" %255[^\n]", t->kernel) != 1) fail("a kernel was expected");
        } else if (strcmp(word, "set") == 0 && t->set_count < 64) {
            if (scanf("%63s", t->names[t->set_count]) != 1) fail("a name was expected");
            t->values[t->set_count++] = read_number();
        } else if (strcmp(word, "mean") == 0) {
            double count;
            if (scanf("%63s", kind) != 1) fail("a mean was expected");
            must(ctx, hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, kind, &t->mean), "mean");
            count = read_number();
            for (size_t k = 0; k < (size_t)count && k < 16; ++k) t->coefficients[k] = read_number();
        } else if (strcmp(word, "noise") == 0) {
            t->noise = read_number();
        } else if (strcmp(word, "robust") == 0) {
            t->robust = true;
            t->threshold = read_number();
        } else if (strcmp(word, "extra") == 0) {
            t->has_extra = true;
        } else if (strcmp(word, "data") == 0) {
            t->n = (size_t)read_number();
            t->d = (size_t)read_number();
            t->m = (size_t)read_number();
            return;
        } else {
            fail("unknown word");
        }
    }
    fail("no data");
}

static void read_rows(task *t)
{
    t->x = malloc((t->n * t->d + 1) * sizeof(double));
    t->y = malloc((t->n + 1) * sizeof(double));
    t->extra = malloc((t->n + 1) * sizeof(double));
    t->centre = malloc((t->n + 1) * sizeof(double));
    if (!t->x || !t->y || !t->extra || !t->centre) fail("out of memory");
    for (size_t i = 0; i < t->n; ++i) {
        for (size_t j = 0; j < t->d; ++j) t->x[i * t->d + j] = read_number();
        t->y[i] = read_number();
        if (t->robust) t->centre[i] = read_number();
        if (t->has_extra) t->extra[i] = read_number();
    }
    t->query = read_numbers(t->m * t->d);
}

static json_t *parameters(const hf_kernel *kernel)
{
    json_t *array = json_array();
    for (size_t i = 0; i < hf_kernel_parameters(kernel); ++i) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) < 0) fail("parameter");
        json_array_append_new(
            array, json_pack("{ss sf sb}", "name", p.name, "value", p.value, "fixed", (int)p.fixed));
    }
    return array;
}

static json_t *objectives(hf_context *ctx, const task *t, const hf_kernel *kernel, const hf_mean *mean,
                          const hf_sites *sites)
{
    static const hf_objective kinds[] = {HF_OBJECTIVE_EVIDENCE, HF_OBJECTIVE_LOO, HF_OBJECTIVE_WLOO};
    size_t count = hf_kernel_parameters(kernel) + hf_mean_coefficients(mean) + 1;
    double *gradient = malloc(count * sizeof *gradient);
    json_t *object = json_object();
    if (!gradient) fail("out of memory");
    for (size_t k = 0; k < 3; ++k) {
        double value, alone;
        must(ctx, hf_objective_evaluate(ctx, kinds[k], kernel, mean, sites, t->x, t->d, &value, gradient),
             "objective");
        must(ctx, hf_objective_evaluate(ctx, kinds[k], kernel, mean, sites, t->x, t->d, &alone, NULL),
             "objective alone");
        json_object_set_new(object, hf_enum_name(HF_ENUM_OBJECTIVE, kinds[k]),
                            json_pack("{so so so}", "value", number_json(value), "alone", number_json(alone),
                                      "gradient", array_json(count, gradient)));
    }
    free(gradient);
    return object;
}

static void predictions(hf_context *ctx, const task *t, const hf_posterior *posterior, json_t *out)
{
    double *mean = calloc(t->m + 1, sizeof *mean), *latent = calloc(t->m + 1, sizeof *latent);
    double *observed = calloc(t->m + 1, sizeof *observed),
           *covariance = calloc(t->m * t->m + 1, sizeof *covariance);
    double *slope = calloc(t->m * t->d + 1, sizeof *slope), *bend = calloc(t->m * t->d + 1, sizeof *bend);
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, posterior);
    if (!mean || !latent || !observed || !covariance || !slope || !bend || !workspace) fail("out of memory");
    must(ctx, hf_predict(ctx, posterior, t->m, t->query, t->d, mean, latent, observed), "predict");
    must(ctx, hf_predict_covariance(ctx, posterior, t->m, t->query, t->d, covariance, t->m), "covariance");
    for (size_t i = 0; i < t->m; ++i) {
        double one_mean, one_var;
        must(ctx,
             hf_predict_latent(posterior, workspace, t->query + i * t->d, &one_mean, &one_var,
                               slope + i * t->d, bend + i * t->d),
             "predict one");
        if (fabs(one_mean - mean[i]) > 1e-11 * (1.0 + fabs(mean[i])) ||
            fabs(one_var - latent[i]) > 1e-11 * (1.0 + latent[i]))
            fail("one point and many points disagree");
    }
    json_object_set_new(out, "mean", array_json(t->m, mean));
    json_object_set_new(out, "latent", array_json(t->m, latent));
    json_object_set_new(out, "observed", array_json(t->m, observed));
    json_object_set_new(out, "covariance", array_json(t->m * t->m, covariance));
    json_object_set_new(out, "gradient_mean", array_json(t->m * t->d, slope));
    json_object_set_new(out, "gradient_var", array_json(t->m * t->d, bend));
    hf_posterior_workspace_free(workspace);
    free(mean);
    free(latent);
    free(observed);
    free(covariance);
    free(slope);
    free(bend);
}

static void readings(hf_context *ctx, const task *t, const hf_sites *sites, const hf_posterior *posterior,
                     json_t *out)
{
    double *mean = calloc(t->n + 1, sizeof *mean), *var = calloc(t->n + 1, sizeof *var);
    double *influence = calloc(t->n + 1, sizeof *influence);
    hf_solve_report report;
    if (!mean || !var || !influence) fail("out of memory");
    must(ctx, hf_leave_one_out(ctx, posterior, mean, var), "leave-one-out");
    must(ctx, hf_influence_of_removal(ctx, posterior, influence), "influence");
    report = *hf_posterior_report_of(posterior);
    json_object_set_new(out, "loo_mean", array_json(t->n, mean));
    json_object_set_new(out, "loo_var", array_json(t->n, var));
    json_object_set_new(out, "influence", array_json(t->n, influence));
    json_object_set_new(out, "targets", array_json(t->n, hf_sites_targets(sites)));
    json_object_set_new(out, "variances", array_json(t->n, hf_sites_variances(sites)));
    json_object_set_new(out, "weights", array_json(t->n, hf_sites_weights(sites)));
    json_object_set_new(out, "jitter", number_json(report.jitter));
    json_object_set_new(out, "log_evidence", number_json(report.log_evidence));
    free(mean);
    free(var);
    free(influence);
}

int main(void)
{
    task *t = calloc(1, sizeof *t);
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    json_t *out = json_object();
    if (!t || !ctx || !out) fail("out of memory");
    read_header(ctx, t);
    read_rows(t);
    must(ctx, hf_kernel_parse(ctx, t->kernel, NULL, t->d, &kernel), "kernel");
    for (size_t i = 0; i < t->set_count; ++i)
        must(ctx, hf_kernel_set(ctx, kernel, t->names[i], t->values[i]), "set");
    must(ctx, hf_mean_create(ctx, t->mean, t->d, &mean), "mean");
    if (hf_mean_coefficients(mean)) must(ctx, hf_mean_set(ctx, mean, t->coefficients, true), "mean");
    const double *extra = t->has_extra ? t->extra : NULL;
    if (t->robust)
        must(ctx, hf_sites_robust(ctx, t->n, t->y, t->noise, extra, t->centre, t->threshold, &sites),
             "sites");
    else
        must(ctx, hf_sites_gaussian(ctx, t->n, t->y, t->noise, extra, &sites), "sites");
    must(ctx, hf_solve_exact(ctx, kernel, mean, sites, t->x, t->d, &posterior), "solve");
    json_object_set_new(out, "parameters", parameters(kernel));
    json_object_set_new(out, "objectives", objectives(ctx, t, kernel, mean, sites));
    predictions(ctx, t, posterior, out);
    readings(ctx, t, sites, posterior, out);
    print_json(out);
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    free(t->x);
    free(t->y);
    free(t->extra);
    free(t->centre);
    free(t->query);
    free(t);
    return 0;
}
