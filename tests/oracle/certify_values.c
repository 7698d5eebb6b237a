/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_values.c
 * @brief Bounds over boxes for comparison with other software: one question per line, one JSON object per
 * answer. Numbers whose last digit matters are hexadecimal texts.
 *
 *     posterior D EXPRESSION     the kernel; the rest of the line is the expression
 *     mean KIND COUNT b...       prior mean; zero without this line
 *     data N NOISE               N rows of inputs and target: solves, {"t", "z", "parameters" (name, value), "noise"}
 *     units x_shift[D] x_scale[D] y_shift y_scale
 *     bound lower[D] upper[D]    the kernel decomposition alone: {"lower", "upper"}; solver's units, centre
 *     and half-width from these
 *     range WHAT TOLERANCE NODES lower[D] upper[D]   rigorous; WHAT: mean, sd, probit or logit (the
 *     probability of that link of mean and sd): {"lower", "upper", "lower_attained", "upper_attained",
 *     "argmin", "argmax", "stop", "nodes", "norm"}
 *     value WHAT x[D]            rigorous: {"lower", "upper", "double" (hf_predict_latent)}
 */
#include "../certify/rigorous_testing.h"
#include "certify/quantities.h"
#include "decomposition/decomposition.h"
#include "read_text.h"
#include "rigorous/rigorous_impl.h"

#include <math.h>
#include <string.h>

typedef struct task {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_posterior *posterior;
    hfi_rigorous *rigorous;
    size_t d;
} task;

static json_t *hex(double value)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%a", value);
    return json_string(text);
}

static json_t *hex_array(size_t count, const double *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; ++i) json_array_append_new(array, hex(values[i]));
    return array;
}

static void read_posterior(task *t)
{
    static char text[1 << 12];
    t->d = (size_t)read_number();
    if (!fgets(text, sizeof text, stdin)) fail("an expression was expected");
    text[strcspn(text, "\n")] = '\0';
    hfi_rigorous_free(t->rigorous);
    hf_posterior_free(t->posterior);
    hf_kernel_free(t->kernel);
    hf_mean_free(t->mean);
    t->rigorous = NULL;
    t->posterior = NULL;
    must(t->ctx, hf_kernel_parse(t->ctx, text, NULL, t->d, &t->kernel), text);
    must(t->ctx, hf_mean_create(t->ctx, HF_MEAN_ZERO, t->d, &t->mean), "mean");
}

static void read_mean(task *t)
{
    char kind[32];
    hf_mean_kind parsed;
    if (scanf("%31s", kind) != 1) fail("a mean was expected");
    must(t->ctx, hf_enum_parse(t->ctx, HF_ENUM_MEAN_KIND, kind, &parsed), "mean");
    const size_t count = (size_t)read_number();
    double *values = read_numbers(count);
    hf_mean_free(t->mean);
    must(t->ctx, hf_mean_create(t->ctx, parsed, t->d, &t->mean), "mean");
    must(t->ctx, hf_mean_set(t->ctx, t->mean, values, true), "coefficients");
    free(values);
}

static json_t *parameters(const hf_kernel *kernel)
{
    json_t *array = json_array();
    for (size_t i = 0; i < hf_kernel_parameters(kernel); ++i) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) < 0) fail("parameter");
        json_array_append_new(array, json_pack("{ss so}", "name", p.name, "value", hex(p.value)));
    }
    return array;
}

static json_t *read_data(task *t)
{
    if (!t->kernel) fail("a kernel comes first");
    const size_t n = (size_t)read_number();
    const double noise = read_number();
    double *x = malloc((n * t->d + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
    hf_sites *sites = NULL;
    if (!x || !y) fail("out of memory");
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < t->d; ++j) x[i * t->d + j] = read_number();
        y[i] = read_number();
    }
    must(t->ctx, hf_sites_gaussian(t->ctx, n, y, noise, NULL, &sites), "sites");
    must(t->ctx, hf_solve_exact(t->ctx, t->kernel, t->mean, sites, x, t->d, &t->posterior), "solve");
    hf_sites_free(sites);
    free(x);
    free(y);
    const hfi_solution *s = &t->posterior->solution;
    return json_pack("{so so so so}", "t", hex_array(s->n, s->t), "z", hex_array(s->n * s->d, s->z),
                     "parameters", parameters(t->posterior->kernel), "jitter", hex(s->jitter));
}

static json_t *read_units(task *t)
{
    if (!t->posterior) fail("data come first");
    hfi_scaling *scaling = &t->posterior->scaling;
    for (size_t j = 0; j < t->d; ++j) scaling->x_shift[j] = read_number();
    for (size_t j = 0; j < t->d; ++j) scaling->x_scale[j] = read_number();
    scaling->y_shift = read_number();
    scaling->y_scale = read_number();
    return json_pack("{}");
}

