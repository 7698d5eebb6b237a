/* SPDX-License-Identifier: Apache-2.0 */
/* Points where an exported file is compared with the library: here, in the precision it has, and by its self-test. */
#include "export/export_c.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- points --------------------------------------------------------------------------------------------- */

void hfi_probe_points(const hf_kernel *kernel, const hfi_scaling *scaling, size_t n, const double *z,
                      bool single, size_t count, bool *code, double *x)
{
    const size_t d = scaling->d;
    hfi_kernel_codes(kernel, code);
    for (size_t p = 0; p < count; p++) {
        const size_t a = n > 0 ? p * n / count : 0, b = n > 0 ? (a + n / 2) % n : 0;
        for (size_t j = 0; j < d; j++) {
            const bool whole = code[j] || (scaling->shifts != NULL && j + 1 == d);
            const double at = n > 0 ? z[a * d + j] : 0.0, other = n > 0 ? z[b * d + j] : 0.0;
            const double scaled = whole || p % 2 == 0 ? at : 0.5 * at + 0.5 * other;
            const double value = scaled * scaling->x_scale[j] + scaling->x_shift[j];
            x[p * d + j] = single ? (double)(float)value : value;
        }
    }
}

static hf_status find_points(hf_context *ctx, const hf_posterior *posterior, bool single, hfi_probes *out)
{
    const hfi_solution *s = &posterior->solution;
    bool *code = hfi_alloc(ctx, out->d, sizeof *code);
    if (code == NULL) return HF_ERR_MEMORY;
    hfi_probe_points(posterior->kernel, &posterior->scaling, s->n, s->z, single, out->count, code, out->x);
    hfi_free(ctx, code);
    double *var = hfi_alloc(ctx, out->count, 3 * sizeof *var);
    if (var == NULL) return HF_ERR_MEMORY;
    const size_t m = out->count;
    const hf_status status = hf_predict(ctx, posterior, m, out->x, out->d, var, var + m, var + 2 * m);
    for (size_t p = 0; p < m && status >= 0; p++)
        for (size_t k = 0; k < 3; k++) out->answer[p * 3 + k] = var[k * m + p];
    hfi_free(ctx, var);
    return status;
}

/* ---- rehearsal: what single precision makes of them ------------------------------------------------------ */

/* All probes at once: k by probes, v and rest by columns of the factor. */
typedef struct rehearsal {
    const hfi_emitter *e;
    const hf_posterior *posterior;
    hfi_probes *probes;
    double *k, *prior, *own; /* covariances, prior variances and prior means */
    double *v;
    float *rest;
    double bulk,
        amplified; /* sum |t_i k_i|, and the sum of |v_j| sum_i |R_ij k_i|, which rounding of k is multiplied by */
    double variance; /* the error of the latent variance */
} rehearsal;

/* NaN is the largest of all. */
static void keep_largest(double value, double *most)
{
    if (isnan(value) || value > *most) *most = value;
}

static hf_status prepare_rehearsal(hf_context *ctx, rehearsal *r)
{
    const hfi_solution *s = &r->posterior->solution;
    const hf_kernel *kernel = r->posterior->kernel;
    const size_t m = r->probes->count;
    double *x = hfi_alloc(ctx, m * s->d + hfi_kernel_scratch(kernel), sizeof *x);
    if (x == NULL) return HF_ERR_MEMORY;
    hfi_scaling_inputs(&r->posterior->scaling, m, r->probes->x, s->d, x);
    hfi_kernel_cross_block(kernel, m, x, s->d, s->n, s->z, s->d, r->k, s->n, x + m * s->d);
    hfi_kernel_diagonal(kernel, m, x, s->d, true, r->prior);
    hf_mean_evaluate(r->posterior->mean, m, x, s->d, r->own);
    hfi_free(ctx, x);
    for (size_t p = 0; p < m; p++) {
        double bulk = 0.0;
        for (size_t i = 0; i < s->n; i++) bulk += fabs(s->t[i] * r->k[p * s->n + i]);
        keep_largest(bulk + fabs(r->own[p]), &r->bulk);
    }
    return HF_OK;
}

/* R' k of the dense form; else what is solved for. */
static void gather_probe_columns(rehearsal *r, size_t rank)
{
    const hfi_solution *s = &r->posterior->solution;
    const size_t m = r->probes->count;
    memset(r->v, 0, rank * m * sizeof *r->v);
    for (size_t p = 0; p < m; p++) {
        const double *k = r->k + p * s->n;
        double amplified = 0.0;
        for (size_t i = 0; i < s->n && s->form != HFI_FORM_DENSE; i++)
            r->v[(s->form == HFI_FORM_EXACT ? i : s->block[i]) * m + p] +=
                s->form == HFI_FORM_EXACT ? k[i] : s->entry[i] * k[i];
        for (size_t j = 0; j < rank && s->form == HFI_FORM_DENSE; j++) {
            double size = 0.0, *v = &r->v[j * m + p];
            for (size_t i = 0; i < s->n; i++) {
                *v += s->r[i + j * s->n] * k[i];
                size += fabs(s->r[i + j * s->n] * k[i]);
            }
            amplified += size * fabs(*v);
        }
        keep_largest(amplified, &r->amplified);
    }
}

