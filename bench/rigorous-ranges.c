/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rigorous-ranges.c
 * @brief The cost of proof against rounding: microseconds that bounding one box takes on one thread, by
 * default and rigorously.
 *
 * Boxes of half-width 0.1 about random points, bounded without splitting, both ends: a question's time less
 * that of what it computes once, over what one more box costs: (time with 21 boxes - time with
 * 1) / 20 for each end.
 */
#include "common/bench.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MORE = 20
};

typedef struct subject {
    hf_posterior *posterior;
    hf_classifier *classifier;
    size_t d;
} subject;

static void make(hf_context *ctx, const char *expression, size_t n, size_t d, bool labels, subject *out)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_EXPERIMENT, n + d);
    double *x = bench_doubles(n * d), *y = bench_doubles(n);
    size_t *label = malloc(n * sizeof *label);
    if (!label) exit(1);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) x[i * d + j] = hfi_stream_normal(&stream);
        y[i] = sin(2.0 * x[i * d]) + 0.1 * hfi_stream_normal(&stream);
        label[i] = y[i] > 0.0;
    }
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    *out = (subject){.d = d};
    bench_must(ctx, hf_kernel_parse(ctx, expression, NULL, d, &kernel), "kernel");
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_ZERO, d, &mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, n, y, 0.01, NULL, &sites), "sites");
    if (labels)
        bench_must(ctx,
                   hf_classify_exact(ctx, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE, kernel, mean, n, x, d, label,
                                     2, &out->classifier, NULL),
                   "classify");
    else
        bench_must(ctx, hf_solve_exact(ctx, kernel, mean, sites, x, d, &out->posterior), "solve");
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(label);
    free(x);
    free(y);
}

/* Seconds for one end with so many boxes. */
static double one_end(hf_context *ctx, const subject *s, hf_certify_what what, bool rigorous, size_t boxes,
                      size_t index)
{
    hfi_stream stream;
    hf_range range;
    hf_certify_settings settings = hf_certify_settings_default();
    double *lower = bench_doubles(s->d), *upper = bench_doubles(s->d);
    hfi_stream_init(&stream, 7, HFI_PURPOSE_EXPERIMENT, index);
    for (size_t j = 0; j < s->d; j++) {
        lower[j] = hfi_stream_normal(&stream) - 0.1;
        upper[j] = lower[j] + 0.2;
    }
    settings.tolerance = 1e-12;
    settings.node_limit = boxes;
    settings.lower_only = true;
    settings.rigorous = rigorous;
    settings.output = s->classifier ? 1 : 0;
    bench_must(ctx,
               s->classifier
                   ? hf_certify_class(ctx, s->classifier, &settings, 1, lower, upper, &range, NULL, NULL)
                   : hf_certify(ctx, s->posterior, what, &settings, lower, upper, &range, NULL, NULL),
               "certify");
    free(lower);
    free(upper);
    return range.seconds;
}

static double microseconds(hf_context *ctx, const subject *s, hf_certify_what what, bool rigorous,
                           size_t repeats)
{
    timings t = {0};
    for (size_t k = 0; k < repeats; k++)
        bench_add(&t, (one_end(ctx, s, what, rigorous, 1 + MORE, k) - one_end(ctx, s, what, rigorous, 1, k)) /
                          MORE);
    return 1e6 * bench_median(&t);
}

static void report(hf_context *ctx, const char *expression, size_t n, size_t d, size_t repeats)
{
    static const char *const NAMES[] = {"mean", "sd", "probability (logit)"};
    for (size_t which = 0; which < 3; which++) {
        subject s;
        make(ctx, expression, n, d, which == 2, &s);
        const hf_certify_what what = which == 1 ? HF_CERTIFY_SD : HF_CERTIFY_MEAN;
        const double plain = microseconds(ctx, &s, what, false, repeats),
                     proof = microseconds(ctx, &s, what, true, repeats);
        printf("| %s | %zu | %zu | %s | %.0f | %.0f | %.0f |\n", expression, n, d, NAMES[which], plain, proof,
               proof / plain);
        fflush(stdout);
        hf_classifier_free(s.classifier);
        hf_posterior_free(s.posterior);
    }
}

int main(int argc, char **argv)
{
    const size_t repeats = bench_repeats(argc, argv, 5);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    hf_context_set_threads(ctx, 1);
    printf("| kernel | n | d | value | default, us a box | rigorous, us a box | ratio "
           "|\n|---|---|---|---|---|---|---|\n");
    report(ctx, "se(ard)", 100, 2, repeats);
    report(ctx, "se(ard)", 400, 2, repeats);
    report(ctx, "se(ard)", 100, 8, repeats);
    report(ctx, "matern52(ard)", 100, 2, repeats);
    report(ctx, "matern32(ard)", 100, 2, repeats);
    hf_context_free(ctx);
    return 0;
}
