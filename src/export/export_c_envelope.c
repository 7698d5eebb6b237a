/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds in closed form as one file of C: the arithmetic of src/envelope/closed_bounds.c, for one query. */
#include "core/settings.h"
#include "envelope/closed.h"
#include "export/export_c.h"

#include <math.h>

/* Assumptions of bounds, by hf_closed_method. */
static const struct {
    const char *name, *assumed;
} methods[] = {
    [HF_CLOSED_RIDGE] = {"around kernel ridge regression", "every reading within its noise bound"},
    [HF_CLOSED_MINIMUM_NORM] = {"around the smoothest consistent function",
                                "every reading within its noise bound"},
    [HF_CLOSED_ELLIPSOID] = {"of an ellipsoid around a posterior", "every reading within its noise bound"},
    [HF_CLOSED_GP] = {"that holds with 99 % probability only", "noise that is sub-Gaussian with the standard "
                                                               "deviation that the noise bounds stand for"},
};

static void write_comment(hfi_emitter *e, const hf_envelope *envelope, const hf_envelope_labels *labels,
                          hf_closed_method method, size_t d)
{
    hfi_emit_head(e, "A bound in closed form", labels != NULL ? labels->source : "", NULL);
    hfi_emit_inputs(e, d, labels != NULL ? labels->features : NULL);
    hfi_emit(e, " * Bounded: ");
    hfi_emit_words(e, labels != NULL && labels->target != NULL ? labels->target : "y");
    hfi_emit(e, "\n * Kernel: ");
    hfi_emit_words(e, hf_kernel_expression(hf_envelope_kernel(envelope)));
    hfi_emit(e,
             "\n *\n * A bound %s. ASSUMED, and known to nobody but you:\n"
             " *   - the function less %.17g has at most the norm %.17g in the space of the kernel;\n"
             " *   - %s.\n"
             " * Then lower <= f(x) <= upper. No reading can prove the first. Rounding of this file is "
             "allowed for.\n"
             " */\n",
             methods[method].name, hf_envelope_offset(envelope), hf_envelope_norm(envelope),
             methods[method].assumed);
}

static void write_declarations(hfi_emitter *e, size_t d)
{
    hfi_emit(e,
             "#ifndef HOLDFAST_`_DECLARED\n#define HOLDFAST_`_DECLARED\ntypedef double `_real;\n"
             "#define `_INPUTS %zuU\ntypedef struct `_result {\n    double lower;\n    double upper;\n"
             "    double centre;\n} `_result;\n"
             "/* 0, or 1 where an input is not finite: then *result is as it was. */\n"
             "int `(const double x[`_INPUTS], `_result *result);\n#endif\n\n"
             "#ifndef HOLDFAST_DECLARATIONS\n",
             d);
}

/* ---- with readings -------------------------------------------------------------------------------------- */

static void write_tables(hfi_emitter *e, const hf_closed_envelope *c)
{
    hfi_emit(
        e,
        "\n/* Readings, of which the first have two limits. */\n#define ALL %zuU\n#define READINGS %zuU\n\n",
        c->all, c->n);
    hfi_emit_table(e, "anchor", c->all * c->d, c->x, 1);
    hfi_emit_table(e, "weight", c->all, c->weight, 1);
    hfi_emit_kernel(e, c->kernel, true);
    if (c->n == 0) return;
    hfi_emit(e, "\n");
    hfi_emit_table(e, "target", c->n, c->target, 1);
    hfi_emit_table(e, "noise", c->n, c->noise, 1);
    hfi_emit_table(e, "dual", c->n, c->dual, 1);
    hfi_emit_table(e, "sd", c->n, c->sd, 1);
    hfi_emit_table(e, "matrix_diagonal", c->n, c->matrix, c->n + 1);
    hfi_emit_triangle(e, "matrix", c->n, c->matrix, c->n);
    hfi_emit_solve(e, "factor", c->n, c->factor, c->n);
    hfi_emit(e,
             "\n/* L' v = v. */\nstatic void solve_back(double v[%zu])\n{\n    unsigned long at = %zuUL;\n"
             "    unsigned i;\n"
             "    unsigned j;\n    for (i = %zuU; i > 0U; i--) {\n        const unsigned r = i - 1U;\n"
             "        at -= r;\n        v[r] *= factor_inverse[r];\n        for (j = 0U; j < r; j++) {\n"
             "            v[j] -= factor[at + j] * v[r];\n        }\n    }\n}\n",
             c->n, c->n * (c->n - 1) / 2, c->n);
    hfi_emit(e,
             "\nstatic void multiply(const double w[%zu], double aw[%zu])\n{\n    unsigned long at = 0UL;\n"
             "    unsigned i;\n"
             "    unsigned j;\n    for (i = 0U; i < %zuU; i++) {\n        double sum = matrix_diagonal[i] "
             "* w[i];\n"
             "        for (j = 0U; j < i; j++) {\n            sum += matrix[at + j] * w[j];\n"
             "            aw[j] += matrix[at + j] * w[i];\n        }\n        aw[i] = sum;\n        at += "
             "i;\n    }\n}\n",
             c->n, c->n, c->n);
}

