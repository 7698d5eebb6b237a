/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file workshop.h
 * @brief One of everything the public interface knows, made with one context, and a fingerprint of
 * all of it: after a call that failed the fingerprint must be what it was. Public headers only.
 */
#ifndef TESTS_API_WORKSHOP_H
#define TESTS_API_WORKSHOP_H

#include "data/support.h"

#include <holdfast/holdfast.h>

#include <math.h>

enum {
    WORKSHOP_N = 12, /* readings */
    WORKSHOP_D = 2,  /* inputs */
    WORKSHOP_M = 3   /* points to predict at */
};

typedef struct workshop {
    hf_context *ctx;
    /* text, a feature with a gap, a target with a gap, a column of noise variances */
    hf_table *table;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites; /* robust */
    hf_posterior *posterior;
    hf_posterior_workspace *workspace;
    hf_model *model; /* of the table, with its noise column */
    double x[WORKSHOP_N * WORKSHOP_D], y[WORKSHOP_N], extra[WORKSHOP_N], centre[WORKSHOP_N];
    double at[WORKSHOP_M * WORKSHOP_D];
    folder scratch;
    char csv[256], file[256], out[256]; /* a table, a model, a place to write to */
} workshop;

/* Numbers in (0, 1) that are the same everywhere. */
static inline double workshop_uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static const char workshop_csv[] =
    "who,a,b,v,y\n"
    "ann,0.1,1,0.01,0.3\nbob,0.9,-1,0.02,0.7\neve,1.4,,0.01,1.2\n"
    "dan,2.2,0.5,0.01,1.1\ntom,2.8,0.2,0.03,\nida,3.3,-0.4,0.01,0.1\n"
    "max,3.9,0.8,0.01,9\nleo,4.4,-0.9,0.02,-0.6\nmia,5.1,0.4,0.01,-0.9\n";

/* Every hyperparameter is given, so that a fit needs no search. */
static const hf_assignment workshop_values[] = {{"outputscale", 1.3},
                                                {"lengthscale[0]", 0.8},
                                                {"lengthscale[1]", 2.5},
                                                {"noise", 0.04},
                                                {"mean", 0.25}};

static inline hf_fit_settings workshop_untrained(void)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    settings.standardise = false;
    settings.set = workshop_values;
    settings.set_count = sizeof workshop_values / sizeof workshop_values[0];
    return settings;
}

static inline void workshop_readings(workshop *w)
{
    uint64_t state = 17;
    for (size_t i = 0; i < WORKSHOP_N; i++) {
        w->x[i * WORKSHOP_D] = 5.0 * workshop_uniform(&state);
        w->x[i * WORKSHOP_D + 1] = workshop_uniform(&state) - 0.5;
        w->y[i] = sin(w->x[i * WORKSHOP_D]) + 0.1 * workshop_uniform(&state);
        w->extra[i] = 0.01 * workshop_uniform(&state);
        w->centre[i] = 0.1;
    }
    w->y[4] += 7.0;
    w->y[9] = NAN;
    for (size_t i = 0; i < WORKSHOP_M * WORKSHOP_D; i++) w->at[i] = 2.0 * workshop_uniform(&state);
}

/* Makes all of it; `ctx` is the caller's. */
static inline void workshop_open(workshop *w, hf_context *ctx)
{
    *w = (workshop){.ctx = ctx, .scratch = folder_make()};
    workshop_readings(w);
    folder_file(&w->scratch, "table.csv", w->csv);
    folder_file(&w->scratch, "model.hf", w->file);
    folder_file(&w->scratch, "out", w->out);
    file_put(w->csv, workshop_csv, strlen(workshop_csv));
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    const hf_fit_settings settings = workshop_untrained();
    bool made =
        hf_table_read_csv(ctx, w->csv, &w->table) >= 0 &&
        hf_kernel_parse(ctx, "matern52(ard) + 0.5*se(x1)", NULL, WORKSHOP_D, &w->kernel) >= 0 &&
        hf_mean_create(ctx, HF_MEAN_LINEAR, WORKSHOP_D, &w->mean) >= 0 &&
        hf_sites_robust(ctx, WORKSHOP_N, w->y, 0.02, w->extra, w->centre, 1.5, &w->sites) >= 0 &&
        hf_solve_exact(ctx, w->kernel, w->mean, w->sites, w->x, WORKSHOP_D, &w->posterior) >= 0 &&
        (w->workspace = hf_posterior_workspace_create(ctx, w->posterior)) != NULL &&
        hf_fit(ctx, w->table, &columns, &settings, &w->model, NULL) >= 0 &&
        hf_model_save(ctx, w->model, w->file) >= 0;
    if (!made) fail_msg("%s", hf_context_message(ctx));
}

