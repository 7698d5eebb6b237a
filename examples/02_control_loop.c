/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction where nothing may allocate: a controller that looks up a learnt function and its slope at every tick.
 *
 * The model is const and the workspace is made once, before the loop. hf_predict_latent() allocates nothing,
 * takes no lock, and any number of threads may call it on the same model, each with a workspace of its
 * own. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>

enum {
    READINGS = 60
};

/* Learns how a heater answers to its drive (0..1), from measurements of which a few went wrong. */
static hf_status learn(hf_context *ctx, hf_posterior **model)
{
    double drive[READINGS], power[READINGS];
    for (int i = 0; i < READINGS; i++) {
        drive[i] = (double)i / (READINGS - 1);
        power[i] = 40.0 * drive[i] * drive[i] * (3.0 - 2.0 * drive[i]) + 0.2 * sin(137.0 * i);
        if (i % 17 == 5) power[i] = 0.0; /* a loose contact */
    }
    const hf_data data = {.n = READINGS, .d = 1, .x = drive, .ldx = 1, .y = power};
    hf_fit_settings settings = hf_fit_settings_default();
    hf_fit_report report;
    hf_status s = hf_fit_data(ctx, &data, &settings, model, &report, NULL);
    if (s >= 0) printf("learnt from %zu readings, %zu suspected\n", report.readings, report.suspects);
    return s;
}

/* Newton steps towards the drive that gives the wanted power. */
static hf_status control(const hf_posterior *model, hf_posterior_workspace *workspace, double wanted)
{
    double drive = 0.5, mean = 0.0, variance = 0.0, slope = 0.0;
    hf_status s = HF_OK;
    for (int tick = 0; tick < 8 && s >= 0; tick++) {
        s = hf_predict_latent(model, workspace, &drive, &mean, &variance, &slope, NULL);
        if (fabs(slope) > 1e-6) drive -= (mean - wanted) / slope;
        drive = fmin(fmax(drive, 0.0), 1.0);
    }
    if (s >= 0)
        printf("power %4.1f: drive %.4f, predicted %.2f +- %.2f\n", wanted, drive, mean,
               2.0 * sqrt(variance));
    return s;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_posterior *model = NULL;
    hf_posterior_workspace *workspace = NULL;

    hf_status s = learn(ctx, &model);
    if (s >= 0) {
        workspace = hf_posterior_workspace_create(ctx, model);
        if (workspace == NULL) s = HF_ERR_MEMORY;
    }
    for (double wanted = 5.0; wanted <= 35.0 && s >= 0; wanted += 10.0) s = control(model, workspace, wanted);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_posterior_workspace_free(workspace);
    hf_posterior_free(model);
    hf_context_free(ctx);
    return s < 0;
}
