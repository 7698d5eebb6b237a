/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file closed_values.c
 * @brief Closed envelopes and what they are compared with, one question per line, one JSON object per answer.
 *
 *     kernel D EXPRESSION        the expression is the rest of the line
 *     readings N NORM JITTER     then N rows: inputs, reading, noise bound
 *     queries M                  then M rows: inputs
 *     closed METHOD RIDGE SITE SD P    METHOD 0 to 3: {"status", "radius", "lower", "upper", "centre"}
 *     optimal                    {"minimum_norm", "lower", "upper"}
 *     norm POINTS                {"readings", "norm"}
 */
#include "read_text.h"

#include <string.h>

typedef struct problem {
    hf_context *ctx;
    hf_kernel *kernel;
    size_t d, n, m;
    double norm, jitter;
    double *x, *y, *noise, *at;
} problem;

static void read_kernel(problem *p)
{
    static char text[1 << 16];
    p->d = (size_t)read_number();
    if (!fgets(text, sizeof text, stdin)) fail("an expression was expected");
    text[strcspn(text, "\n")] = '\0';
    hf_kernel_free(p->kernel);
    p->kernel = NULL;
    must(p->ctx, hf_kernel_parse(p->ctx, text, NULL, p->d, &p->kernel), text);
}

static void read_readings(problem *p)
{
    p->n = (size_t)read_number();
    p->norm = read_number();
    p->jitter = read_number();
    free(p->x);
    free(p->y);
    p->x = malloc((p->n * p->d + 1) * sizeof *p->x);
    p->y = malloc((2 * p->n + 1) * sizeof *p->y);
    if (!p->x || !p->y) fail("out of memory");
    p->noise = p->y + p->n;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->d; j++) p->x[i * p->d + j] = read_number();
        p->y[i] = read_number();
        p->noise[i] = read_number();
    }
}

static hf_bounded_readings readings_of(const problem *p)
{
    return (hf_bounded_readings){.n = p->n, .x = p->x, .ldx = p->d, .y = p->y, .below = p->noise};
}

static hf_envelope *envelope_of(const problem *p)
{
    const hf_bounded_readings readings = readings_of(p);
    hf_envelope_settings settings = hf_envelope_settings_default();
    hf_envelope *envelope = NULL;
    settings.jitter = p->jitter;
    must(p->ctx, hf_envelope_create(p->ctx, p->kernel, &readings, p->norm, &settings, &envelope), "envelope");
    return envelope;
}

static json_t *closed(const problem *p)
{
    const int method = (int)read_number();
    hf_closed_settings settings = hf_closed_settings_default();
    settings.ridge = read_number();
    settings.site = read_number();
    settings.noise_sd = read_number();
    settings.probability = read_number();
    hf_envelope *envelope = envelope_of(p);
    hf_closed_envelope *form = NULL;
    double *out = malloc((3 * p->m + 1) * sizeof *out);
    if (!out) fail("out of memory");
    const hf_status status =
        hf_closed_envelope_create(p->ctx, envelope, (hf_closed_method)method, &settings, &form);
    must(p->ctx, status, "closed form");
    must(p->ctx, hf_closed_envelope_bounds(p->ctx, form, p->m, p->at, p->d, out, out + p->m, out + 2 * p->m),
         "bounds");
    json_t *answer = json_pack("{si sf so so so}", "status", (int)status, "radius",
                               hf_closed_envelope_radius(form), "lower", array_json(p->m, out), "upper",
                               array_json(p->m, out + p->m), "centre", array_json(p->m, out + 2 * p->m));
    hf_closed_envelope_free(form);
    hf_envelope_free(envelope);
    free(out);
    return answer;
}

static json_t *optimal(const problem *p)
{
    hf_envelope *envelope = envelope_of(p);
    hf_bound *bound = malloc((p->m + 1) * sizeof *bound);
    json_t *lower = json_array(), *upper = json_array();
    if (!bound) fail("out of memory");
    must(p->ctx, hf_envelope_bounds_batch(p->ctx, envelope, p->m, p->at, p->d, NULL, bound), "bounds");
    for (size_t q = 0; q < p->m; q++) {
        json_array_append_new(lower, json_real(bound[q].lower));
        json_array_append_new(upper, json_real(bound[q].upper));
    }
    json_t *answer = json_pack("{sf so so}", "minimum_norm", hf_envelope_minimum_norm(envelope), "lower",
                               lower, "upper", upper);
    hf_envelope_free(envelope);
    free(bound);
    return answer;
}

static json_t *norm(const problem *p)
{
    const size_t points = (size_t)read_number();
    const hf_bounded_readings readings = readings_of(p);
    hf_norm_point *curve = malloc((points + 1) * sizeof *curve);
    json_t *counts = json_array(), *norms = json_array();
    if (!curve) fail("out of memory");
    must(p->ctx, hf_norm_estimate(p->ctx, p->kernel, &readings, points, curve), "norm");
    for (size_t k = 0; k < points; k++) {
        json_array_append_new(counts, json_integer((json_int_t)curve[k].readings));
        json_array_append_new(norms, json_real(curve[k].norm));
    }
    free(curve);
    return json_pack("{so so}", "readings", counts, "norm", norms);
}

int main(void)
{
    problem p = {.ctx = hf_context_create()};
    char word[32];
    if (!p.ctx) fail("out of memory");
    while (scanf("%31s", word) == 1) {
        if (strcmp(word, "kernel") == 0) {
            read_kernel(&p);
        } else if (strcmp(word, "readings") == 0) {
            read_readings(&p);
        } else if (strcmp(word, "queries") == 0) {
            p.m = (size_t)read_number();
            free(p.at);
            p.at = read_numbers(p.m * p.d);
        } else if (strcmp(word, "closed") == 0) {
            print_json(closed(&p));
        } else if (strcmp(word, "optimal") == 0) {
            print_json(optimal(&p));
        } else if (strcmp(word, "norm") == 0) {
            print_json(norm(&p));
        } else {
            fail("unknown question");
        }
    }
    free(p.x);
    free(p.y);
    free(p.at);
    hf_kernel_free(p.kernel);
    hf_context_free(p.ctx);
    return 0;
}
