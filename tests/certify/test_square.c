/* SPDX-License-Identifier: Apache-2.0 */
/* The variance's model of third degree: against points and slopes, a gain over linear features, and ranges of
 * sds in many inputs that points do not leave. */
#include "certify/certify_testing.h"

#include "bound/taylor.h"

/* A box inside the whole one, in the solver's units. */
typedef struct place {
    double low[INPUTS], high[INPUTS], middle[INPUTS], extent[INPUTS], centre[INPUTS], half[INPUTS];
    size_t free_inputs[INPUTS];
    hfi_subject subject;
    hfi_taylor *taylor;
    double *scratch;
} place;

static void begin_place(const cert *c, double share, hfi_stream *stream, place *p)
{
    const hfi_scaling *s = &c->posterior->scaling;
    for (size_t j = 0; j < INPUTS; j++) {
        p->low[j] = (c->lower[j] - s->x_shift[j]) / s->x_scale[j];
        p->high[j] = (c->upper[j] - s->x_shift[j]) / s->x_scale[j];
        p->middle[j] = 0.5 * (p->low[j] + p->high[j]);
        p->extent[j] = 0.5 * (p->high[j] - p->low[j]) * (1.0 + 1e-12);
        p->half[j] = share * p->extent[j];
        p->centre[j] = p->middle[j] + (p->extent[j] - p->half[j]) * (2.0 * hfi_stream_uniform(stream) - 1.0);
        p->free_inputs[j] = j;
    }
    p->subject =
        (hfi_subject){c->posterior, INPUTS, p->low, p->high, INPUTS, p->free_inputs, p->middle, p->extent};
    assert_int_equal(hfi_taylor_create(c->ctx, &p->subject, &p->taylor), HF_OK);
    assert_true(hfi_taylor_has_square(p->taylor));
    p->scratch = make_zeros(hfi_taylor_spread_scratch(p->taylor) + hfi_taylor_square_scratch(p->taylor));
}

static void end_place(place *p)
{
    free(p->scratch);
    hfi_taylor_free(p->taylor);
}

typedef struct numbers {
    double b[INPUTS], gram[INPUTS * INPUTS], shares[INPUTS];
    double g[INPUTS], h[INPUTS * INPUTS], t[INPUTS * INPUTS * INPUTS], error[INPUTS], share[INPUTS];
    hfi_spread_model spread;
    hfi_square_model square;
} numbers;

static void make_models(const place *p, numbers *at)
{
    at->spread = (hfi_spread_model){.b = at->b, .g = at->gram, .remainder_share = at->shares};
    at->square =
        (hfi_square_model){.g = at->g, .h = at->h, .t = at->t, .slope_error = at->error, .share = at->share};
    hfi_taylor_spread(p->taylor, 1, p->centre, p->half, &at->spread, p->scratch);
    hfi_taylor_spread_on(p->taylor, 1, &at->spread);
    hfi_taylor_square(p->taylor, p->centre, p->half, &at->spread, &at->square,
                      p->scratch + hfi_taylor_spread_scratch(p->taylor));
}

/* The polynomial at u, and the slopes of its quadratic part. */
static double evaluate(const numbers *at, const double *u, double *slope)
{
    double value = at->spread.var;
    for (size_t a = 0; a < INPUTS; a++) {
        slope[a] = at->g[a];
        for (size_t b = 0; b < INPUTS; b++) {
            slope[a] += at->h[a * INPUTS + b] * u[b];
            for (size_t c = 0; c < INPUTS; c++)
                value += at->t[(a * INPUTS + b) * INPUTS + c] * u[a] * u[b] * u[c] / 6.0;
        }
        value += 0.5 * u[a] * (at->g[a] + slope[a]);
    }
    return value;
}

/* Variance and slopes along the box at u. */
static double variance_at(const cert *c, const place *p, const double *u, double *slope)
{
    const hfi_scaling *s = &c->posterior->scaling;
    double x[INPUTS], mean, var, unused[INPUTS];
    for (size_t j = 0; j < INPUTS; j++)
        x[j] = (p->centre[j] + p->half[j] * u[j]) * s->x_scale[j] + s->x_shift[j];
    assert_int_equal(hf_predict_latent(c->posterior, c->workspace, x, &mean, &var, unused, slope), HF_OK);
    for (size_t j = 0; j < INPUTS; j++) slope[j] *= p->half[j] * s->x_scale[j] / (s->y_scale * s->y_scale);
    return var / (s->y_scale * s->y_scale);
}

/* Returns the largest share of what is allowed that points use. */
static double check_points(const cert *c, const place *p, const numbers *at, hfi_stream *stream)
{
    const hfi_square_model *model = &at->square;
    double most = 0.0;
    for (size_t k = 0; k < 100; k++) {
        double u[INPUTS], slope[INPUTS], own[INPUTS];
        for (size_t j = 0; j < INPUTS; j++)
            u[j] = fmax(-1.0, fmin(1.0, 4.0 * hfi_stream_uniform(stream) - 2.0));
        const double off = variance_at(c, p, u, slope) - evaluate(at, u, own);
        const double allowed = model->rounding + 1e-11;
        assert_true(off >= -model->below - allowed && off <= model->above + allowed);
        most = fmax(most, fmax(off, -off) / (fmax(model->above, model->below) + allowed));
        for (size_t a = 0; a < INPUTS; a++)
            assert_true(fabs(slope[a] - own[a]) <= model->slope_error[a] + 8.0 * allowed);
    }
    return most;
}

/* The polynomial is the Taylor polynomial: along a line what is left falls with the fourth power, which a wrong
 * coefficient would not let it. */
