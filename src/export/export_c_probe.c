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

/* ---- rehearsal: the same sums in float ------------------------------------------------------------------ */

typedef struct rehearsal {
    const hfi_emitter *e;
    const hfi_solution *s;
    float *v;
    size_t lead;      /* columns that are not compact */
    double amplified; /* the sum of |v_j| sum_i |R_ij k_i|, which rounding of k is multiplied by */
    double bulk;      /* sum |t_i k_i| */
} rehearsal;

/* L v = v with the entries that the file has; double ones are float in a single-precision file. */
static void solve(const rehearsal *r, size_t n, size_t ld)
{
    const double *l = r->s->factor;
    for (size_t i = 0; i < n; i++) {
        const size_t lead = r->e->compact ? r->lead : i;
        const double step = hfi_compact_step(l, ld, i, lead);
        float sum = 0.0f, steps = 0.0f;
        for (size_t j = 0; j < i && j < lead; j++) sum += (float)l[i + j * ld] * r->v[j];
        for (size_t j = lead; j < i; j++) steps += (float)hfi_compact_entry(l[i + j * ld], step) * r->v[j];
        sum += (float)step * steps;
        r->v[i] = (r->v[i] - sum) * (float)(1.0 / l[i + i * ld]);
    }
}

static void whiten(rehearsal *r, const double *k)
{
    const hfi_solution *s = r->s;
    const size_t rank = hfi_solution_rank(s);
    memset(r->v, 0, rank * sizeof *r->v);
    r->amplified = 0.0;
    if (s->form == HFI_FORM_DENSE) {
        for (size_t j = 0; j < rank; j++) {
            double size = 0.0;
            for (size_t i = 0; i < s->n; i++) {
                const double term = s->r[i + j * s->n] * k[i];
                r->v[j] += (float)s->r[i + j * s->n] * (float)k[i];
                size += fabs(term);
            }
            r->amplified += size * fabs((double)r->v[j]);
        }
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->form == HFI_FORM_EXACT)
            r->v[i] = (float)k[i];
        else
            r->v[s->block[i]] += (float)s->entry[i] * (float)k[i];
    }
    solve(r, rank, s->form == HFI_FORM_EXACT ? s->capacity : rank);
}

/* Errors at one probe, in scaled units. */
static void rehearse(rehearsal *r, const double *k, double prior, double *mean, double *latent)
{
    float sum = 0.0f, square = 0.0f;
    r->bulk = 0.0;
    for (size_t i = 0; i < r->s->n; i++) {
        sum += (float)r->s->t[i] * (float)k[i];
        r->bulk += fabs(r->s->t[i] * k[i]);
    }
    *mean = (double)sum;
    *latent = 0.0;
    r->amplified = 0.0;
    if (r->e->mean_only) return;
    whiten(r, k);
    const size_t rank = hfi_solution_rank(r->s);
    for (size_t j = 0; j < rank; j++) square += r->v[j] * r->v[j];
    *latent = hfi_variance_clamp((double)((float)prior - square));
}

typedef struct extremes {
    double mean, variance, sd, bulk, amplified, prior;
} extremes;

static void take(double value, double *most)
{
    if (value > *most) *most = value;
}

/* k is one column of room, x the scaled probe; errors of the float arithmetic are looked at where the file has it. */
static void measure(rehearsal *r, const hf_posterior *posterior, const hfi_probes *probes, size_t p,
                    double *room, extremes *most)
{
    const hfi_solution *s = r->s;
    double *k = room, *x = room + s->n, *scratch = x + s->d, prior, mean, latent, own;
    const double *row = probes->x + p * s->d;
    hfi_scaling_inputs(&posterior->scaling, 1, row, s->d, x);
    hfi_kernel_cross_block(posterior->kernel, 1, x, s->d, s->n, s->z, s->d, k, s->n, scratch);
    hfi_kernel_diagonal(posterior->kernel, 1, x, s->d, true, &prior);
    hf_mean_evaluate(posterior->mean, 1, x, s->d, &own);
    rehearse(r, k, prior, &mean, &latent);
    take(r->bulk + fabs(own), &most->bulk);
    take(r->amplified, &most->amplified);
    take(prior, &most->prior);
    const size_t output = hfi_scaling_output(&posterior->scaling, row);
    const double scale = hfi_scaling_scale(&posterior->scaling, output);
    const double exact = hfi_scaling_target(&posterior->scaling, output, probes->answer[p * 3]) - own;
    const double var = probes->answer[p * 3 + 1] / scale / scale;
    take(fabs(mean - exact), &most->mean);
    if (r->e->mean_only) return;
    take(fabs(latent - var), &most->variance);
    take(fabs(sqrt(latent) - sqrt(var)), &most->sd);
}

