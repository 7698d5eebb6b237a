/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of rows that are read when they are needed: a sample is prepared as any table is, and tells the
 * rest how to be seen. */
#include "checkpoint/journal.h"
#include "fit/fit.h"
#include "settings/settings.h"
#include <math.h>
#include <string.h>

enum {
    SAMPLE = 32768,
    SAMPLE_INDEX = 8, /* of hfi_row_source_sample() */
    PASS_ROWS = 4096,
    MOST_HELD = 2048,
    HELD_PART = 20 /* at most one in so many */
};

typedef struct rows_fit {
    hf_context *ctx;
    const hfi_row_source *rows;
    hf_fit_settings settings;
    hfi_fit fit; /* of the sample */
    hf_data data;
    double *sample_x, *sample_y, *sample_extra;
    double *mean, *sd; /* of the inputs of all readings */
    size_t readings;
    size_t held, *held_row; /* kept out, ascending */
    double *held_x, *held_y, *held_extra;
    hfi_sha256 hash; /* of the rows so far; with a checkpoint */
    hfi_fingerprint fingerprint;
} rows_fit;

/* ---- the sample and the pass ----------------------------------------------------------------- */

static hf_status take_sample(rows_fit *j, const char *const *names, bool extra)
{
    const size_t n = j->rows->n, d = j->rows->d, wanted = n < SAMPLE ? n : SAMPLE;
    size_t count = 0;
    hf_status s = HFI_ALLOC(j->ctx, HFI_ROOMS(j->sample_x, wanted, d), HFI_ROOM(j->sample_y, wanted),
                            HFI_ROOM(j->sample_extra, wanted));
    if (s < 0) return s;
    s = hfi_row_source_sample(j->ctx, j->rows, wanted, SAMPLE_INDEX, j->sample_x, j->sample_y,
                              j->sample_extra, &count);
    j->data = (hf_data){.n = count,
                        .d = d,
                        .x = j->sample_x,
                        .ldx = d,
                        .y = j->sample_y,
                        .noise = extra ? j->sample_extra : NULL,
                        .names = names};
    return s;
}

/* Means and sums of squared deviations of columns, chunk by chunk (Chan, Golub, LeVeque 1983). The numbers
 * are divided by `unit` so that their squares stay in range. */
typedef struct column_moments {
    size_t d, count;
    double *mean, *squares, *unit, *chunk_mean, *chunk_squares;
} column_moments;

static void add_chunk(column_moments *m, size_t rows, const double *x, const double *y)
{
    size_t present = 0;
    memset(m->chunk_mean, 0, 2 * m->d * sizeof *m->chunk_mean);
    for (size_t i = 0; i < rows; i++) present += isnan(y[i]) ? 0 : 1;
    if (present == 0) return;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < m->d && !isnan(y[i]); k++)
            m->chunk_mean[k] += x[i * m->d + k] / m->unit[k] / (double)present;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < m->d && !isnan(y[i]); k++) {
            const double u = x[i * m->d + k] / m->unit[k] - m->chunk_mean[k];
            m->chunk_squares[k] += u * u;
        }
    const double before = (double)m->count, now = (double)present, all = before + now;
    for (size_t k = 0; k < m->d; k++) {
        const double apart = m->chunk_mean[k] - m->mean[k];
        m->mean[k] += apart * (now / all);
        m->squares[k] += m->chunk_squares[k] + apart * apart * (before * now / all);
    }
    m->count += present;
}

static hf_status check_rows(const rows_fit *j, size_t begin, size_t count, const double *x, const double *y)
{
    const size_t d = j->rows->d;
    for (size_t i = 0; i < count; i++) {
        if (isinf(y[i]))
            return hfi_fail(j->ctx, HF_ERR_NOT_FINITE, "the target of row %zu is infinite", begin + i + 1);
        for (size_t k = 0; k < d; k++)
            if (!isfinite(x[i * d + k]))
                return hfi_fail(j->ctx, HF_ERR_NOT_FINITE, "an input of row %zu is not finite",
                                begin + i + 1);
    }
    return HF_OK;
}

