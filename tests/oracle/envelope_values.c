/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope_values.c
 * @brief Optimal bounds and what is said about consistency, for comparison with other software.
 *
 * Standard input: lines "kernel EXPRESSION", "norm G", "jitter J", and last "data N D M", N rows of inputs,
 * reading and the two noise bounds, M rows of inputs to ask at. Standard output: one JSON object.
 */
#include "read_text.h"

#include <string.h>

typedef struct task {
    char kernel[256];
    double norm, jitter;
    size_t n, d, m;
    double *x, *y, *below, *above, *query;
} task;

static void read_task(task *t)
{
    char word[64];
    while (scanf("%63s", word) == 1) {
        if (strcmp(word, "kernel") == 0) {
            if (scanf(" %255[^\n]", t->kernel) != 1) fail("a kernel was expected");
        } else if (strcmp(word, "norm") == 0) {
            t->norm = read_number();
        } else if (strcmp(word, "jitter") == 0) {
            t->jitter = read_number();
        } else if (strcmp(word, "data") == 0) {
            t->n = (size_t)read_number();
            t->d = (size_t)read_number();
            t->m = (size_t)read_number();
            break;
        } else {
            fail("unknown word");
        }
    }
    t->x = malloc((t->n * t->d + 1) * sizeof(double));
    t->y = malloc((t->n + 1) * sizeof(double));
    t->below = malloc((t->n + 1) * sizeof(double));
    t->above = malloc((t->n + 1) * sizeof(double));
    if (!t->x || !t->y || !t->below || !t->above) fail("out of memory");
    for (size_t i = 0; i < t->n; ++i) {
        for (size_t j = 0; j < t->d; ++j) t->x[i * t->d + j] = read_number();
        t->y[i] = read_number();
        t->below[i] = read_number();
        t->above[i] = read_number();
    }
    t->query = read_numbers(t->m * t->d);
}

static void write_consistency(hf_context *ctx, const task *t, const hf_kernel *kernel,
                              const hf_bounded_readings *readings, json_t *out)
{
    hf_consistency report;
    size_t *conflict = malloc((t->n + 1) * sizeof *conflict);
    if (!conflict) fail("out of memory");
    must(ctx, hf_envelope_consistency(ctx, kernel, readings, t->norm, &report, conflict), "consistency");
    json_t *rows = json_array();
    for (size_t i = 0; i < report.conflicting; ++i)
        json_array_append_new(rows, json_integer((json_int_t)conflict[i]));
    json_object_set_new(out, "minimum_norm", number_json(report.minimum_norm));
    json_object_set_new(out, "noise_factor", number_json(report.noise_factor));
    json_object_set_new(out, "conflict", rows);
    free(conflict);
}

/* A field of all bounds. */
static json_t *column(size_t m, const hf_bound *bound, size_t offset)
{
    json_t *array = json_array();
    for (size_t q = 0; q < m; ++q) {
        double value;
        memcpy(&value, (const char *)&bound[q] + offset, sizeof value);
        json_array_append_new(array, number_json(value));
    }
    return array;
}

static void write_bounds(hf_context *ctx, const task *t, const hf_envelope *envelope, json_t *out)
{
    hf_bound *bound = calloc(t->m + 1, sizeof *bound);
    if (!bound) fail("out of memory");
    must(ctx, hf_envelope_bounds_batch(ctx, envelope, t->m, t->query, t->d, NULL, bound), "bounds");
    json_object_set_new(out, "lower", column(t->m, bound, offsetof(hf_bound, lower)));
    json_object_set_new(out, "upper", column(t->m, bound, offsetof(hf_bound, upper)));
    json_object_set_new(out, "gap_lower", column(t->m, bound, offsetof(hf_bound, gap_lower)));
    json_object_set_new(out, "gap_upper", column(t->m, bound, offsetof(hf_bound, gap_upper)));
    free(bound);
}

int main(void)
{
    task t = {.jitter = 0.0};
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_envelope *envelope = NULL;
    json_t *out = json_object();
    if (!ctx || !out) fail("out of memory");
    read_task(&t);
    const hf_bounded_readings readings = {
        .n = t.n, .x = t.x, .ldx = t.d, .y = t.y, .below = t.below, .above = t.above};
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.jitter = t.jitter;
    must(ctx, hf_kernel_parse(ctx, t.kernel, NULL, t.d, &kernel), "kernel");
    write_consistency(ctx, &t, kernel, &readings, out);
    const hf_status status = hf_envelope_create(ctx, kernel, &readings, t.norm, &settings, &envelope);
    json_object_set_new(out, "status", json_string(hf_status_name(status)));
    json_object_set_new(out, "message", json_string(hf_context_message(ctx)));
    if (status >= 0) write_bounds(ctx, &t, envelope, out);
    print_json(out);
    hf_envelope_free(envelope);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    free(t.x);
    free(t.y);
    free(t.below);
    free(t.above);
    free(t.query);
    return 0;
}