static void set_limits(const hfi_emitter *e, const hf_posterior *posterior, const extremes *most,
                       hfi_probes *out)
{
    const double unit = e->single ? (double)FLT_EPSILON : DBL_EPSILON, least = e->single ? 1e-5 : 1e-12;
    const double kappa = fmax(1.0, hf_posterior_calibration(posterior));
    double shift = 0.0;
    for (size_t t = 0; t < posterior->scaling.outputs; t++)
        take(fabs(hfi_scaling_shift(&posterior->scaling, t)) / hfi_scaling_scale(&posterior->scaling, t),
             &shift);
    out->mean_limit = least + 16.0 * unit * (most->bulk + shift) + (e->single ? 8.0 * most->mean : 0.0);
    out->var_limit = kappa * (least * (1.0 + most->prior) + 16.0 * unit * most->amplified +
                              (e->single ? 8.0 * most->variance : 0.0));
    if (!e->single) return;
    out->mean_error = most->mean;
    out->sd_error = most->sd;
}

static hf_status rehearse_all(hf_context *ctx, const hfi_emitter *e, const hf_posterior *posterior,
                              hfi_probes *out)
{
    const hfi_solution *s = &posterior->solution;
    const size_t rank = hfi_solution_rank(s), most = rank > s->n ? rank : s->n;
    extremes found = {0};
    rehearsal r = {.e = e, .s = s, .v = hfi_alloc(ctx, most + 1, sizeof(float))};
    double *room = hfi_alloc(ctx, s->n + s->d + hfi_kernel_scratch(posterior->kernel), sizeof *room);
    if (e->compact && s->form != HFI_FORM_DENSE)
        r.lead = hfi_compact_lead(rank, s->factor, s->form == HFI_FORM_EXACT ? s->capacity : rank);
    const hf_status status = r.v != NULL && room != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t p = 0; p < out->count && status >= 0; p++) measure(&r, posterior, out, p, room, &found);
    HFI_FREE(ctx, r.v, room);
    if (status >= 0) set_limits(e, posterior, &found, out);
    return status;
}

hf_status hfi_probes_make(hf_context *ctx, const hfi_emitter *e, const hf_posterior *posterior,
                          hfi_probes *out)
{
    *out = (hfi_probes){.count = HFI_EXPORT_PROBES, .d = posterior->solution.d};
    out->x = hfi_alloc(ctx, out->count, (out->d + 3) * sizeof *out->x);
    if (out->x == NULL) return HF_ERR_MEMORY;
    out->answer = out->x + out->count * out->d;
    hf_status status = find_points(ctx, posterior, e->single, out);
    if (status >= 0) status = rehearse_all(ctx, e, posterior, out);
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
        "\n#ifdef HOLDFAST_SELF_TEST\n#include <stdio.h>\n\n"
        "/* Inputs, then mean, sd_latent, sd_observed%s by the library, and the unit of differences. */\n"
        "static const struct {\n    `_real x[`_INPUTS];\n    unsigned output;\n    `_real expected[4], "
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
            hfi_emit_number(e, row[j]);
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
                "static int differs(`_real a, `_real b, `_real limit, `_real *most)\n{\n"
                "    const `_real apart = fabs$(a - b);\n    if (!(apart <= *most)) {\n        *most = "
                "apart;\n    }\n"
                "    return (apart <= limit) ? 0 : 1;\n}\n\nstatic const `_real mean_limit = ");
    hfi_emit_number(e, probes->mean_limit);
    if (!e->mean_only) {
        hfi_emit(e, ", var_limit = ");
        hfi_emit_number(e, probes->var_limit);
    }
    hfi_emit(e, ";\n");
}

static void write_main(hfi_emitter *e, const char *call, const char *own, size_t count)
{
    hfi_emit(e,
             "\nint main(void)\n{\n    `_real mean_most = 0.0@, var_most = 0.0@;\n    int wrong = 0;\n"
             "    unsigned i;\n    for (i = 0U; i < %zuU; i++) {\n        `_result r;\n"
             "        const `_real unit = test_cases[i].unit, *want = test_cases[i].expected;\n"
             "        int bad = `(test_cases[i].x, %s&r);\n"
             "        bad += differs(r.mean / unit, want[0] / unit, mean_limit, &mean_most);\n",
             count, call);
    if (!e->mean_only)
        hfi_emit(e,
                 "        bad += differs((r.sd_latent / unit) * (r.sd_latent / unit), (want[1] / unit) * "
                 "(want[1] / unit), var_limit, &var_most);\n"
                 "        bad += differs((r.sd_observed / unit) * (r.sd_observed / unit), (want[2] / unit) * "
                 "(want[2] / unit), var_limit, &var_most);\n%s"
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