static hf_status pass(rows_fit *j, column_moments *m, double *x, double *y, double *extra)
{
    const size_t n = j->rows->n;
    hf_status s = HF_OK;
    for (size_t begin = 0; s >= 0 && begin < n; begin += PASS_ROWS) {
        const size_t count = n - begin < PASS_ROWS ? n - begin : PASS_ROWS;
        s = j->rows->read(j->rows->arg, begin, count, x, y, extra);
        if (s >= 0) s = check_rows(j, begin, count, x, y);
        if (s >= 0) add_chunk(m, count, x, y);
        if (s >= 0 && j->settings.checkpoint)
            hfi_rows_fingerprint_add(j->rows->d, count, x, y, extra, &j->hash);
        if (s >= 0 && !hfi_progress(j->ctx, "measure", (double)begin / (double)n, NAN))
            return hfi_cancelled(j->ctx);
    }
    return s;
}

/* Below this the spread of a column is rounding of its numbers. */
static const double no_spread = 1e-13;

static hf_status measure_columns(rows_fit *j)
{
    const size_t d = j->rows->d;
    double *work = hfi_alloc(j->ctx, d, 7 * sizeof *work);
    double *x = hfi_alloc(j->ctx, PASS_ROWS, (d + 2) * sizeof *x);
    hf_status s = work && x ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0) {
        j->mean = work;
        j->sd = work + d;
        column_moments m = {.d = d,
                            .mean = work,
                            .squares = work + d,
                            .unit = work + 2 * d,
                            .chunk_mean = work + 3 * d,
                            .chunk_squares = work + 4 * d};
        for (size_t k = 0; k < d; k++) {
            for (size_t i = 0; i < j->data.n; i++)
                if (isfinite(j->data.x[i * d + k])) m.unit[k] = fmax(m.unit[k], fabs(j->data.x[i * d + k]));
            if (!(m.unit[k] > 0.0)) m.unit[k] = 1.0;
        }
        s = pass(j, &m, x, x + PASS_ROWS * d, x + PASS_ROWS * (d + 1));
        j->readings = m.count;
        for (size_t k = 0; s >= 0 && k < d; k++) {
            const double spread = sqrt(m.squares[k] / fmax((double)m.count, 1.0));
            j->mean[k] = m.mean[k] * m.unit[k];
            j->sd[k] = spread > no_spread && spread * m.unit[k] >= 1e-300 ? spread * m.unit[k] : 1.0;
        }
    }
    hfi_free(j->ctx, x);
    if (!j->mean) hfi_free(j->ctx, work);
    if (s >= 0 && j->readings == 0)
        return hfi_fail(j->ctx, HF_ERR_NO_DATA, "none of the %zu rows has a target", j->rows->n);
    return s;
}

/* ---- rows in the units of the fit ------------------------------------------------------------ */

