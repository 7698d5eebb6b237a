/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as C: a row for each form of the language, and the tree that joins them. */
#include "export/export_c.h"
#include "kernel/coregion.h"
#include "kernel/expression.h"

#include <math.h>

typedef double change(double value);

/* A form writes its tables, and then the lines of a function of x and z that is given their names. */
typedef struct leaf_writer {
    hfi_emitter *e;
    const hf_kernel *kernel;
    const hfi_leaf *leaf;
    const struct form_row *form;
    size_t number;
    char x[48], z[48]; /* "x[a]" or, where columns are picked, "x[column_3[a]]" */
} leaf_writer;

/* The row of a form, and what several forms that are written alike differ in. */
typedef struct form_row {
    void (*write)(const leaf_writer *w);
    const char *code;
    hfi_field field;
    change *changed;
} form_row;

/* ---- tables --------------------------------------------------------------------------------------------- */

static double as_it_is(double value)
{
    return value;
}

static double inverse(double value)
{
    return 1.0 / value;
}

static double per_period(double value)
{
    return HFI_PI / value;
}

static double full_turn(double value)
{
    return 2.0 * HFI_PI * value;
}

static double of_variance(double value)
{
    return 2.0 * HFI_PI * HFI_PI * value;
}

/* A table of `count` numbers of one of the leaf's arrays, `step` apart. */
static void write_table(const leaf_writer *w, const char *name, hfi_field field, size_t count, size_t step,
                        change *changed)
{
    char title[40];
    const double *value = w->kernel->value + hfi_leaf_at(w->leaf, field);
    double *work = hfi_emit_room(w->e, count);
    if (work == NULL) return;
    for (size_t i = 0; i < count; i++) work[i] = changed(value[i * step]);
    hfi_print(title, sizeof title, "%s_%zu", name, w->number);
    hfi_emit_table(w->e, title, count, work, 1);
    hfi_free(w->e->ctx, work);
}

/* A number for each column. */
static void ard_table(const leaf_writer *w, const char *name, hfi_field field, change *changed)
{
    write_table(w, name, field, w->leaf->columns, w->leaf->ard ? 1 : 0, changed);
}

static void whole_table(const leaf_writer *w, const char *name, hfi_field field, change *changed)
{
    write_table(w, name, field, hfi_leaf_entries(w->leaf, field), 1, changed);
}

static void open_function(const leaf_writer *w)
{
    hfi_emit(w->e, "\nstatic double leaf_%zu(const double x[], const double z[])\n{\n", w->number);
}

static void open_sum(const leaf_writer *w, const char *sum)
{
    hfi_emit(w->e, "    double %s = 0.0;\n    unsigned a;\n    for (a = 0U; a < %zuU; a++) {\n", sum,
             w->leaf->columns);
}

/* ---- forms ---------------------------------------------------------------------------------------------- */

/* A function of the squared distance r2, which ends in `rest`. */
static void write_radial(const leaf_writer *w, const char *rest)
{
    ard_table(w, "inverse", HFI_FIELD_LENGTHSCALE, inverse);
    open_function(w);
    open_sum(w, "r2");
    hfi_emit(w->e, "        const double u = (%s - %s) * inverse_%zu[a];\n        r2 += u * u;\n    }\n%s}\n",
             w->x, w->z, w->number, rest);
}

static void write_radial_leaf(const leaf_writer *w)
{
    write_radial(w, w->form->code);
}

static void rational_quadratic(const leaf_writer *w)
{
    char rest[160];
    whole_table(w, "alpha", HFI_FIELD_ALPHA, as_it_is);
    hfi_print(rest, sizeof rest, "    return exp(-alpha_%zu[0] * log1p(r2 / (2.0 * alpha_%zu[0])));\n",
              w->number, w->number);
    write_radial(w, rest);
}