static void number_line(hfi_emitter *e, const char *name, double value)
{
    hfi_emit(e, "    const double %s = ", name);
    hfi_emit_number(e, value);
    hfi_emit(e, ";\n");
}

static void write_sums(hfi_emitter *e)
{
    hfi_emit(
        e, "    solve_factor(w);\n    solve_back(w);\n    multiply(w, aw);\n"
           "    for (i = 0U; i < READINGS; i++) {\n"
           "        const double residual = cross[i] - aw[i];\n        const double size = fabs(w[i]);\n"
           "        square -= w[i] * (cross[i] + residual);\n        beside += dual[i] * residual;\n"
           "        bulk += size * sd[i];\n        at += w[i] * target[i];\n        off += size * noise[i];\n"
           "        rounding += size * (fabs(target[i]) + noise[i]);\n    }\n");
}

static void write_bound(hfi_emitter *e, const hf_closed_envelope *c)
{
    hfi_emit(e, "\n/* The most that the part of the function that the weights do not see can be. */\n"
                "static double reach(double size, double beside)\n{\n");
    number_line(e, "whole", c->whole);
    number_line(e, "along", c->along);
    hfi_emit(e,
             "    const double rest = sqrt((whole - along) * (whole + along));\n"
             "    const double left = (size - beside) * (size + beside);\n"
             "    const double across = sqrt((left > 0.0) ? left : 0.0);\n    double most = whole * size;\n"
             "    if ((beside * rest) <= (across * along)) {\n"
             "        const double nearer = (beside * along) + (size * rest);\n"
             "        most = (nearer < most) ? nearer : most;\n    }\n    return most;\n}\n"
             "\nstatic void bound(const double x[], double *centre, double *half)\n{\n");
    number_line(e, "unit", hfi_closed_unit(c));
    number_line(e, "length", c->length);
    number_line(e, "spread", c->spread);
    number_line(e, "slack", c->slack);
    hfi_emit(e,
             "    const double prior = variance(x);\n    double cross[ALL];\n%s"
             "    double square = prior;\n    double bulk = sqrt(prior);\n    double beside = 0.0;\n"
             "    double at = 0.0;\n    double off = 0.0;\n    double rounding = 0.0;\n"
             "    double size;\n    double sum = 0.0;\n    unsigned i;\n    for (i = 0U; i < ALL; i++) {\n"
             "        cross[i] = kernel(x, &anchor[i * `_INPUTS]);\n        sum += cross[i] * "
             "weight[i];\n"
             "%s    }\n",
             c->n > 0 ? "    double w[READINGS];\n    double aw[READINGS];\n" : "",
             c->n > 0 ? "        if (i < READINGS) {\n            w[i] = cross[i];\n        }\n" : "");
    if (c->n > 0) write_sums(e);
    hfi_emit(e, "    size = sqrt(((square > 0.0) ? square : 0.0) + (unit * bulk * bulk));\n"
                "    beside = (fabs(beside) + (unit * bulk * spread)) / length;\n    *centre = sum;\n"
                "    *half = reach(size, beside) + off + fabs(at - sum) + (unit * rounding) + slack;\n}\n");
}

