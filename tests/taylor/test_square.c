/* SPDX-License-Identifier: Apache-2.0 */
/* The variance's model of third degree: against points and slopes, and a gain over linear features. */
#include "taylor/place.h"

static size_t square_scratch(const hfi_taylor *taylor)
{
    assert_true(hfi_taylor_has_square(taylor));
    return hfi_taylor_spread_scratch(taylor) + hfi_taylor_square_scratch(taylor);
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
            begin_place(&c, k % 3 == 0 ? 1.0 : k % 3 == 1 ? 0.3 : 0.02, &stream, square_scratch, &p);
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(models_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