static void write_periodic_leaf(const leaf_writer *w)
{
    ard_table(w, "inverse", HFI_FIELD_LENGTHSCALE, inverse);
    ard_table(w, "turn", HFI_FIELD_PERIOD, per_period);
    open_function(w);
    open_sum(w, "sum");
    hfi_emit(w->e,
             "        const double u = sin(fabs(%s - %s) * turn_%zu[a]) * inverse_%zu[a];\n        sum += "
             "u * u;\n"
             "    }\n    return exp(-2.0 * sum);\n}\n",
             w->x, w->z, w->number, w->number);
}

static void write_linear_leaf(const leaf_writer *w)
{
    ard_table(w, "factor", HFI_FIELD_VARIANCE, as_it_is);
    open_function(w);
    open_sum(w, "sum");
    hfi_emit(w->e, "        sum += factor_%zu[a] * (%s * %s);\n    }\n    return sum;\n}\n", w->number, w->x,
             w->z);
}

static void spectral(const leaf_writer *w)
{
    whole_table(w, "weight", HFI_FIELD_WEIGHT, as_it_is);
    whole_table(w, "wave", HFI_FIELD_MEAN, full_turn);
    whole_table(w, "fall", HFI_FIELD_VARIANCE, of_variance);
    open_function(w);
    hfi_emit(w->e,
             "    double sum = 0.0;\n    unsigned q;\n    for (q = 0U; q < %zuU; q++) {\n"
             "        double exponent = 0.0;\n        double wave = 1.0;\n        unsigned a;\n"
             "        for (a = 0U; a < %zuU; a++) {\n            const double t = %s - %s;\n",
             w->leaf->components, w->leaf->columns, w->x, w->z);
    hfi_emit(w->e,
             "            exponent += fall_%zu[(q * %zuU) + a] * (t * t);\n"
             "            wave *= cos(fabs(t) * wave_%zu[(q * %zuU) + a]);\n        }\n"
             "        sum += weight_%zu[q] * (exp(-exponent) * wave);\n    }\n    return sum;\n}\n",
             w->number, w->leaf->columns, w->number, w->leaf->columns, w->number);
}

/* Numbers of outputs are checked before. */
static void coregion(const leaf_writer *w)
{
    char title[40];
    const size_t c = w->kernel->columns[w->leaf->column_at], outputs = w->leaf->outputs;
    hfi_print(title, sizeof title, "between_%zu", w->number);
    hfi_emit_table(w->e, title, outputs * outputs, w->kernel->pairs + w->leaf->pairs_at, 1);
    open_function(w);
    hfi_emit(w->e,
             "    return between_%zu[((unsigned)(x[%zu] + 0.5) * %zuU) + (unsigned)(z[%zu] + 0.5)];\n}\n",
             w->number, c, outputs, c);
}

static void category(const leaf_writer *w)
{
    ard_table(w, "apart", HFI_FIELD_LENGTHSCALE, inverse);
    open_function(w);
    open_sum(w, "sum");
    hfi_emit(w->e,
             "        const double u = floor(%s + 0.5) - floor(%s + 0.5);\n"
             "        if ((u > 0.0) || (u < 0.0)) {\n            sum += apart_%zu[a];\n        }\n    }\n"
             "    return exp(-sum);\n}\n",
             w->x, w->z, w->number);
}

/* Functions of the plane u(x): their value from u and v, those of x and z. */
static void write_plane_leaf(const leaf_writer *w)
{
    write_table(w, "slope", w->form->field, w->leaf->columns, 1, w->form->changed);
    open_function(w);
    hfi_emit(w->e, "    double v = 0.0;\n");
    open_sum(w, "u");
    hfi_emit(w->e,
             "        u += slope_%zu[a] * %s;\n        v += slope_%zu[a] * %s;\n    }\n    return %s;\n}\n",
             w->number, w->x, w->number, w->z, w->form->code);
}

/* Constants and white stand in the sum of terms. */
static void in_place(const leaf_writer *w)
{
    (void)w;
}