static inline void workshop_close(workshop *w)
{
    hf_model_free(w->model);
    hf_posterior_workspace_free(w->workspace);
    hf_posterior_free(w->posterior);
    hf_sites_free(w->sites);
    hf_mean_free(w->mean);
    hf_kernel_free(w->kernel);
    hf_table_free(w->table);
    folder_remove(&w->scratch);
}

/* ---- fingerprint ----------------------------------------------------------------------------- */

static inline void fingerprint_bytes(uint64_t *print, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) *print = (*print ^ b[i]) * 1099511628211U;
}

static inline void fingerprint_text(uint64_t *print, const char *text)
{
    fingerprint_bytes(print, text, strlen(text) + 1);
}

static inline void fingerprint_table(uint64_t *print, const hf_table *table)
{
    char buffer[32];
    for (size_t j = 0; j < hf_table_columns(table); j++) {
        fingerprint_text(print, hf_table_name(table, j));
        for (size_t i = 0; i < hf_table_rows(table); i++)
            fingerprint_text(print, hf_table_field(table, i, j, buffer));
    }
}

static inline void fingerprint_kernel(uint64_t *print, const hf_kernel *kernel)
{
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
        fingerprint_text(print, p.name);
        fingerprint_bytes(print, &p.value, sizeof p.value);
        fingerprint_bytes(print, &p.fixed, sizeof p.fixed);
    }
}

static inline void fingerprint_posterior(uint64_t *print, const workshop *w,
                                         const hf_posterior *posterior)
{
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(w->ctx, posterior);
    assert_non_null(workspace);
    hf_solve_report report;
    memset(&report, 0, sizeof report);
    report = *hf_posterior_report_of(posterior);
    report.bytes = 0.0; /* a refused reading may leave more room than there was */
    fingerprint_bytes(print, &report, sizeof report);
    for (size_t i = 0; i < WORKSHOP_M; i++) {
        double out[2 + 2 * WORKSHOP_D];
        assert_int_equal(hf_predict_observed(posterior, workspace, w->at + i * WORKSHOP_D, out,
                                             out + 1, out + 2, out + 2 + WORKSHOP_D),
                         HF_OK);
        fingerprint_bytes(print, out, sizeof out);
    }
    hf_posterior_workspace_free(workspace);
}

/* Fingerprint of all objects and arrays. Must not be taken while allocations fail. */
static inline uint64_t workshop_fingerprint(const workshop *w)
{
    uint64_t print = 14695981039346656037U;
    fingerprint_table(&print, w->table);
    fingerprint_kernel(&print, w->kernel);
    fingerprint_bytes(&print, hf_mean_values(w->mean),
                      hf_mean_coefficients(w->mean) * sizeof(double));
    const double noise = hf_sites_noise(w->sites);
    fingerprint_bytes(&print, &noise, sizeof noise);
    fingerprint_bytes(&print, hf_sites_targets(w->sites), WORKSHOP_N * sizeof(double));
    fingerprint_bytes(&print, hf_sites_variances(w->sites), WORKSHOP_N * sizeof(double));
    fingerprint_bytes(&print, hf_sites_weights(w->sites), WORKSHOP_N * sizeof(double));
    fingerprint_posterior(&print, w, w->posterior);
    fingerprint_posterior(&print, w, hf_model_posterior(w->model));
    for (size_t i = 0; i < hf_model_notes(w->model); i++)
        fingerprint_text(&print, hf_model_note(w->model, i));
    fingerprint_bytes(&print, w->x, sizeof w->x);
    fingerprint_bytes(&print, w->y, sizeof w->y);
    fingerprint_bytes(&print, w->extra, sizeof w->extra);
    return print;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static inline void assert_close_at(double a, double b, double tolerance, const char *file, int line)
{
    if (fabs(a - b) <= tolerance * fmax(1.0, fabs(b))) return; /* false when anything is NaN */
    print_error("%.17g is not near %.17g (off by %g)\n", a, b, fabs(a - b));
    _fail(file, line);
}

/* |a - b| <= tolerance max(1, |b|); NaN fails. */
#define assert_close(a, b, tolerance) assert_close_at((a), (b), (tolerance), __FILE__, __LINE__)

#endif