static json_t *bound(task *t)
{
    if (!t->posterior) fail("data come first");
    const size_t d = t->d;
    double *lower = read_numbers(d), *upper = read_numbers(d), *room = calloc(4 * d + 1, sizeof *room);
    const hfi_subject subject = {.posterior = t->posterior, .d = d};
    void *state = NULL;
    if (!room) fail("out of memory");
    must(t->ctx, hfi_decomposition_create(t->ctx, &subject, &state), "bound");
    double *scratch = calloc(hfi_decomposition_scratch(state) + 1, sizeof *scratch);
    if (!scratch) fail("out of memory");
    hfi_enclosure out = {
        .gap_lower = room, .gap_upper = room + d, .at_lower = room + 2 * d, .at_upper = room + 3 * d};
    for (size_t j = 0; j < d; ++j) {
        const double half = 0.5 * (upper[j] - lower[j]);
        lower[j] = 0.5 * (lower[j] + upper[j]);
        upper[j] = half;
    }
    hfi_decomposition_mean(state, lower, upper, scratch, &out);
    hfi_decomposition_free(state);
    free(scratch);
    free(room);
    free(lower);
    free(upper);
    return json_pack("{so so}", "lower", number_json(out.lower), "upper", number_json(out.upper));
}

static const hfi_quantity *read_what(task *t)
{
    char word[16];
    if (!t->posterior) fail("data come first");
    if (scanf("%15s", word) != 1) fail("what was expected");
    if (t->rigorous == NULL)
        must(t->ctx, hfi_rigorous_create(t->ctx, NULL, t->posterior, true, &t->rigorous), "rigorous");
    if (strcmp(word, "probit") == 0) return &hfi_quantity_probit;
    if (strcmp(word, "logit") == 0) return &hfi_quantity_logit;
    return strcmp(word, "sd") == 0 ? &hfi_quantity_sd : &hfi_quantity_mean;
}

static json_t *range(task *t)
{
    const hfi_quantity *what = read_what(t);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = read_number();
    settings.node_limit = (size_t)read_number();
    double *lower = read_numbers(t->d), *upper = read_numbers(t->d), *at = calloc(2 * t->d, sizeof *at);
    hf_range r;
    if (!at) fail("out of memory");
    must(t->ctx, prove(t->ctx, t->posterior, t->rigorous, what, &settings, lower, upper, &r, at, at + t->d),
         "range");
    json_t *out = json_pack("{so so so so so so ss sI so}", "lower", hex(r.lower), "upper", hex(r.upper),
                            "lower_attained", hex(r.lower_attained), "upper_attained", hex(r.upper_attained),
                            "argmin", hex_array(t->d, at), "argmax", hex_array(t->d, at + t->d), "stop",
                            hf_enum_name(HF_ENUM_CERTIFY_STOP, r.stop), "nodes", (json_int_t)r.nodes, "norm",
                            hex(hfi_double_up(t->rigorous->norm)));
    free(lower);
    free(upper);
    free(at);
    return out;
}

static json_t *value(task *t)
{
    const hfi_quantity *what = read_what(t);
    double *x = read_numbers(t->d), lower, upper, mean, variance;
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(t->ctx, t->posterior);
    if (!workspace) fail("out of memory");
    const hf_certify_settings settings = {.beta = 1.0};
    must(t->ctx, prove_at(t->ctx, t->posterior, t->rigorous, what, &settings, x, &lower, &upper), "value");
    must(t->ctx, hf_predict_latent(t->posterior, workspace, x, &mean, &variance, NULL, NULL), "predict");
    hf_posterior_workspace_free(workspace);
    free(x);
    return json_pack("{so so so}", "lower", hex(lower), "upper", hex(upper), "double",
                     hex(what->value(what, 1.0, mean, sqrt(variance))));
}

int main(void)
{
    char word[32];
    task t = {.ctx = hf_context_create()};
    if (!t.ctx) fail("out of memory");
    while (scanf("%31s", word) == 1) {
        if (strcmp(word, "posterior") == 0)
            read_posterior(&t);
        else if (strcmp(word, "mean") == 0)
            read_mean(&t);
        else if (strcmp(word, "data") == 0)
            print_json(read_data(&t));
        else if (strcmp(word, "units") == 0)
            print_json(read_units(&t));
        else if (strcmp(word, "bound") == 0)
            print_json(bound(&t));
        else if (strcmp(word, "range") == 0)
            print_json(range(&t));
        else if (strcmp(word, "value") == 0)
            print_json(value(&t));
        else
            fail("unknown question");
    }
    hfi_rigorous_free(t.rigorous);
    hf_posterior_free(t.posterior);
    hf_kernel_free(t.kernel);
    hf_mean_free(t.mean);
    hf_context_free(t.ctx);
    return 0;
}
