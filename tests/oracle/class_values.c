/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_values.c
 * @brief Numbers that follow from labels of two classes, for comparison with scikit-learn and with plain numpy.
 *
 * Standard input: a line with the kernel, then numbers: its parameters on the training scale (how many, and
 * they), the mean, n, d, the number of inducing inputs m, the number of queries q; n rows of inputs; n
 * labels; q rows of queries. Standard output: one JSON object for each link and inference: "evidence",
 * "gradient", "mean", "variance", "probability", "error" at the queries, by the exact solver. "vfe", "fitc"
 * and "dtc" have the first m rows as inducing inputs; each is an object with "evidence" and "latent", less the prior
 * mean, at the rows.
 */
#include "read_text.h"

#include "classify/classify.h"

typedef struct task {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    size_t n, d, m, q, *label;
    double *x, *query;
} task;

static void read_task(task *t)
{
    char expression[256];
    if (scanf(" %255[^\n]", expression) != 1) fail("a kernel was expected");
    const size_t count = (size_t)read_number();
    double *theta = read_numbers(count), mean = read_number();
    t->n = (size_t)read_number();
    t->d = (size_t)read_number();
    t->m = (size_t)read_number();
    t->q = (size_t)read_number();
    t->x = read_numbers(t->n * t->d);
    double *label = read_numbers(t->n);
    t->query = read_numbers(t->q * t->d);
    must(t->ctx, hf_kernel_parse(t->ctx, expression, NULL, t->d, &t->kernel), "kernel");
    if (count != hf_kernel_parameters(t->kernel)) fail("the kernel has another number of parameters");
    hfi_kernel_set_theta(t->kernel, theta);
    must(t->ctx, hf_mean_create(t->ctx, HF_MEAN_CONSTANT, t->d, &t->mean), "mean");
    must(t->ctx, hf_mean_set(t->ctx, t->mean, &mean, true), "mean");
    t->label = malloc((t->n + 1) * sizeof *t->label);
    if (!t->label) fail("out of memory");
    for (size_t i = 0; i < t->n; i++) t->label[i] = (size_t)label[i];
    free(theta);
    free(label);
}

static json_t *inducing(task *t, hf_link link, hf_inference inference, hf_inducing_method method)
{
    hfi_inducing u;
    hfi_latent_problem p;
    double value = 0.0, *y = malloc((t->n + 1) * sizeof *y);
    if (!y) fail("out of memory");
    hfi_class_readings(t->n, t->label, y);
    must(t->ctx, hfi_inducing_init(t->ctx, method, t->m, t->d, t->x, t->d, &u), "inducing inputs");
    const hfi_latent_given given = {
        .kernel = t->kernel, .mean = t->mean, .rows = t->n, .x = t->x, .ldx = t->d, .y = y, .inducing = &u};
    must(t->ctx, hfi_latent_problem_init(t->ctx, hfi_class_likelihood(link), inference, &given, &p),
         "problem");
    must(t->ctx, hfi_latent_evaluate(&p, &value, NULL), "evidence");
    json_t *out = json_pack("{sb so so}", "converged", (int)p.converged, "evidence", number_json(value),
                            "latent", array_json(p.n, p.latent));
    hfi_latent_problem_free(&p);
    free(y);
    hfi_inducing_free(&u);
    return out;
}

static json_t *answers(task *t, hf_link link, hf_inference inference)
{
    double value = 0.0, gradient[64], *room = malloc((5 * t->q + 1) * sizeof *room);
    const size_t count = hf_kernel_parameters(t->kernel) + 1, q = t->q;
    hf_classifier *c = NULL;
    if (!room || count > 64) fail("too much of something");
    must(t->ctx,
         hf_class_evidence(t->ctx, link, inference, t->kernel, t->mean, t->n, t->x, t->d, t->label, 2, &value,
                           gradient),
         "evidence");
    must(t->ctx,
         hf_classify_exact(t->ctx, link, inference, t->kernel, t->mean, t->n, t->x, t->d, t->label, 2, &c,
                           NULL),
         "classifier");
    must(t->ctx,
         hf_classify_predict(t->ctx, c, q, t->query, t->d, room, NULL, room + 2 * q, room + 3 * q,
                             room + 4 * q),
         "predict");
    for (size_t i = 0; i < q; i++) room[i] = room[2 * i + 1];
    json_t *out = json_pack("{so so so so so so}", "evidence", number_json(value), "gradient",
                            array_json(count, gradient), "probability", array_json(q, room), "mean",
                            array_json(q, room + 2 * q), "variance", array_json(q, room + 3 * q), "error",
                            array_json(q, room + 4 * q));
    for (int k = 0; k <= HF_INDUCING_DTC; k++)
        json_object_set_new(out, hf_enum_name(HF_ENUM_INDUCING_METHOD, (unsigned)k),
                            inducing(t, link, inference, (hf_inducing_method)k));
    hf_classifier_free(c);
    free(room);
    return out;
}

int main(void)
{
    task t = {.ctx = hf_context_create()};
    json_t *out = json_object();
    if (!t.ctx || !out) fail("out of memory");
    read_task(&t);
    for (int link = HF_LINK_PROBIT; link <= HF_LINK_LOGIT; link++)
        for (int k = 0; k <= HF_INFERENCE_EP; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s %s", hf_enum_name(HF_ENUM_LINK, (unsigned)link),
                     hf_enum_name(HF_ENUM_INFERENCE, (unsigned)k));
            json_object_set_new(out, name, answers(&t, (hf_link)link, (hf_inference)k));
        }
    print_json(out);
    hf_kernel_free(t.kernel);
    hf_mean_free(t.mean);
    free(t.label);
    free(t.x);
    free(t.query);
    hf_context_free(t.ctx);
    return 0;
}
