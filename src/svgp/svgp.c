/* SPDX-License-Identifier: Apache-2.0 */
/* The fit: checks, training, the final solution. */
#include "svgp/svgp.h"
#include "core/settings.h"
#include "sites/kind.h"
#include "svgp/impl.h"
#include <math.h>
#include <string.h>

enum {
    WHOLE = 4096, /* with so few rows a step looks at all of them, unless told otherwise */
    USUAL_BATCH = 1024
};

static const double first_nu = 4.0;

static hf_status check_svgp_fit(hf_context *ctx, const hfi_row_source *rows, const hfi_trainer *space,
                                const hf_fit_settings *settings, size_t m, double noise)
{
    const hfi_svgp_kind *kind = hfi_svgp_kind_of(settings->sites);
    hf_fit_settings chosen = *settings;
    if (rows->n == 0 || m == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "a variational fit needs rows and inducing inputs");
    /* The table of settings is asked once more: the number of rows may have chosen solver and minibatch. */
    chosen.solver = HF_SOLVER_INDUCING;
    chosen.suspects = HF_OUTLIERS_OFF; /* those are looked for elsewhere */
    if (chosen.minibatch == 0 && !(kind && kind->shape)) chosen.minibatch = USUAL_BATCH;
    const hf_status s = hfi_settings_agree(ctx, hf_fit_settings_table(), &chosen, 1, NULL);
    if (s < 0) return s;
    if (!kind)
        return hfi_refuse(ctx, "%s sites look at all readings at once: no minibatches",
                          hf_enum_name(HF_ENUM_LIKELIHOOD, settings->sites));
    if (!(noise > 0.0) || !isfinite(noise))
        return hfi_refuse(ctx, "a noise variance of %g; it must be positive", noise);
    if (space->count != space->noise + 1 && space->count != space->noise + 1 + m * rows->d)
        return hfi_fail(ctx, HF_ERR_INTERNAL, "a state of %zu numbers is none of %zu inducing inputs",
                        space->count, m);
    return HF_OK;
}

static double observed_noise(const hfi_svgp *q, const hf_fit_settings *settings)
{
    return hfi_sites_observed_noise(hfi_sites_kind_of(settings->sites), q->noise.noise, q->noise.student.nu,
                                    settings->consistent_noise ? q->noise.threshold : INFINITY);
}

/* The average, where a constant usually starts, is what wild readings pull at most. */
static hf_status start_at_median(hfi_svgp_run *run)
{
    hf_mean *mean = run->q->mean;
    const hf_mean_kind kind = hf_mean_get_kind(mean);
    if (hf_mean_held(mean) || (kind != HF_MEAN_CONSTANT && kind != HF_MEAN_LINEAR)) return HF_OK;
    const size_t count = hf_mean_coefficients(mean);
    double *values = hfi_alloc(run->q->ctx, count, sizeof *values);
    if (!values) return HF_ERR_MEMORY;
    memcpy(values, hf_mean_values(mean), count * sizeof *values);
    size_t present = 0;
    for (size_t i = 0; i < run->sample; i++)
        if (!isnan(run->sample_y[i])) run->sample_mean[present++] = run->sample_y[i];
    if (present > 0) values[0] = hfi_median(run->sample_mean, present);
    const hf_status s = hf_mean_set(run->q->ctx, mean, values, false);
    hfi_free(run->q->ctx, values);
    return s;
}

/* Nothing to train and a closed form at hand: no batches are needed. */
static bool needs_no_training(const hfi_svgp_run *run)
{
    return run->space->free_count == 0 && !run->train_nu;
}

static hf_status fit(hfi_svgp_run *run, hfi_solution *out)
{
    hfi_svgp *q = run->q;
    hf_status s = hfi_svgp_prior(q);
    if (s >= 0 && !hfi_svgp_is_plain(q->noise.kind)) s = hfi_svgp_take_sample(run);
    if (s >= 0 && !hfi_svgp_is_plain(q->noise.kind) && run->settings->train) s = start_at_median(run);
    run->warm = run->settings->optimiser == HF_OPTIMISER_LBFGS;
    if (s >= 0 && !needs_no_training(run) && run->warm) s = hfi_svgp_warm_start(run);
    if (s >= 0 && !needs_no_training(run)) s = hfi_svgp_train(run);
    run->trained = !needs_no_training(run);
    if (s < 0) return s;
    const hf_status finished = hfi_svgp_finish(run);
    if (finished < 0) return finished;
    s = hfi_svgp_solution(q, out);
    if (s < 0) return s;
    run->report->threshold = q->noise.kind->weighed ? q->noise.threshold : INFINITY;
    run->report->observed_noise = observed_noise(q, run->settings);
    run->report->jitter = q->jitter;
    if (q->strained)
        return hfi_fail(
            q->ctx, HF_WARN_JITTER,
            "the covariance of the inducing inputs was not positive definite; %.3g was added to its diagonal",
            q->jitter);
    if (run->report->found.stop == HF_STOP_ITERATIONS)
        return hfi_fail(q->ctx, HF_WARN_NOT_CONVERGED,
                        "training stopped after %zu passes over the readings; the bound was still improving",
                        run->report->epochs);
    return finished;
}

hf_status hfi_svgp_fit(hf_context *ctx, const hfi_row_source *rows, const hfi_trainer *space,
                       hf_kernel *kernel, hf_mean *mean, double *noise, double *nu,
                       const hf_fit_settings *settings, double threshold, size_t m, double *z,
                       hfi_solution *out, hfi_svgp_report *report)
{
    memset(out, 0, sizeof *out);
    hf_status s = check_svgp_fit(ctx, rows, space, settings, m, *noise);
    if (s < 0) return s;
    hf_fit_settings own = *settings;
    if (own.minibatch == 0) own.minibatch = rows->n <= WHOLE ? rows->n : USUAL_BATCH;
    const hfi_svgp_kind *kind = hfi_svgp_kind_of(own.sites);
    const hfi_svgp_noise start = {.kind = kind,
                                  .noise = *noise,
                                  .threshold = INFINITY,
                                  .student =
                                      hfi_student_make(own.student_nu > 0.0 ? own.student_nu : first_nu)};
    hfi_svgp q;
    s = hfi_svgp_init(ctx, kernel, mean, &start, m, rows->d, z, own.minibatch, &q);
    if (s < 0) return s;
    hfi_svgp_report local = {.threshold = INFINITY, .found.gradient_norm = NAN};
    hfi_svgp_run run = {.q = &q,
                        .rows = rows,
                        .space = space,
                        .settings = &own,
                        .threshold = threshold,
                        .train_nu = kind->shape && own.train && own.student_nu == 0.0,
                        .report = &local};
    s = fit(&run, out);
    *noise = q.noise.noise;
    *nu = kind->shape ? q.noise.student.nu : INFINITY;
    memcpy(z, q.z, m * rows->d * sizeof *z);
    if (report) *report = local;
    HFI_FREE(ctx, run.sample_x, run.sample_y);
    hfi_svgp_free(&q);
    return s;
}