static void check_order(const cert *c, const place *p, const numbers *at, hfi_stream *stream)
{
    double u[INPUTS], slope[INPUTS], own[INPUTS], off[2];
    for (size_t j = 0; j < INPUTS; j++) u[j] = 2.0 * hfi_stream_uniform(stream) - 1.0;
    for (size_t k = 0; k < 2; k++) {
        double v[INPUTS];
        for (size_t j = 0; j < INPUTS; j++) v[j] = (k ? 0.05 : 0.1) * u[j];
        off[k] = fabs(variance_at(c, p, v, slope) - evaluate(at, v, own));
    }
    assert_true(off[1] <= off[0] / 8.0 + 1e-5 * at->square.above + 1e-10);
}

static void models_hold(void **state)
{
    const char *const kernels[] = {"matern52(ard)", "se(ard)", "se(ard) + 0.5*matern52(x1,x3) + white",
                                   "matern52(x2)*constant + se(x1)*se(x3) + se(x2)"};
    double gain = 0.0, used = 0.0;
    size_t boxes = 0;
    for (size_t e = 0; e < CERT_SOLVERS * sizeof kernels / sizeof *kernels; e++) {
        const char *expression = kernels[e / CERT_SOLVERS];
        cert c = cert_make(*state, expression, 60, 4 + e, (cert_solver)(e % CERT_SOLVERS), false);
        hfi_stream stream;
        hfi_stream_init(&stream, 61, HFI_PURPOSE_TEST, e);
        for (size_t k = 0; k < 18; k++) {
            place p;
            numbers at;
            cert_place(&c, expression, 0.2, &stream);
            begin_place(&c, k % 3 == 0 ? 1.0 : k % 3 == 1 ? 0.3 : 0.02, &stream, &p);
            make_models(&p, &at);
            used = fmax(used, check_points(&c, &p, &at, &stream));
            check_order(&c, &p, &at, &stream);
            const double length = sqrt(fmax(at.spread.var, 0.0)), linear = at.spread.remainder;
            gain += log((2.0 * length + linear) * linear / (at.square.below + at.square.rounding));
            boxes++;
            end_place(&p);
        }
        cert_drop(&c);
    }
    /* Wrong bounds would be met, and useless ones would not be narrower than linear features. */
    assert_true(used > 0.2);
    assert_true(gain > log(4.0) * (double)boxes);
}

enum {
    N = 60,
    WIDE = 8
};

/* Readings in many inputs and their posterior. */
static hf_posterior *make_wide(hf_context *ctx, const char *expression, double *x)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean;
    hf_sites *sites;
    hf_posterior *posterior;
    double y[N];
    hfi_stream stream;
    hfi_stream_init(&stream, 62, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N * WIDE; i++) x[i] = hfi_stream_normal(&stream);
    for (size_t i = 0; i < N; i++) y[i] = sin(x[i * WIDE]) + x[i * WIDE + 1] * x[i * WIDE + 2];
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, WIDE, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, WIDE, &mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, N, y, 0.01, NULL, &sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, kernel, mean, sites, x, WIDE, &posterior), HF_OK);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return posterior;
}

/* Random points, corners, and the ends of gradient steps stay inside; the search ends, since monotone inputs go. */
static void check_wide(hf_context *ctx, const hf_posterior *posterior, const double *low, const double *high,
                       const hf_range *range)
{
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, posterior);
    hfi_stream stream;
    hfi_stream_init(&stream, 63, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < 600; k++) {
        double at[WIDE], slope[WIDE], unused[WIDE], mean, var;
        const double sign = k % 2 ? 1.0 : -1.0;
        for (size_t j = 0; j < WIDE; j++) {
            const double u = hfi_stream_uniform(&stream);
            at[j] = k % 3 ? low[j] + u * (high[j] - low[j]) : u < 0.5 ? low[j] : high[j];
        }
        for (size_t step = 0; step < 6; step++) {
            assert_int_equal(hf_predict_latent(posterior, workspace, at, &mean, &var, unused, slope), HF_OK);
            assert_true(sqrt(var) >= range->lower && sqrt(var) <= range->upper);
            for (size_t j = 0; j < WIDE; j++) {
                const double to = at[j] + sign * (slope[j] > 0.0 ? 1.0 : -1.0) * (high[j] - low[j]) /
                                              (2.0 + 3.0 * (double)step);
                at[j] = fmin(fmax(to, low[j]), high[j]);
            }
        }
    }
    hf_posterior_workspace_free(workspace);
}

static void sds_of_many_inputs_are_found(void **state)
{
    const char *const kernels[] = {"se(lengthscale=2)", "matern52(lengthscale=2)"};
    for (size_t e = 0; e < 4; e++) {
        double x[N * WIDE], low[WIDE], high[WIDE];
        hf_posterior *posterior = make_wide(*state, kernels[e / 2], x);
        const double half = e % 2 ? 0.2 : 0.1;
        for (size_t j = 0; j < WIDE; j++) {
            low[j] = x[(1 + e) * WIDE + j] - half;
            high[j] = x[(1 + e) * WIDE + j] + half;
        }
        hf_certify_settings settings = hf_certify_settings_default();
        hf_range range;
        settings.time_limit = 0.0;
        settings.tolerance = 0.02;
        settings.node_limit = 4000;
        assert_true(hf_certify(*state, posterior, HF_CERTIFY_SD, &settings, low, high, &range, NULL, NULL) >=
                    0);
        assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
        check_wide(*state, posterior, low, high, &range);
        hf_posterior_free(posterior);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(models_hold),
        TEST(sds_of_many_inputs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
