/* SPDX-License-Identifier: Apache-2.0 */
/* The parts behind hf_fit(), put together by hand: kernel -> sites -> solver -> posterior.
 *
 * Robust sites give each reading a weight that falls with its distance from a centre; here the centre is the
 * median of its neighbours. Compare with Gaussian sites, which trust every reading. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>

enum {
    READINGS = 40
};

static const double noise = 0.01;

typedef struct readings {
    double x[READINGS], y[READINGS];
} readings;

static readings measure(void)
{
    readings r;
    for (int i = 0; i < READINGS; i++) {
        r.x[i] = 0.25 * i;
        r.y[i] = sin(r.x[i]) + 0.1 * sin(991.0 * i);
        if (i % 9 == 4) r.y[i] += 3.0;
    }
    return r;
}

/* kernel and prior mean with given hyperparameters */
static hf_status make_prior(hf_context *ctx, hf_kernel **kernel, hf_mean **mean)
{
    hf_status s = hf_kernel_parse(ctx, "matern52(ard)", NULL, 1, kernel);
    if (s >= 0) s = hf_kernel_set(ctx, *kernel, "lengthscale", 1.5);
    if (s >= 0) s = hf_kernel_set(ctx, *kernel, "outputscale", 1.0);
    if (s >= 0) s = hf_mean_create(ctx, HF_MEAN_ZERO, 1, mean);
    return s;
}

/* Solves for the sites and prints the largest error of the mean between the readings. */
static hf_status judge(hf_context *ctx, const char *name, const hf_kernel *kernel, const hf_mean *mean,
                       const hf_sites *sites, const readings *r)
{
    hf_posterior *posterior = NULL;
    double worst = 0.0;
    hf_status s = hf_solve_exact(ctx, kernel, mean, sites, r->x, 1, &posterior);
    for (int i = 0; i < 2 * READINGS - 2 && s >= 0; i++) {
        double x = 0.125 * i, predicted;
        s = hf_predict(ctx, posterior, 1, &x, 1, &predicted, NULL, NULL);
        worst = fmax(worst, fabs(predicted - sin(x)));
    }
    if (s >= 0) {
        const hf_solve_report *report = hf_posterior_report_of(posterior);
        printf("%-9s largest error %.3f, log evidence %7.1f, condition %.1e, jitter %g\n", name, worst,
               report->log_evidence, report->condition, report->jitter);
    }
    hf_posterior_free(posterior);
    return s;
}

int main(void)
{
    const readings r = measure();
    double centre[READINGS], threshold;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *plain = NULL, *robust = NULL;

    hf_status s = make_prior(ctx, &kernel, &mean);
    if (s >= 0) s = hf_sites_gaussian(ctx, READINGS, r.y, noise, NULL, &plain);
    if (s >= 0) s = hf_robust_centre_neighbours(ctx, READINGS, 1, r.x, 1, r.y, centre);
    if (s >= 0) s = hf_robust_threshold(ctx, HF_THRESHOLD_MAD, READINGS, r.y, centre, 0.1, &threshold);
    if (s >= 0) s = hf_sites_robust(ctx, READINGS, r.y, noise, NULL, centre, threshold, &robust);
    if (s >= 0) s = judge(ctx, "Gaussian:", kernel, mean, plain, &r);
    if (s >= 0) s = judge(ctx, "robust:", kernel, mean, robust, &r);
    for (int i = 0; i < READINGS && s >= 0; i++)
        if (hf_sites_weights(robust)[i] < 0.5)
            printf("reading %2d: %5.2f, weight %.3f\n", i, r.y[i], hf_sites_weights(robust)[i]);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_sites_free(robust);
    hf_sites_free(plain);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    return s < 0;
}