static const form_row forms[HFI_FORMS] = {
    [HFI_FORM_SE] = {.write = write_radial_leaf, .code = "    return exp(-0.5 * r2);\n"},
    [HFI_FORM_MATERN12] = {.write = write_radial_leaf, .code = "    return exp(-sqrt(r2));\n"},
    [HFI_FORM_MATERN32] = {.write = write_radial_leaf,
                           .code = "    const double s = sqrt(3.0 * r2);\n    return (1.0 + s) * exp(-s);\n"},
    [HFI_FORM_MATERN52] = {.write = write_radial_leaf,
                           .code = "    const double s = sqrt(5.0 * r2);\n"
                                   "    return (1.0 + s + ((5.0 * r2) / 3.0)) * exp(-s);\n"},
    [HFI_FORM_RQ] = {.write = rational_quadratic},
    [HFI_FORM_PERIODIC] = {.write = write_periodic_leaf},
    [HFI_FORM_LINEAR] = {.write = write_linear_leaf},
    [HFI_FORM_CONSTANT] = {.write = in_place},
    [HFI_FORM_WHITE] = {.write = in_place},
    [HFI_FORM_SM] = {.write = spectral},
    [HFI_FORM_COREGION] = {.write = coregion},
    [HFI_FORM_CATEGORY] = {.write = category},
    [HFI_FORM_WAVE] = {.write = write_plane_leaf,
                       .code = "cos(u - v)",
                       .field = HFI_FIELD_FREQUENCY,
                       .changed = full_turn},
    [HFI_FORM_SWELL] = {.write = write_plane_leaf,
                        .code = "cos(u) * cos(v)",
                        .field = HFI_FIELD_FREQUENCY,
                        .changed = full_turn},
    [HFI_FORM_TILT] = {.write = write_plane_leaf,
                       .code = "exp(u) * exp(v)",
                       .field = HFI_FIELD_RATE,
                       .changed = as_it_is},
};

hf_status hfi_export_check_kernel(hf_context *ctx, const hf_kernel *kernel)
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (forms[kernel->leaves[l].form].write == NULL)
            return hfi_refuse(ctx, "the kernel %s cannot be exported as C",
                              hfi_form_name(kernel->leaves[l].form));
    return HF_OK;
}

static void write_one(hfi_emitter *e, const hf_kernel *kernel, size_t l)
{
    const hfi_leaf *leaf = &kernel->leaves[l];
    leaf_writer w = {.e = e,
                     .kernel = kernel,
                     .leaf = leaf,
                     .form = &forms[leaf->form],
                     .number = l,
                     .x = "x[a]",
                     .z = "z[a]"};
    const size_t *column = kernel->columns + leaf->column_at;
    bool plain = true; /* its columns are all of the inputs, in order */
    for (size_t a = 0; a < leaf->columns; a++) plain = plain && column[a] == a;
    if (!plain) {
        hfi_print(w.x, sizeof w.x, "x[column_%zu[a]]", l);
        hfi_print(w.z, sizeof w.z, "z[column_%zu[a]]", l);
    }
    if (!plain && leaf->form != HFI_FORM_COREGION) {
        char title[40];
        hfi_print(title, sizeof title, "column_%zu", l);
        hfi_emit(e, "\n");
        hfi_emit_counts(e, "unsigned short", 2, title, leaf->columns, column);
    }
    w.form->write(&w);
}

/* ---- the tree ------------------------------------------------------------------------------------------- */

/* The names of the two points; equal points see white. */
typedef struct points {
    const char *x, *z;
    bool same;
} points;

static void write_sum(hfi_emitter *e, const hf_kernel *kernel, size_t sum, const points *p);

static bool is_white(const hf_kernel *kernel, size_t factor)
{
    const hfi_node *node = &kernel->nodes[factor];
    return node->kind == HFI_NODE_LEAF && kernel->leaves[node->leaf].form == HFI_FORM_WHITE;
}

/* Different points have no white. */
static bool is_zero(const hf_kernel *kernel, size_t term, const points *p)
{
    bool zero = false;
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next)
        zero = zero || (!p->same && is_white(kernel, c));
    return zero;
}