/* L v = v as the file does it. */
static void solve_split_factor(rehearsal *r, const hfi_split_factor *s)
{
    const size_t m = r->probes->count, n = s->n;
    for (size_t i = 0; i < n; i++) {
        double *v = r->v + i * m;
        float rest[HFI_EXPORT_PROBES] = {0.0f};
        for (size_t j = 0; j < i; j++) {
            const double entry = s->t[i + j * n];
            if (entry == 0.0) continue; /* a column of zeros has no step */
            for (size_t p = 0; p < m && j < s->lead; p++) v[p] -= entry * r->v[j * m + p];
            for (size_t p = 0; p < m && j >= s->lead; p++)
                rest[p] += (float)(entry / s->step[j]) * r->rest[j * m + p];
        }
        for (size_t p = 0; p < m; p++) {
            v[p] = (v[p] - (double)rest[p]) / s->t[i + i * n];
            r->rest[i * m + p] = (float)(v[p] * s->step[i]);
        }
    }
}

/* The largest error of the latent standard deviation, in scales of the target. */
static double spread_error(rehearsal *r, size_t rank, const hfi_split_factor *split)
{
    const size_t m = r->probes->count, d = r->probes->d;
    const hfi_scaling *scaling = &r->posterior->scaling;
    double most = 0.0;
    gather_probe_columns(r, rank);
    if (split != NULL) solve_split_factor(r, split);
    r->variance = 0.0;
    for (size_t p = 0; p < m; p++) {
        const double scale = hfi_scaling_scale(scaling, hfi_scaling_output(scaling, r->probes->x + p * d));
        const double exact = r->probes->answer[p * 3 + 1] / scale / scale;
        double latent = r->prior[p];
        for (size_t j = 0; j < rank; j++) latent -= r->v[j * m + p] * r->v[j * m + p];
        latent = hfi_variance_clamp(latent);
        const double told = (double)(float)(sqrt(latent) * scale) / scale;
        keep_largest(fabs(latent - exact), &r->variance);
        keep_largest(fabs(told - sqrt(exact)), &most);
    }
    return most;
}

/* Factors with so many leading columns; whether that is enough. */
static bool split_with(rehearsal *r, hfi_split_factor *split, size_t lead, double *room)
{
    const hfi_solution *s = &r->posterior->solution;
    const double enough = split->compact ? 5e-6 : 2.5e-7;
    const size_t ld = s->form == HFI_FORM_EXACT ? s->capacity : split->n;
    split->lead = lead;
    if (!hfi_split_make(split, s->factor, ld, true, room) &&
        (lead < split->n || !hfi_split_make(split, s->factor, ld, false, room)))
        return false;
    r->probes->sd_error = spread_error(r, split->n, split);
    return lead == split->n || r->probes->sd_error <= enough;
}

/* Twice as many columns lead until that is enough, or all do; then as few as are. */
static hf_status split_factor(hf_context *ctx, rehearsal *r, hfi_split_factor *split, size_t n)
{
    const size_t near = n / 64 + 1;
    size_t good = 0, bad = 0;
    double *room = hfi_alloc(ctx, 2 * n + 1, sizeof *room);
    split->n = n;
    split->t = room != NULL ? hfi_alloc(ctx, n, (n + 1) * sizeof *split->t) : NULL;
    bool ready = false, asked = split->t != NULL;
    split->step = asked ? split->t + n * n : NULL;
    while (asked && !ready) {
        ready = split_with(r, split, good, room);
        asked = hfi_progress(ctx, "round", (double)good / (double)n, NAN);
        if (ready) break;
        bad = good;
        good = good == 0 ? hfi_smaller(4, n) : 4 * good < n ? 2 * good : n;
    }
    while (asked && good > bad + near) {
        const size_t middle = bad + (good - bad) / 2;
        ready = split_with(r, split, middle, room);
        asked = hfi_progress(ctx, "round", (double)middle / (double)n, NAN);
        *(ready ? &good : &bad) = middle;
    }
    if (asked && split->lead != good) split_with(r, split, good, room);
    hfi_free(ctx, room);
    return split->t == NULL ? HF_ERR_MEMORY : asked ? HF_OK : hfi_cancelled(ctx);
}

