/* SPDX-License-Identifier: Apache-2.0 */
/* A posterior as C: prior means and forms of the factor are rows of tables. */
#include "export/export_c.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* The factor in single precision. A variance is a difference of k(x, x) and |v|^2. The first columns of L are
 * large, as they have what all readings share; they have 32 bits and are multiplied in double. L is factored
 * anew with rounded columns: what rounding takes from one, those that follow give back. T T' then differs
 * from K + D by the rounding of an entry times the pivot of its column, and not by what it is multiplied with
 * in L L'. */

/* ---- rounding ------------------------------------------------------------------------------------------- */

/* The most steps that an entry has: 32 bits in the first columns, then 16 if compact, else 1, of which
 * entries are fractions. */
static double steps_of(const hfi_split_factor *s, size_t column)
{
    return column < s->lead ? 2147483647.0 : s->compact ? 32767.0 : 1.0;
}

static double entry_of(double value, double step, double most)
{
    if (!(step > 0.0)) return 0.0;
    const double entry = fmin(fmax(value / step, -most), most);
    return most > 1.0 ? nearbyint(entry) : (double)(float)entry;
}

/* Column j of K + D less what the columns before have of it, below the diagonal and with it; row: room for n. */
static void remainder_of(const hfi_split_factor *s, const double *l, size_t ld, size_t j, double *row,
                         double *out)
{
    const size_t n = s->n;
    memset(out, 0, (n - j) * sizeof *out);
    for (size_t k = 0; k <= j; k++) row[k] = l[j + k * ld];
    hfi_gemv(n - j, j + 1, 1.0, l + j, ld, row, 0.0, out);
    for (size_t k = 0; k < j; k++) row[k] = s->t[j + k * n];
    if (j > 0) hfi_gemv(n - j, j, -1.0, s->t + j, n, row, 1.0, out);
}

bool hfi_split_make(hfi_split_factor *s, const double *l, size_t ld, bool anew, double *room)
{
    const size_t n = s->n;
    double *c = room + n;
    for (size_t j = 0; j < n; j++) {
        double largest = 0.0, pivot = l[j + j * ld];
        if (anew) {
            remainder_of(s, l, ld, j, room, c);
            if (!(c[0] > 0.0)) return false;
            pivot = sqrt(c[0]);
        }
        for (size_t i = j + 1; i < n; i++) {
            double *entry = &s->t[i + j * n];
            *entry = anew ? c[i - j] / pivot : l[i + j * ld];
            largest = fmax(largest, fabs(*entry));
        }
        const double most = steps_of(s, j);
        s->t[j + j * n] = pivot;
        s->step[j] = largest / most;
        for (size_t i = j + 1; i < n; i++)
            s->t[i + j * n] = s->step[j] * entry_of(s->t[i + j * n], s->step[j], most);
    }
    return true;
}

/* ---- text ----------------------------------------------------------------------------------------------- */

/* The first columns, or the others, of the triangle, row by row. */
static void write_entries(hfi_emitter *e, const hfi_split_factor *s, bool lead)
{
    char text[48];
    const size_t n = s->n, first = lead ? 0 : s->lead, end = lead ? s->lead : n;
    const size_t columns = end - first, rows = n - first;
    const size_t count = columns * rows - columns * (columns + 1) / 2;
    const double most = steps_of(s, first);
    size_t left = count;
    hfi_emit_open(e,
                  lead         ? "int32_t"
                  : s->compact ? "int16_t"
                               : "float",
                  lead ? "factor_lead" : "factor_rest", count);
    for (size_t i = first + 1; i < n && e->status >= 0; i++)
        for (size_t j = first; j < i && j < end; j++) {
            const double entry = entry_of(s->t[i + j * n], s->step[j], most);
            left--;
            if (most > 1.0) {
                hfi_print(text, sizeof text, "%.0f", entry);
                hfi_emit_entry(e, text, left == 0);
            } else {
                hfi_emit_float_entry(e, entry, left == 0);
            }
        }
    hfi_emit_close(e, count * (!lead && s->compact ? sizeof(int16_t) : sizeof(int32_t)));
}

static void write_lead(hfi_emitter *e, const hfi_split_factor *s)
{
    hfi_emit(
        e,
        "        for (j = 0U; (j < i) && (j < %zuU); j++) {\n"
        "            sum += (double)factor_lead[lead_at + j] * lead[j];\n        }\n        lead_at += j;\n",
        s->lead);
    if (s->lead == s->n)
        hfi_emit(
            e,
            "        v[i] = (v[i] - sum) * factor_inverse[i];\n        lead[i] = v[i] * factor_step[i];\n");
}

static void write_rest(hfi_emitter *e, const hfi_split_factor *s)
{
    const char *cast = s->compact ? "(float)" : "";
    hfi_emit(e, "        for (j = 0U; (j + 3U) < columns; j += 4U) {\n");
    for (unsigned k = 0; k < 4; k++)
        hfi_emit(e, "            s%u += %srow[j + %uU] * rest[j + %uU];\n", k, cast, k, k);
    hfi_emit(
        e,
        "        }\n        for (; j < columns; j++) {\n            s0 += %srow[j] * rest[j];\n        }\n"
        "        rest_at += columns;\n        s0 = (s0 + s1) + (s2 + s3);\n        sum += (double)s0;\n"
        "        v[i] = (v[i] - sum) * factor_inverse[i];\n",
        cast);
    if (s->lead > 0)
        hfi_emit(e, "        if (i < %zuU) {\n            lead[i] = v[i] * factor_step[i];\n        } else ",
                 s->lead);
    else
        hfi_emit(e, "        ");
    hfi_emit(e, "{\n            const double scaled = v[i] * factor_step[i];\n"
                "            rest[columns] = (float)scaled;\n            columns++;\n        }\n");
}

/* The same of e->split, whose NAME is factor. */
static void write_split(hfi_emitter *e)
{
    const hfi_split_factor *s = &e->split;
    const size_t n = s->n, rest = n - s->lead;
    if (s->lead > 0) write_entries(e, s, true);
    if (rest > 0) write_entries(e, s, false);
    hfi_emit_table(e, "factor_step", n, s->step, 1);
    hfi_emit_diagonal(e, "factor", n, s->t, n);
    hfi_emit(e,
             "\n/* L v = v, row by row: %zu columns in 32 bits, %zu in %s, each in steps of its own. */\n"
             "static void solve_factor(double v[%zu])\n{\n",
             s->lead, rest, s->compact ? "16 bits" : "float", n);
    if (s->lead > 0) hfi_emit(e, "    double lead[%zu];\n    uint32_t lead_at = 0U;\n", s->lead);
    if (rest > 0)
        hfi_emit(e, "    float rest[%zu];\n    uint32_t rest_at = 0U;\n    unsigned columns = 0U;\n", rest);
    hfi_emit(
        e, "    unsigned i;\n    unsigned j;\n    for (i = 0U; i < %zuU; i++) {\n        double sum = 0.0;\n",
        n);
    if (rest > 0)
        hfi_emit(e, "        const %s *row = &factor_rest[rest_at];\n", s->compact ? "int16_t" : "float");
    if (rest > 0) hfi_emit_sums(e, "float", "0.0F");
    if (s->lead > 0) write_lead(e, s);
    if (rest > 0) write_rest(e, s);
    hfi_emit(e, "    }\n}\n");
}

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
        write_split(e);
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
    double *rows = hfi_emit_room(e, s->n * s->rank);
    if (rows == NULL) return;
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
