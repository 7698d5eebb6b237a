/* SPDX-License-Identifier: Apache-2.0 */
/* A posterior as C: prior means and forms of the factor are rows of tables. */
#include "export/export_c.h"
#include "linalg/linalg.h"

/* ---- prior means ---------------------------------------------------------------------------------------- */

static void no_mean(hfi_emitter *e, const hf_mean *mean)
{
    (void)mean;
    hfi_emit(e, "    (void)x;\n    return 0.0;\n");
}

static void constant_mean(hfi_emitter *e, const hf_mean *mean)
{
    hfi_emit(e, "    (void)x;\n    return ");
    hfi_emit_number(e, hf_mean_values(mean)[0]);
    hfi_emit(e, ";\n");
}

static void linear_mean(hfi_emitter *e, const hf_mean *mean)
{
    hfi_emit(e,
             "    double sum = mean_values[0];\n    unsigned j;\n    for (j = 1U; j < %zuU; j++) {\n"
             "        sum += mean_values[j] * x[j - 1U];\n    }\n    return sum;\n",
             hf_mean_coefficients(mean));
}

/* The number of the output is the last input. */
static void mean_of_output(hfi_emitter *e, const hf_mean *mean)
{
    (void)mean;
    hfi_emit(e, "    return mean_values[(unsigned)(x[TOTAL - 1U] + 0.5)];\n");
}

static const struct {
    bool table;
    void (*write)(hfi_emitter *e, const hf_mean *mean);
} means[] = {
    [HF_MEAN_ZERO] = {false, no_mean},          [HF_MEAN_CONSTANT] = {false, constant_mean},
    [HF_MEAN_MEDIAN] = {false, constant_mean},  [HF_MEAN_LINEAR] = {true, linear_mean},
    [HF_MEAN_OUTPUTS] = {true, mean_of_output},
};

static void write_mean(hfi_emitter *e, const hf_mean *mean)
{
    const hf_mean_kind kind = hf_mean_get_kind(mean);
    if (means[kind].table)
        hfi_emit_table(e, "mean_values", hf_mean_coefficients(mean), hf_mean_values(mean), 1);
    hfi_emit(e, "\nstatic double prior_mean(const double x[])\n{\n");
    means[kind].write(e, mean);
    hfi_emit(e, "}\n\n");
}

/* ---- the factor ----------------------------------------------------------------------------------------- */

static void write_factor(hfi_emitter *e, size_t n, const double *l, size_t ld)
{
    if (e->single)
        hfi_emit_split(e);
    else
        hfi_emit_solve(e, "factor", n, l, ld);
}

static void exact_tables(hfi_emitter *e, const hfi_solution *s)
{
    write_factor(e, s->n, s->factor, s->capacity);
}

/* R by rows, so that each anchor adds one row. */
static void dense_tables(hfi_emitter *e, const hfi_solution *s)
{
    double *rows = hfi_alloc(e->ctx, s->n, s->rank * sizeof *rows);
    if (rows == NULL) {
        e->status = HF_ERR_MEMORY;
        return;
    }
    for (size_t i = 0; i < s->n && !e->names_only; i++)
        for (size_t j = 0; j < s->rank; j++) rows[i * s->rank + j] = s->r[i + j * s->n];
    hfi_emit_table(e, "root", s->n * s->rank, rows, 1);
    hfi_free(e->ctx, rows);
}

static void block_tables(hfi_emitter *e, const hfi_solution *s)
{
    hfi_emit_counts(e, "unsigned", 4, "block", s->n, s->block);
    hfi_emit_table(e, "entry", s->n, s->entry, 1);
    write_factor(e, s->rank, s->factor, s->rank);
}

/* Lines within the loop over anchors; v is zero before where it is added to. */
static const struct {
    void (*tables)(hfi_emitter *e, const hfi_solution *s);
    bool adds, solves;
    const char *code;
} factors[HFI_FACTOR_FORMS] = {
    [HFI_FORM_EXACT] = {exact_tables, false, true, "        v[i] = k;\n"},
    [HFI_FORM_DENSE] = {dense_tables, true, false,
                        "        for (j = 0U; j < RANK; j++) {\n"
                        "            v[j] += root[(i * RANK) + j] * k;\n        }\n"},
    [HFI_FORM_BLOCKS] = {block_tables, true, true, "        v[block[i]] += entry[i] * k;\n"},
};

static void write_body(hfi_emitter *e, const hfi_solution *s)
{
    const bool spread = !e->mean_only;
    hfi_emit(e,
             "\nstatic void posterior(const double x[], double *mean, double *latent)\n{\n"
             "    double sum = 0.0%s;\n    unsigned i;\n",
             spread ? ";\n    double square = 0.0" : "");
    if (spread) hfi_emit(e, "    double v[RANK];\n    unsigned j;\n");
    if (spread && factors[s->form].adds)
        hfi_emit(e, "    for (j = 0U; j < RANK; j++) {\n        v[j] = 0.0;\n    }\n");
    hfi_emit(e, "    for (i = 0U; i < ANCHORS; i++) {\n"
                "        const double k = kernel(x, &anchor[i * TOTAL]);\n        sum += weight[i] * k;\n");
    if (spread) hfi_emit(e, "%s", factors[s->form].code);
    hfi_emit(e, "    }\n    *mean = prior_mean(x) + sum;\n");
    if (spread && factors[s->form].solves) hfi_emit(e, "    solve_factor(v);\n");
    if (spread)
        hfi_emit(e, "    for (j = 0U; j < RANK; j++) {\n        square += v[j] * v[j];\n    }\n"
                    "    square = variance(x) - square;\n    *latent = (square > 0.0) ? square : 0.0;\n");
    else
        hfi_emit(e, "    *latent = 0.0;\n");
    hfi_emit(e, "}\n");
}

void hfi_emit_posterior(hfi_emitter *e, const hf_posterior *posterior)
{
    const hfi_solution *s = &posterior->solution;
    hfi_emit(e,
             "\n/* Inputs, and of several outputs the number of the output; anchors. */\n#define TOTAL %zuU\n"
             "#define ANCHORS %zuU\n",
             s->d, s->n);
    if (!e->mean_only) hfi_emit(e, "#define RANK %zuU\n", hfi_solution_rank(s));
    hfi_emit(e, "\n/* Anchors in scaled units, and their weights in the mean. */\n");
    hfi_emit_table(e, "anchor", s->n * s->d, s->z, 1);
    hfi_emit_table(e, "weight", s->n, s->t, 1);
    hfi_emit_kernel(e, posterior->kernel, !e->mean_only);
    hfi_emit(e, "\n");
    write_mean(e, posterior->mean);
    if (!e->mean_only) factors[s->form].tables(e, s);
    write_body(e, s);
}