static hf_status measure_spread(hf_context *ctx, rehearsal *r, hfi_split_factor *split)
{
    const hfi_solution *s = &r->posterior->solution;
    const size_t rank = hfi_solution_rank(s);
    if (s->form != HFI_FORM_DENSE) return split_factor(ctx, r, split, rank);
    r->probes->sd_error = spread_error(r, rank, NULL);
    return HF_OK;
}

/* Answers are rounded to float. */
static void measure_mean(rehearsal *r)
{
    const hfi_solution *s = &r->posterior->solution;
    for (size_t p = 0; p < r->probes->count; p++) {
        const size_t output = hfi_scaling_output(&r->posterior->scaling, r->probes->x + p * s->d);
        const double scale = hfi_scaling_scale(&r->posterior->scaling, output);
        double sum = r->own[p];
        for (size_t i = 0; i < s->n; i++) sum += s->t[i] * r->k[p * s->n + i];
        const float told = (float)(sum * scale + hfi_scaling_shift(&r->posterior->scaling, output));
        keep_largest(fabs((double)told - r->probes->answer[p * 3]) / scale, &r->probes->mean_error);
    }
}

/* Differences that the self-test allows: rounding of double, and what was measured here of float. */
static void set_limits(const rehearsal *r, hfi_probes *out)
{
    const hf_posterior *posterior = r->posterior;
    const double kappa = fmax(1.0, hf_posterior_calibration(posterior));
    double shift = 0.0, prior = 0.0, observed = 0.0;
    for (size_t t = 0; t < posterior->scaling.outputs; t++)
        keep_largest(fabs(hfi_scaling_shift(&posterior->scaling, t)) /
                         hfi_scaling_scale(&posterior->scaling, t),
                     &shift);
    for (size_t p = 0; p < out->count; p++) {
        const size_t output = hfi_scaling_output(&posterior->scaling, out->x + p * out->d);
        const double scale = hfi_scaling_scale(&posterior->scaling, output);
        keep_largest(r->prior[p], &prior);
        keep_largest(out->answer[p * 3 + 2] / scale / scale, &observed);
    }
    out->mean_limit = 1e-12 + 16.0 * DBL_EPSILON * (r->bulk + shift);
    out->var_limit = kappa * (1e-12 * (1.0 + prior) + 16.0 * DBL_EPSILON * r->amplified);
    if (!r->e->single) return;
    out->mean_limit += 4.0 * out->mean_error + (double)FLT_EPSILON;
    out->var_limit += kappa * 4.0 * r->variance + 4.0 * (double)FLT_EPSILON * observed;
}

static hf_status rehearse(hf_context *ctx, hfi_emitter *e, const hf_posterior *posterior, hfi_probes *out)
{
    const size_t n = posterior->solution.n, rank = hfi_solution_rank(&posterior->solution), m = out->count;
    rehearsal r = {.e = e, .posterior = posterior, .probes = out};
    double *room = hfi_alloc(ctx, (n + rank + 2) * m, sizeof *room);
    r.rest = hfi_alloc(ctx, rank * m + 1, sizeof *r.rest);
    hf_status status = room != NULL && r.rest != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        r.prior = room;
        r.own = r.prior + m;
        r.k = r.own + m;
        r.v = r.k + n * m;
        status = prepare_rehearsal(ctx, &r);
    }
    if (status >= 0) {
        if (e->single) measure_mean(&r);
        e->split.compact = e->compact;
        if (e->single && !e->mean_only)
            status = measure_spread(ctx, &r, &e->split);
        else if (!e->mean_only)
            gather_probe_columns(&r, rank);
        set_limits(&r, out);
    }
    HFI_FREE(ctx, r.rest, room);
    return status;
}

hf_status hfi_probes_make(hf_context *ctx, hfi_emitter *e, const hf_posterior *posterior, hfi_probes *out)
{
    *out = (hfi_probes){.count = HFI_EXPORT_PROBES, .d = posterior->solution.d};
    out->x = hfi_alloc(ctx, out->count, (out->d + 3) * sizeof *out->x);
    if (out->x == NULL) return HF_ERR_MEMORY;
    out->answer = out->x + out->count * out->d;
    hf_status status = find_points(ctx, posterior, e->single, out);
    if (status >= 0) status = rehearse(ctx, e, posterior, out);
    if (status < 0) hfi_probes_free(ctx, out);
    return status;
}

void hfi_probes_free(hf_context *ctx, hfi_probes *probes)
{
    hfi_free(ctx, probes->x);
    *probes = (hfi_probes){0};
}

/* ---- the self-test -------------------------------------------------------------------------------------- */

