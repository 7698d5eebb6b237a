/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-reference.c
 * @brief Beside the published MO-RCGP program at given hyperparameters: weights, predictions and objectives
 * to seven digits.
 *
 * common/mo_reference.h says how its jitters are brought in. Figures of the program: DIR/mo_rcgp_reference/.
 */
#include "common/mo_reference.h"
#include "common/options.h"
#include "common/sets.h"

#include <jansson.h>
#include <math.h>

enum {
    T = MO_REFERENCE_OUTPUTS,
    QUERIES = MO_REFERENCE_QUERIES
};

static const double agreed = 1e-7;

/* Columns NAME1, NAME2, ... (or NAME alone) of a table into rows of `count`. */
static hf_status columns(hf_context *ctx, const hf_table *table, const char *name, size_t count, double *out)
{
    for (size_t t = 0; t < count; ++t) {
        char column[32];
        const double *numbers;
        size_t place;
        snprintf(column, sizeof column, count == 1 ? "%s" : "%s%zu", name, t + 1);
        hf_status status = hf_table_find(ctx, table, column, &place);
        if (status >= 0) status = hf_table_numbers(ctx, table, place, &numbers);
        if (status < 0) return status;
        for (size_t i = 0; i < hf_table_rows(table); ++i) out[i * count + t] = numbers[i];
    }
    return HF_OK;
}

static hf_status load(hf_context *ctx, const char *path, mo_reference *out)
{
    hf_table *table = NULL;
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status >= 0) {
        *out = mo_reference_create(hf_table_rows(table));
        status = columns(ctx, table, "x", 1, out->x);
    }
    if (status >= 0) status = columns(ctx, table, "y", T, out->y);
    hf_table_free(table);
    return status;
}

/* ---- beside the program -------------------------------------------------------------------------------------- */

static bool beside(const char *what, size_t count, const double *ours, const double *theirs)
{
    double largest = 0.0, worst = 0.0;
    bool ok = true;
    for (size_t i = 0; i < count; ++i) {
        if (isnan(theirs[i]) && isnan(ours[i])) continue;
        largest = fmax(largest, fabs(theirs[i]));
        worst = fmax(worst, fabs(ours[i] - theirs[i]));
        ok = ok && isfinite(ours[i]) && isfinite(theirs[i]);
    }
    ok = ok && worst <= agreed * largest;
    printf("| %s | %zu | %.1e | %s |\n", what, count, worst / largest, ok ? "yes" : "**no**");
    return ok;
}

/* Columns of DIR/mo_rcgp_reference/FILE beside ours, rows of three. */
static bool beside_file(hf_context *ctx, const char *folder, const char *file, const char *name, size_t rows,
                        const double *ours)
{
    char path[1200], what[80];
    hf_table *table = NULL;
    double *theirs = NULL;
    snprintf(path, sizeof path, "%s/mo_rcgp_reference/%s", folder, file);
    snprintf(what, sizeof what, "%s: %s", file, name);
    hf_status status = hf_table_read_csv(ctx, path, &table);
    bool ok = status >= 0 && hf_table_rows(table) == rows && (theirs = malloc(rows * T * sizeof *theirs));
    ok = ok && columns(ctx, table, name, T, theirs) >= 0;
    if (ok)
        ok = beside(what, rows * T, ours, theirs);
    else
        fprintf(stderr, "%s: not %zu rows with %s1..%s3: %s\n", path, rows, name, name,
                hf_context_message(ctx));
    free(theirs);
    hf_table_free(table);
    return ok;
}

/* One number a column, repeated down the table. */
static bool beside_thresholds(hf_context *ctx, const char *folder, const char *file, size_t rows,
                              const double *ours)
{
    double *repeated = malloc(rows * T * sizeof *repeated);
    if (!repeated) return false;
    for (size_t i = 0; i < rows * T; ++i) repeated[i] = ours[i % T];
    const bool ok = beside_file(ctx, folder, file, "c", rows, repeated);
    free(repeated);
    return ok;
}