static void write_function(hfi_emitter *e, const hf_closed_envelope *c)
{
    hfi_emit(e, "\nint `(const double x[`_INPUTS], `_result *result)\n{\n    double scaled[`_INPUTS];\n    "
                "double centre;\n    double half;\n"
                "    const int bad = scale_inputs(x, scaled);\n    if (bad == 0) {\n");
    hfi_emit(e, "        const double offset = ");
    hfi_emit_number(e, c->scaling.y_shift);
    hfi_emit(e,
             ";\n        bound(scaled, &centre, &half);\n        result->lower = (centre - half) + offset;\n"
             "        result->upper = (centre + half) + offset;\n        result->centre = centre + offset;\n "
             "   }\n"
             "    return bad;\n}\n");
}

/* ---- the self-test -------------------------------------------------------------------------------------- */

typedef struct cases {
    size_t count;
    double *x, *lower, *upper;
    double limit;
} cases;

static hf_status make_cases(hf_context *ctx, const hf_closed_envelope *c, cases *out)
{
    double prior = 0.0;
    *out = (cases){.count = HFI_EXPORT_PROBES};
    bool *code = hfi_alloc(ctx, c->d, sizeof *code);
    out->x = hfi_alloc(ctx, out->count, (c->d + 2) * sizeof *out->x);
    hf_status status = code != NULL && out->x != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        out->lower = out->x + out->count * c->d;
        out->upper = out->lower + out->count;
        hfi_probe_points(c->kernel, &c->scaling, c->all, c->x, false, out->count, code, out->x);
        status = hf_closed_envelope_bounds(ctx, c, out->count, out->x, c->d, out->lower, out->upper, NULL);
        hfi_kernel_diagonal(c->kernel, 1, out->x, c->d, false, &prior);
    }
    /* Where a bound is as narrow as rounding allows, its width is rounding. */
    double most = 0.0;
    for (size_t p = 0; p < out->count && status >= 0; p++)
        most = fmax(most, fmax(fabs(out->lower[p]), fabs(out->upper[p])));
    out->limit = 1e-12 * most + sqrt(hfi_closed_unit(c)) * c->whole * sqrt(fmax(prior, 0.0));
    hfi_free(ctx, code);
    return status;
}

