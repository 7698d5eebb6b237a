/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file softmax_values.c
 * @brief Laplace's approximation under the softmax link, for comparison with plain numpy.
 *
 * Standard input: a line with the kernel, then numbers: its parameters on the training scale (how many, and
 * they), C means, C, n, d, m; n rows of d inputs and a label; m rows of d inputs to predict at. Standard
 * output: one JSON object with value, gradient, latent values at the mode, and at the points mean (m x C),
 * covariance (m x C x C) and probabilities with the error that they claim.
 */
#include "read_text.h"

#include "classify/softmax.h"

typedef struct task {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    size_t classes, n, d, m;
    double *x, *query;
    size_t *label;
} task;

static void read_task(task *t)
{
    char expression[1024];
    if (scanf(" %1023[^\n]", expression) != 1) fail("a kernel was expected");
    const size_t count = (size_t)read_number();
    double *theta = read_numbers(count);
    t->classes = (size_t)read_number();
    double *means = read_numbers(t->classes);
    t->n = (size_t)read_number();
    t->d = (size_t)read_number();
    t->m = (size_t)read_number();
    t->x = malloc((t->n * t->d + 1) * sizeof *t->x);
    t->label = malloc((t->n + 1) * sizeof *t->label);
    if (!t->x || !t->label) fail("out of memory");
    for (size_t i = 0; i < t->n; ++i) {
        for (size_t j = 0; j < t->d; ++j) t->x[i * t->d + j] = read_number();
        t->label[i] = (size_t)read_number();
    }
    t->query = read_numbers(t->m * t->d);
    must(t->ctx, hf_kernel_parse(t->ctx, expression, NULL, t->d + 1, &t->kernel), "kernel");
    if (count != hf_kernel_parameters(t->kernel)) fail("the kernel has another number of parameters");
    hfi_kernel_set_theta(t->kernel, theta);
    must(t->ctx, hf_mean_create_outputs(t->ctx, t->d + 1, t->classes, &t->mean), "mean");
    must(t->ctx, hf_mean_set(t->ctx, t->mean, means, true), "mean");
    free(theta);
    free(means);
}

static json_t *evidence(const task *t)
{
    hfi_softmax_problem p;
    double gradient[64], value;
    const size_t count = hf_kernel_parameters(t->kernel) + t->classes;
    if (count > 64) fail("too many parameters");
    must(t->ctx, hfi_softmax_init(t->ctx, t->kernel, t->mean, t->n, t->x, t->d, t->label, t->classes, &p),
         "init");
    must(t->ctx, hfi_softmax_evaluate(&p, &value, gradient), "evaluate");
    json_t *out =
        json_pack("{sb so so so}", "converged", (int)p.converged, "value", number_json(value), "gradient",
                  array_json(count, gradient), "latent", array_json(t->classes * t->n, p.latent));
    hfi_softmax_free(&p);
    return out;
}

/* Covariances by the posterior's own function, from rows that end in the number of the class. */
static json_t *covariances(const task *t, const hf_posterior *posterior)
{
    const size_t c = t->classes, d = t->d + 1;
    double *rows = malloc(c * d * sizeof *rows), *v = malloc((t->m * c * c + 1) * sizeof *v);
    if (!rows || !v) fail("out of memory");
    for (size_t i = 0; i < t->m; ++i) {
        for (size_t a = 0; a < c; ++a) {
            for (size_t j = 0; j < t->d; ++j) rows[a * d + j] = t->query[i * t->d + j];
            rows[a * d + t->d] = (double)a;
        }
        must(t->ctx, hf_predict_covariance(t->ctx, posterior, c, rows, d, v + i * c * c, c), "covariance");
    }
    json_t *out = array_json(t->m * c * c, v);
    free(rows);
    free(v);
    return out;
}

static void predictions(const task *t, json_t *out)
{
    const size_t cells = t->m * t->classes;
    hf_posterior *posterior;
    double *room = malloc((3 * cells + t->m + 1) * sizeof *room);
    if (!room) fail("out of memory");
    must(t->ctx,
         hfi_softmax_posterior(t->ctx, t->kernel, t->mean, t->n, t->x, t->d, t->label, t->classes, false,
                               &posterior, NULL),
         "posterior");
    must(t->ctx,
         hfi_softmax_predict(t->ctx, posterior, t->classes, NULL, t->m, t->query, t->d, room, NULL,
                             room + cells, room + 2 * cells, room + 3 * cells),
         "predict");
    json_object_set_new(out, "probability", array_json(cells, room));
    json_object_set_new(out, "mean", array_json(cells, room + cells));
    json_object_set_new(out, "variance", array_json(cells, room + 2 * cells));
    json_object_set_new(out, "error", array_json(t->m, room + 3 * cells));
    json_object_set_new(out, "covariance", covariances(t, posterior));
    hf_posterior_free(posterior);
    free(room);
}

int main(void)
{
    task t = {.ctx = hf_context_create()};
    if (!t.ctx) fail("out of memory");
    read_task(&t);
    json_t *out = evidence(&t);
    if (!out) fail("out of memory");
    predictions(&t, out);
    print_json(out);
    hf_kernel_free(t.kernel);
    hf_mean_free(t.mean);
    free(t.x);
    free(t.query);
    free(t.label);
    hf_context_free(t.ctx);
    return 0;
}