static bool compare(hf_context *ctx, const char *folder, const mo_reference *r)
{
    static const char *const files[3] = {"fixed_pred.csv", "fixed_pred_mogp.csv",
                                         "fixed_pred_priormean_rcgp.csv"};
    static const double theirs[MO_REFERENCE_OBJECTIVES] = {
        -6085.327443756855, -3713.176014952819, -2396.0079143207095, -5974.5335219446715, -3525.708553095514};
    bool ok = true;
    puts("| what | numbers | largest difference over largest magnitude | within 1e-7 |\n|---|---|---|---|");
    ok &= beside_file(ctx, folder, "fixed_weights.csv", "gamma", r->n, r->centre);
    ok &= beside_thresholds(ctx, folder, "fixed_weights.csv", r->n, r->threshold);
    ok &= beside_file(ctx, folder, "fixed_weights.csv", "w", r->n, r->weight);
    ok &= beside_file(ctx, folder, "fixed_weights.csv", "mw", r->n, r->shift);
    ok &= beside_file(ctx, folder, "loo_init_weights.csv", "gamma", r->n, r->first_centre);
    ok &= beside_thresholds(ctx, folder, "loo_init_weights.csv", r->n, r->first_threshold);
    ok &= beside_file(ctx, folder, "loo_init_weights.csv", "w", r->n, r->first_weight);
    for (size_t k = 0; k < 3; ++k) {
        ok &= beside_file(ctx, folder, files[k], "mu", QUERIES, r->mean[k]);
        ok &= beside_file(ctx, folder, files[k], "var", QUERIES, r->var[k]);
    }
    for (size_t k = 0; k < MO_REFERENCE_OBJECTIVES; ++k)
        ok &= beside(mo_reference_objectives[k], 1, &r->objective[k], &theirs[k]);
    return ok;
}

/* ---- values -------------------------------------------------------------------------------------------------- */

/* null where a number is not finite. */
static json_t *array(size_t count, const double *values)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; ++i)
        json_array_append_new(out, isfinite(values[i]) ? json_real(values[i]) : json_null());
    return out;
}

static bool print_values(const mo_reference *r)
{
    const size_t n = r->n * T, q = (size_t)QUERIES * T;
    json_t *object = json_pack(
        "{so so so so so so so so so so so so so so}", "centre", array(n, r->centre), "weight",
        array(n, r->weight), "shift", array(n, r->shift), "threshold", array(T, r->threshold), "first_centre",
        array(n, r->first_centre), "first_weight", array(n, r->first_weight), "first_threshold",
        array(T, r->first_threshold), "mean", array(q, r->mean[0]), "var", array(q, r->var[0]), "mogp_mean",
        array(q, r->mean[1]), "mogp_var", array(q, r->var[1]), "prior_mean", array(q, r->mean[2]),
        "prior_var", array(q, r->var[2]), "objective", array(MO_REFERENCE_OBJECTIVES, r->objective));
    const bool ok = object && json_dumpf(object, stdout, JSON_COMPACT) == 0 && puts("") != EOF;
    json_decref(object);
    return ok;
}

int main(int argc, char **argv)
{
    const char *folder = sets_folder(), *train = NULL;
    char path[SETS_PATH];
    const option_row rows[] = {
        option_text("data", "DIR", "folder with mo_rcgp_reference/ " SETS_DEFAULT, &folder),
        option_text("train", "FILE",
                    "readings x,y1,y2,y3 of one's own, empty = missing: prints all values as one line\n"
                    "of JSON, to be compared with another program's",
                    &train)};
    options_read(argc, argv,
                 "usage: mo-rcgp-reference [option]...\n"
                 "Weights, predictions and objectives of MO-RCGP beside those of the published program.\n",
                 NULL, sizeof rows / sizeof *rows, rows);
    if (!train && !sets_need(folder, "mo_rcgp_reference/train.csv", path)) return SETS_MISSING;
    mo_reference r = {0};
    hf_context *ctx = hf_context_create();
    hf_status status = ctx ? load(ctx, train ? train : path, &r) : HF_ERR_MEMORY;
    if (status >= 0) status = mo_reference_compute(ctx, &r);
    bool ok = status >= 0;
    if (!ok) fprintf(stderr, "mo-rcgp-reference: %s\n", hf_context_message(ctx));
    if (ok) ok = train ? print_values(&r) : compare(ctx, folder, &r);
    mo_reference_free(&r);
    hf_context_free(ctx);
    return ok ? 0 : 1;
}