static void write_self_test(hfi_emitter *e, const hf_closed_envelope *c, const cases *from)
{
    hfi_emit(e,
             "\n#ifdef HOLDFAST_SELF_TEST\n/* Inputs, lower and upper by the library. */\n"
             "static const struct {\n    double x[`_INPUTS], lower, upper;\n} test_cases[%zu] = {\n",
             from->count);
    for (size_t p = 0; p < from->count; p++) {
        hfi_emit(e, "    {{");
        for (size_t j = 0; j < c->d; j++) {
            hfi_emit_number(e, from->x[p * c->d + j]);
            hfi_emit(e, j + 1 < c->d ? ", " : "}, ");
        }
        hfi_emit_number(e, from->lower[p]);
        hfi_emit(e, ", ");
        hfi_emit_number(e, from->upper[p]);
        hfi_emit(e, "},\n");
    }
    hfi_emit(e, "};\n\nint main(void)\n{\n    double most = 0.0;\n    unsigned i;\n");
    number_line(e, "limit", from->limit);
    hfi_emit(e,
             "    for (i = 0U; i < %zuU; i++) {\n        `_result r;\n        const int bad = "
             "`(test_cases[i].x, &r);\n"
             "        const double low = fabs(r.lower - test_cases[i].lower), high = fabs(r.upper - "
             "test_cases[i].upper);\n        most = (low <= most) ? most : low;\n"
             "        most = (high <= most) ? most : high;\n"
             "        most = (bad == 0) ? most : (2.0 * limit) + 1.0;\n"
             "        (void)printf(\"%%2u  lower %%.12g  upper %%.12g\\n\", i, r.lower, r.upper);\n    }\n"
             "    (void)printf(\"largest difference: %%.2g, %%.2g allowed\\n\", most, limit);\n"
             "    (void)printf((most <= limit) ? \"self-test passed\\n\" : \"self-test FAILED\\n\");\n"
             "    return (most <= limit) ? 0 : 1;\n}\n#endif\n",
             from->count);
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static hf_status check_envelope_export(hf_context *ctx, const hf_envelope *envelope, hf_closed_method method,
                                       const hf_export_settings *s)
{
    if ((unsigned)method >= sizeof methods / sizeof methods[0])
        return hfi_refuse(ctx, "there is no closed form %d", (int)method);
    if (s->single || s->compact || s->mean_only)
        return hfi_refuse(
            ctx, "%s is not for envelopes: a bound that has to hold is computed in double, and whole",
            s->compact  ? "compact"
            : s->single ? "single"
                        : "mean_only");
    return hfi_export_check_kernel(ctx, hf_envelope_kernel(envelope));
}

/* Sources of a file. */
typedef struct envelope_sources {
    const hf_envelope *envelope;
    const hf_envelope_labels *labels;
    hf_closed_method method;
} envelope_sources;

static void write_parts(hfi_emitter *e, const envelope_sources *p, const hf_closed_envelope *c,
                        const cases *from)
{
    write_comment(e, p->envelope, p->labels, p->method, c->d);
    hfi_emit_includes(e);
    write_declarations(e, c->d);
    hfi_emit_scaling(e, c->d, &c->scaling);
    write_tables(e, c);
    write_bound(e, c);
    write_function(e, c);
    write_self_test(e, c, from);
    hfi_emit(e, "#endif\n");
}

/* Names of the file, before anything is computed; of readings with two limits there may be some. */
static hf_status look_at_names(hfi_emitter *e, const envelope_sources *p)
{
    const hf_closed_envelope stand_in = {
        .kernel = p->envelope->kernel, .d = p->envelope->d, .n = 1, .all = 1};
    write_parts(e, p, &stand_in, &(const cases){0});
    return e->status;
}

static void write_envelope(hfi_emitter *e, const envelope_sources *p, const hf_closed_envelope *c)
{
    cases from;
    e->status = make_cases(e->ctx, c, &from);
    if (e->status >= 0) write_parts(e, p, c, &from);
    hfi_free(e->ctx, from.x);
}

hf_status hf_export_envelope_c(hf_context *ctx, const hf_envelope *envelope, const hf_envelope_labels *labels,
                               hf_closed_method method, const hf_export_settings *settings, const char *path,
                               hf_export_report *report)
{
    hf_closed_envelope *closed = NULL;
    hfi_emitter e;
    if (ctx == NULL || envelope == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_export_envelope_c: context, envelope and path must not be NULL");
    hf_export_settings own;
    hf_status status = hfi_settings_open(ctx, hf_export_settings_table(), settings, &own);
    if (status >= 0) status = check_envelope_export(ctx, envelope, method, &own);
    const envelope_sources p = {envelope, labels, method};
    if (status >= 0) status = hfi_emit_begin(ctx, &own, &e);
    if (status >= 0) status = look_at_names(&e, &p);
    if (status >= 0) status = hf_closed_envelope_create(ctx, envelope, method, NULL, &closed);
    const hf_status made = status;
    if (status >= 0) status = hfi_emit_to(&e, path);
    if (status >= 0) {
        write_envelope(&e, &p, closed);
        status = hfi_emit_end(&e);
    }
    if (status >= 0 && report != NULL)
        *report = (hf_export_report){
            .data_bytes = e.bytes, .stack_bytes = (closed->d + closed->all + 2 * closed->n) * sizeof(double)};
    hf_closed_envelope_free(closed);
    return status < 0 ? status : made;
}