/* Place of the first held row that is not before `row`. */
static size_t first_held(const rows_fit *j, size_t row)
{
    size_t low = 0, high = j->held;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (j->held_row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static hf_status read_scaled(void *arg, size_t begin, size_t count, double *x, double *y, double *extra)
{
    const rows_fit *j = arg;
    const hfi_scaling *scaling = &j->fit.scaling;
    const hf_status s = j->rows->read(j->rows->arg, begin, count, x, y, extra);
    if (s < 0) return s;
    hfi_scaling_inputs(scaling, count, x, j->rows->d, x);
    for (size_t i = 0; i < count; i++) {
        y[i] = hfi_scaling_target(scaling, 0, y[i]);
        extra[i] = hfi_scaling_site_variance(scaling, 0, extra[i]);
    }
    for (size_t k = first_held(j, begin); k < j->held && j->held_row[k] < begin + count; k++)
        y[j->held_row[k] - begin] = NAN;
    return HF_OK;
}

/* The inputs' scaling is that of all readings, the target's that of the sample. */
static hf_status rescale(rows_fit *j)
{
    hfi_fit *fit = &j->fit;
    const size_t d = fit->d;
    hfi_fit_scale_inputs(fit, j->mean, j->sd);
    for (size_t i = 0; i < fit->n; i++) {
        const double *from = j->data.x + fit->row[i] * d;
        hfi_scaling_inputs(&fit->scaling, 1, from, d, fit->x + i * d);
        if (fit->comparable) hfi_scaling_inputs(&fit->measured, 1, from, d, fit->comparable + i * d);
    }
    return HF_OK;
}

/* ---- readings that are kept out -------------------------------------------------------------- */

/* Single rows, wherever they are; those without a reading say nothing and are dropped. */
static hf_status hold_out(rows_fit *j)
{
    const size_t n = j->rows->n, d = j->rows->d;
    const size_t wanted = j->readings / HELD_PART < MOST_HELD ? j->readings / HELD_PART : MOST_HELD;
    if (!j->settings.calibrate || wanted == 0) return HF_OK;
    if (HFI_ALLOC(j->ctx, HFI_ROOM(j->held_row, wanted), HFI_ROOMS(j->held_x, wanted, d),
                  HFI_ROOM(j->held_y, wanted), HFI_ROOM(j->held_extra, wanted)) < 0)
        return HF_ERR_MEMORY;
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(j->ctx), HFI_PURPOSE_SPLIT, 2);
    for (size_t k = 0; k < wanted; k++) j->held_row[k] = hfi_stream_below(&stream, n);
    hfi_sort_indices(j->held_row, wanted);
    for (size_t k = 0; k < wanted; k++) {
        const size_t row = j->held_row[k], to = j->held;
        if (k > 0 && row == j->held_row[k - 1]) continue;
        const hf_status s =
            j->rows->read(j->rows->arg, row, 1, j->held_x + to * d, j->held_y + to, j->held_extra + to);
        if (s < 0) return s;
        if (isnan(j->held_y[to])) continue;
        j->held_row[j->held++] = row;
    }
    return HF_OK;
}

/* A residual that would cost a reading three quarters of its weight is no evidence about the others' intervals. */
static bool is_ordinary(const rows_fit *j, const hfi_svgp_report *svgp, double residual)
{
    const double scaled = residual / j->fit.scaling.y_scale;
    if (isfinite(svgp->threshold)) return scaled * scaled <= 3.0 * svgp->threshold * svgp->threshold;
    if (hfi_likelihood_is_noise(j->settings.sites)) return scaled * scaled <= 9.0 * j->fit.noise;
    return true;
}

static hf_status calibrate(rows_fit *j, const hfi_svgp_report *svgp, hf_posterior *posterior)
{
    const size_t count = j->held;
    if (count == 0) return HF_OK;
    double *mean = hfi_alloc(j->ctx, count, sizeof *mean), *var = hfi_alloc(j->ctx, count, sizeof *var);
    bool *kept = hfi_alloc(j->ctx, count, sizeof *kept);
    size_t *group = hfi_alloc(j->ctx, count, sizeof *group);
    hf_status s = mean && var && kept && group ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0) s = hf_predict(j->ctx, posterior, count, j->held_x, j->rows->d, mean, NULL, var);
    for (size_t k = 0; s >= 0 && k < count; k++) {
        const double residual = j->held_y[k] - mean[k];
        kept[k] = is_ordinary(j, svgp, residual);
        mean[k] = residual / sqrt(var[k] + j->held_extra[k]);
    }
    if (s >= 0) s = hfi_calibration(j->ctx, count, mean, kept, group, 0, &posterior->calibration);
    HFI_FREE(j->ctx, mean, var, kept, group);
    return s;
}

/* ---- the fit --------------------------------------------------------------------------------- */

static hf_status open_journal(rows_fit *j)
{
    if (!j->settings.checkpoint) return HF_OK;
    hfi_rows_fingerprint_end(&j->hash, &j->fingerprint);
    return hfi_journal_open(j->ctx, j->settings.checkpoint, j->settings.resume, &j->fingerprint,
                            &j->fit.journal);
}

static hf_status prepare_rows_fit(rows_fit *j, const char *const *names, bool extra)
{
    hf_context *ctx = j->ctx;
    hfi_fit *fit = &j->fit;
    j->fingerprint =
        hfi_rows_fingerprint_begin(ctx, j->rows->n, j->rows->d, names, extra, &j->settings, &j->hash);
    hf_status s = take_sample(j, names, extra);
    if (s >= 0) s = measure_columns(j);
    if (s < 0) return s;
    size_t inducing = 0, actions = 0;
    hfi_choose_solver(&j->settings, j->readings, j->rows->d, &inducing, &actions);
    j->settings.inducing = inducing < j->data.n ? inducing : j->data.n;
    *fit = (hfi_fit){.ctx = ctx, .data = &j->data, .settings = &j->settings, .outputs = 1, .nu = INFINITY};
    fit->verdict.evidence = hfi_suspicion_none();
    s = hfi_fit_check(ctx, &j->data, &j->settings);
    if (s >= 0) s = hfi_fit_gather(fit);
    if (s >= 0) s = rescale(j);
    if (s >= 0) s = hfi_fit_prepare(fit);
    if (s >= 0) s = hfi_fit_evaluator(fit);
    if (s >= 0) s = open_journal(j);
    if (s >= 0) s = hfi_fit_trainer(fit);
    if (s >= 0) s = hold_out(j);
    return s;
}