static void write_factor(hfi_emitter *e, const hf_kernel *kernel, size_t factor, const points *p)
{
    const hfi_node *node = &kernel->nodes[factor];
    if (node->kind == HFI_NODE_SUM) {
        write_sum(e, kernel, factor, p);
        return;
    }
    const hfi_leaf *leaf = &kernel->leaves[node->leaf];
    if (leaf->form == HFI_FORM_CONSTANT || leaf->form == HFI_FORM_WHITE)
        hfi_emit_number(e, kernel->value[leaf->first]);
    else
        hfi_emit(e, "leaf_%zu(%s, %s)", node->leaf, p->x, p->z);
}

static void write_term(hfi_emitter *e, const hf_kernel *kernel, size_t term, const points *p)
{
    const size_t scale = kernel->nodes[term].scale, first = kernel->nodes[term].child;
    hfi_emit(e, "(");
    if (scale != HFI_NONE) {
        hfi_emit_number(e, kernel->value[scale]);
        hfi_emit(e, " * ");
    }
    for (size_t c = first; c != HFI_NONE; c = kernel->nodes[c].next) {
        if (c != first) hfi_emit(e, "\n            * ");
        write_factor(e, kernel, c, p);
    }
    hfi_emit(e, ")");
}

/* The depth of the language is bounded, and with it this recursion. */
static void write_sum(hfi_emitter *e, const hf_kernel *kernel, size_t sum, const points *p)
{
    size_t written = 0;
    hfi_emit(e, "(");
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        if (is_zero(kernel, t, p)) continue;
        if (written++ > 0) hfi_emit(e, "\n        + ");
        write_term(e, kernel, t, p);
    }
    if (written == 0) hfi_emit(e, "0.0");
    hfi_emit(e, ")");
}

/* Whether the function of leaf l is called for these points; HFI_NONE: that of any leaf. */
static bool calls(const hf_kernel *kernel, size_t sum, size_t l, const points *p)
{
    bool found = false;
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        if (is_zero(kernel, t, p)) continue;
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE && !found; c = kernel->nodes[c].next) {
            const hfi_node *node = &kernel->nodes[c];
            if (node->kind == HFI_NODE_SUM) {
                found = calls(kernel, c, l, p);
                continue;
            }
            const hfi_form form = kernel->leaves[node->leaf].form;
            found = (l == HFI_NONE && form != HFI_FORM_CONSTANT && form != HFI_FORM_WHITE) || node->leaf == l;
        }
    }
    return found;
}

void hfi_emit_kernel(hfi_emitter *e, const hf_kernel *kernel, bool variance)
{
    const points cross = {"x", "z", false}, same = {"x", "x", true};
    const bool moves = variance && hfi_kernel_variance_varies(kernel);
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (calls(kernel, kernel->root, l, &cross) || (moves && calls(kernel, kernel->root, l, &same)))
            write_one(e, kernel, l);
    hfi_emit(e, "\nstatic double kernel(const double x[], const double z[])\n{\n");
    if (!calls(kernel, kernel->root, HFI_NONE, &cross)) hfi_emit(e, "    (void)x;\n    (void)z;\n");
    hfi_emit(e, "    return ");
    write_sum(e, kernel, kernel->root, &cross);
    hfi_emit(e, ";\n}\n");
    if (!variance) return;
    hfi_emit(e, "\n/* k(x, x) */\nstatic double variance(const double x[])\n{\n");
    if (moves) {
        hfi_emit(e, "    return ");
        write_sum(e, kernel, kernel->root, &same);
        hfi_emit(e, ";\n}\n");
        return;
    }
    double value = 0.0, *zero = hfi_emit_room(e, kernel->d);
    if (zero != NULL) hfi_kernel_diagonal(kernel, 1, zero, kernel->d, true, &value);
    hfi_free(e->ctx, zero);
    hfi_emit(e, "    (void)x;\n    return ");
    hfi_emit_number(e, value);
    hfi_emit(e, ";\n}\n");
}