static void write_cases(hfi_emitter *e, const hf_model *model, const hfi_readout *readout,
                        const hfi_probes *probes)
{
    hfi_emit(
        e,
        "\n#ifdef HOLDFAST_SELF_TEST\n"
        "/* Inputs, then mean, sd_latent, sd_observed%s by the library, and the unit of differences. */\n"
        "static const struct {\n    `_real x[`_INPUTS];\n    unsigned output;\n    double expected[4], "
        "unit;\n"
        "} test_cases[%zu] = {\n",
        readout->fields[0] != '\0' ? " and the field of its own" : "", probes->count);
    for (size_t p = 0; p < probes->count; p++) {
        const double *row = probes->x + p * probes->d;
        const size_t output = hfi_scaling_output(&model->posterior->scaling, row);
        double expected[4] = {0.0}, unit = 1.0;
        readout->expect(model, output, probes->answer + p * 3, expected, &unit);
        hfi_emit(e, "    {{");
        for (size_t j = 0; j < model->d; j++) {
            hfi_emit_real(e, row[j]);
            hfi_emit(e, j + 1 < model->d ? ", " : "}, ");
        }
        hfi_emit(e, "%zuU, {", output);
        for (size_t k = 0; k < 4; k++) {
            hfi_emit_number(e, e->mean_only && k > 0 ? 0.0 : expected[k]);
            hfi_emit(e, k < 3 ? ", " : "}, ");
        }
        hfi_emit_number(e, unit);
        hfi_emit(e, "},\n");
    }
    hfi_emit(e, "};\n");
}

static void write_check(hfi_emitter *e, const hfi_probes *probes)
{
    hfi_emit(e, "\n/* 1 if a and b differ by more than limit; the largest difference is kept. */\n"
                "static int differs(double a, double b, double limit, double *most)\n{\n"
                "    const double apart = fabs(a - b);\n    if (!(apart <= *most)) {\n        *most = "
                "apart;\n    }\n"
                "    return (apart <= limit) ? 0 : 1;\n}\n\nstatic const double mean_limit = ");
    hfi_emit_number(e, probes->mean_limit);
    if (!e->mean_only) {
        hfi_emit(e, ", var_limit = ");
        hfi_emit_number(e, probes->var_limit);
    }
    hfi_emit(e, ";\n");
    if (!e->mean_only) hfi_emit(e, "\nstatic double squared(double a)\n{\n    return a * a;\n}\n");
}

static void write_main(hfi_emitter *e, const char *call, const char *own, size_t count)
{
    hfi_emit(e,
             "\nint main(void)\n{\n    double mean_most = 0.0, var_most = 0.0;\n    int wrong = 0;\n"
             "    unsigned i;\n    for (i = 0U; i < %zuU; i++) {\n        `_result r;\n"
             "        const double unit = test_cases[i].unit, *want = test_cases[i].expected;\n"
             "        int bad = `(test_cases[i].x, %s&r);\n"
             "        bad += differs((double)r.mean / unit, want[0] / unit, mean_limit, &mean_most);\n",
             count, call);
    if (!e->mean_only)
        hfi_emit(e,
                 "        bad += differs(squared((double)r.sd_latent / unit), squared(want[1] / "
                 "unit), var_limit, &var_most);\n"
                 "        bad += differs(squared((double)r.sd_observed / unit), squared(want[2] / "
                 "unit), var_limit, &var_most);\n%s"
                 "        (void)printf(\"%%2u  mean %%.9g  sd_latent %%.9g  sd_observed %%.9g%%s\\n\", i, "
                 "(double)r.mean, (double)r.sd_latent,\n                     (double)r.sd_observed, "
                 "(bad == 0) ? \"\" : \"  WRONG\");\n",
                 own);
    else
        hfi_emit(e, "        (void)printf(\"%%2u  mean %%.9g%%s\\n\", i, (double)r.mean, (bad == 0) ? \"\" : "
                    "\"  WRONG\");\n");
    hfi_emit(
        e, "        wrong += (bad == 0) ? 0 : 1;\n    }\n"
           "    (void)printf(\"largest differences: mean %%.2g of the target's scale, variance %%.2g of its "
           "square\\n\",\n                 (double)mean_most, (double)var_most);\n"
           "    (void)printf((wrong == 0) ? \"self-test passed\\n\" : \"self-test FAILED\\n\");\n"
           "    return (wrong == 0) ? 0 : 1;\n}\n#endif\n");
}

void hfi_emit_self_test(hfi_emitter *e, const hf_model *model, const hfi_readout *readout,
                        const hfi_probes *probes)
{
    write_cases(e, model, readout, probes);
    write_check(e, probes);
    write_main(e, hfi_export_named(model) ? "test_cases[i].output, " : "", readout->check, probes->count);
}