static hf_status fill_report(rows_fit *j, const hfi_svgp_report *svgp, hf_status trained, double *state,
                             const hf_posterior *posterior, hf_fit_report *report)
{
    hfi_fit *fit = &j->fit;
    fit->shared = (hfi_share_report){.found = svgp->found, .evaluations = svgp->steps};
    fit->verdict.rounds = svgp->epochs;
    hfi_fit_adopt_shared(fit);
    fit->projection.residual = NAN;
    hf_status s = hf_sites_set_noise(j->ctx, fit->sites, fit->noise);
    fit->verdict.suspected = hfi_alloc(j->ctx, fit->n, sizeof *fit->verdict.suspected);
    if (!fit->verdict.suspected) return HF_ERR_MEMORY;
    if (s < 0) return s;
    hfi_trainer_get(&fit->trainer, state);
    hfi_fit_fill_report(fit, state, posterior, posterior->calibration, report);
    report->readings = j->readings;
    report->missing = j->rows->n - j->readings;
    report->threshold = svgp->threshold * fit->scaling.y_scale;
    report->suspects = (size_t)(svgp->down_weighted * (double)svgp->readings + 0.5);
    if (trained > 0 || report->at_bound == 0) return trained;
    return hfi_fit_warn(fit, HF_OK, report);
}

static hf_status run_rows_fit(rows_fit *j, hf_posterior **posterior, hf_fit_report *report)
{
    hfi_fit *fit = &j->fit;
    hfi_trainer *t = &fit->trainer;
    hfi_inducing *inducing = t->evaluator.inducing;
    const hfi_row_source scaled = {.n = j->rows->n, .d = j->rows->d, .read = read_scaled, .arg = j};
    double *state = hfi_alloc(j->ctx, t->count, sizeof *state);
    if (!state) return HF_ERR_MEMORY;
    hfi_solution solution = {0};
    hfi_svgp_report svgp = {0};
    hf_posterior *made = NULL;
    hf_fit_report local = {0};
    hf_status s = hfi_trainer_cold(t, state);
    if (s >= 0) s = hfi_trainer_set(t, state);
    hf_status trained = s;
    if (s >= 0)
        trained = s = hfi_svgp_fit(j->ctx, &scaled, t, fit->kernel, fit->mean, &fit->noise, &fit->nu,
                                   &j->settings, fit->threshold, inducing->m, inducing->z, &solution, &svgp);
    if (s >= 0)
        s = hfi_posterior_create(j->ctx, fit->kernel, fit->mean, &solution, &fit->scaling,
                                 svgp.observed_noise, 1.0, &made);
    if (s < 0) hfi_solution_free(&solution);
    if (s >= 0) s = calibrate(j, &svgp, made);
    if (s >= 0) s = fill_report(j, &svgp, trained, state, made, &local);
    hfi_free(j->ctx, state);
    if (s < 0) {
        hf_posterior_free(made);
        return s;
    }
    *posterior = made;
    if (report) *report = local;
    return s;
}

static void job_free(rows_fit *j)
{
    hf_context *ctx = j->ctx;
    if (j->fit.ctx) hfi_fit_free(&j->fit);
    HFI_FREE(ctx, j->sample_x, j->sample_y, j->sample_extra, j->mean, j->held_row, j->held_x, j->held_y,
             j->held_extra);
}

hf_status hfi_fit_rows(hf_context *ctx, const hfi_row_source *rows, const char *const *names, bool extra,
                       const hf_fit_settings *settings, hf_posterior **posterior, hf_fit_report *report)
{
    const double begin = hfi_now();
    hf_status s = hfi_fit_settings_use(ctx, settings, HFI_USE_STREAM);
    if (s >= 0) s = hfi_fit_settings_use(ctx, settings, HFI_USE_PARTS);
    if (s < 0) return s;
    if (rows->n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "there are no readings to fit");
    rows_fit j = {.ctx = ctx, .rows = rows, .settings = *settings};
    j.settings.solver = HF_SOLVER_INDUCING;
    s = prepare_rows_fit(&j, names, extra);
    if (s >= 0) s = run_rows_fit(&j, posterior, report);
    hfi_fit_close_journal(&j.fit, s >= 0 ? report : NULL);
    if (s >= 0 && report) report->seconds = hfi_now() - begin;
    job_free(&j);
    return s;
}
