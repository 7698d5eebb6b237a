/* SPDX-License-Identifier: Apache-2.0 */
/* Models of third degree: what fourth derivatives are at most, models against points, slopes and differences
 * of Hessians, and a remainder that is attained. */
#include "taylor/place.h"

#include "taylor/loops.h"
#include "taylor/taylor.h"

/* psi(|u|^2), slowly. */
static double psi(hfi_form form, const double *u)
{
    double q = 0.0;
    for (size_t j = 0; j < INPUTS; j++) q += u[j] * u[j];
    const double s = sqrt(5.0 * q);
    return form == HFI_FORM_SE ? exp(-0.5 * q) : (1.0 + s + s * s / 3.0) * exp(-s);
}

/* A fourth difference is an average of fourth derivatives over four steps. */
static double fourth_difference(hfi_form form, const double *u, const double *v, double step, double *least)
{
    static const double WEIGHT[] = {1.0, -4.0, 6.0, -4.0, 1.0};
    double sum = 0.0;
    *least = INFINITY;
    for (int k = -200; k <= 200; k++) {
        double at[INPUTS], q = 0.0;
        for (size_t j = 0; j < INPUTS; j++) {
            at[j] = u[j] + 0.01 * k * step * v[j];
            q += at[j] * at[j];
        }
        *least = fmin(*least, q);
        if (k % 100 == 0) sum += WEIGHT[k / 100 + 2] * psi(form, at);
    }
    *least = fmax(0.0, sqrt(*least) - 0.01 * step);
    *least *= *least;
    return sum / (step * step * step * step);
}

static void fourth_derivatives_are_bounded(void **state)
{
    (void)state;
    const hfi_form forms[] = {HFI_FORM_SE, HFI_FORM_MATERN52};
    const double step = 0.01;
    for (size_t f = 0; f < 2; f++) {
        double before = INFINITY;
        for (size_t r = 0; r <= 80; r++) {
            const double far = 0.07 * (double)r, q = far * far;
            double size, most = 0.0;
            hfi_radial_fourth(forms[f], 1, &q, &size);
            assert_true(size <= before);
            before = size;
            for (size_t k = 0; k <= 90; k++) {
                const double angle = 0.5 * 3.14159265358979 * (double)k / 90.0, u[INPUTS] = {far, 0.0, 0.0},
                             v[INPUTS] = {cos(angle), 0.6 * sin(angle), 0.8 * sin(angle)};
                double least, bound;
                const double there = fabs(fourth_difference(forms[f], u, v, step, &least));
                hfi_radial_fourth(forms[f], 1, &least, &bound);
                assert_true(there <= bound * (1.0 + 1e-9) + 1e-6);
                most = fmax(most, there);
            }
            /* Hardly more than there is, but before crests. */
            if (r < 20 && far > 0.1) assert_true(most > 0.9 * size || r > 15);
        }
    }
}

static size_t third_scratch(const hfi_taylor *taylor)
{
    assert_true(hfi_taylor_has_third(taylor));
    return hfi_taylor_mean_scratch(taylor) + hfi_taylor_third_scratch(taylor);
}

typedef struct numbers {
    double g[INPUTS], error[INPUTS], shares[INPUTS], h[INPUTS * INPUTS], t[INPUTS * INPUTS * INPUTS];
} numbers;

static hfi_mean_model make_model(const place *p, const double *centre, bool third, numbers *at)
{
    hfi_mean_model model = {
        .g = at->g, .h = at->h, .cubic = at->t, .slope_error = at->error, .remainder_share = at->shares};
    hfi_taylor_mean(p->taylor, 1, centre, p->half, &model, p->scratch);
    if (third) hfi_taylor_third(p->taylor, centre, p->half, &model, p->scratch);
    return model;
}

/* Polynomials of second and third degree at u, and the slopes of the first. */
static void evaluate(const hfi_mean_model *model, const double *u, double *second, double *third,
                     double *slope)
{
    *second = model->value;
    *third = 0.0;
    for (size_t a = 0; a < INPUTS; a++) {
        slope[a] = model->g[a];
        for (size_t b = 0; b < INPUTS; b++) {
            slope[a] += model->h[a * INPUTS + b] * u[b];
            for (size_t c = 0; c < INPUTS; c++)
                *third += model->cubic[(a * INPUTS + b) * INPUTS + c] * u[a] * u[b] * u[c] / 6.0;
        }
        *second += 0.5 * u[a] * (model->g[a] + slope[a]);
    }
    *third += *second;
}

/* Against points of the box; returns the largest share of the remainder that is met. */
static double check_points(const cert *c, const place *p, const hfi_mean_model *model, hfi_stream *stream)
{
    const hfi_scaling *s = &c->posterior->scaling;
    double most = 0.0;
    for (size_t k = 0; k < 100; k++) {
        double u[INPUTS], x[INPUTS], slope[INPUTS], own[INPUTS], mean, second, third;
        for (size_t j = 0; j < INPUTS; j++) {
            u[j] = fmax(-1.0, fmin(1.0, 4.0 * hfi_stream_uniform(stream) - 2.0));
            x[j] = (p->centre[j] + p->half[j] * u[j]) * s->x_scale[j] + s->x_shift[j];
        }
        assert_int_equal(hf_predict_latent(c->posterior, c->workspace, x, &mean, NULL, slope, NULL), HF_OK);
        mean = (mean - s->y_shift) / s->y_scale;
        evaluate(model, u, &second, &third, own);
        const double allowed = model->rounding + 1e-11;
        assert_true(fabs(mean - second) <= model->remainder + allowed);
        assert_true(fabs(mean - third) <= model->outside + allowed);
        most = fmax(most, (fabs(mean - third) - allowed) / model->outside);
        for (size_t a = 0; a < INPUTS; a++)
            assert_true(fabs(slope[a] * p->half[a] * s->x_scale[a] / s->y_scale - own[a]) <=
                        model->slope_error[a] + 4.0 * allowed);
    }
    return most;
}

/* Cubic terms are what Hessians change by. */
static void check_cubic(const place *p, const hfi_mean_model *model)
{
    const double step = 1e-4;
    for (size_t a = 0; a < INPUTS; a++) {
        numbers up, down;
        double centre[INPUTS];
        memcpy(centre, p->centre, sizeof centre);
        centre[a] = p->centre[a] + step * p->half[a];
        (void)make_model(p, centre, false, &up);
        centre[a] = p->centre[a] - step * p->half[a];
        (void)make_model(p, centre, false, &down);
        for (size_t k = 0; k < INPUTS * INPUTS; k++) {
            const double slope = (up.h[k] - down.h[k]) / (2.0 * step);
            assert_close("cubic", k, model->cubic[a * INPUTS * INPUTS + k], slope,
                         1e-6 * model->outside + 1e-8 * (1.0 + fabs(slope)));
        }
    }
}

static void models_hold(void **state)
{
    const char *const kernels[] = {"matern52(ard)", "se(ard)", "se(ard) + 0.5*matern52(x1,x3)",
                                   "matern52(x2)*constant + se(x1)*se(x3) + se(x2)"};
    double gain = 0.0;
    size_t boxes = 0;
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        cert c = cert_make(*state, kernels[e], 60, 4 + e, CERT_EXACT, false);
        hfi_stream stream;
        hfi_stream_init(&stream, 48, HFI_PURPOSE_TEST, e);
        for (size_t k = 0; k < 18; k++) {
            place p;
            numbers at;
            cert_place(&c, kernels[e], 0.2, &stream);
            begin_place(&c, k % 3 == 0 ? 1.0 : k % 3 == 1 ? 0.3 : 0.02, &stream, third_scratch, &p);
            const hfi_mean_model before = make_model(&p, p.centre, false, &at);
            const hfi_mean_model model = make_model(&p, p.centre, true, &at);
            assert_true(model.outside <= before.outside && model.remainder <= before.remainder);
            if (model.has_cubic) {
                (void)check_points(&c, &p, &model, &stream);
                check_cubic(&p, &model);
            }
            gain += log(before.remainder / model.outside);
            boxes++;
            end_place(&p);
        }
        cert_drop(&c);
    }
    assert_true(gain > log(5.0) * (double)boxes);
}

/* One anchor in the middle of a small box: nothing is lost. */
static void remainder_is_attained(void **state)
{
    const char *const kernels[] = {"matern52(lengthscale=1)", "se(lengthscale=1)"};
    for (size_t e = 0; e < 2; e++) {
        hf_context *ctx = *state;
        hf_kernel *kernel = parse(ctx, kernels[e], INPUTS);
        hf_mean *mean;
        hf_sites *sites;
        cert c = {.ctx = ctx, .inputs = INPUTS};
        const double x[INPUTS] = {0.5, -0.25, 1.0}, y = 2.0;
        assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, INPUTS, &mean), HF_OK);
        assert_int_equal(hf_sites_gaussian(ctx, 1, &y, 0.05, NULL, &sites), HF_OK);
        assert_int_equal(hf_solve_exact(ctx, kernel, mean, sites, x, INPUTS, &c.posterior), HF_OK);
        c.workspace = hf_posterior_workspace_create(ctx, c.posterior);
        hfi_stream stream;
        hfi_stream_init(&stream, 49, HFI_PURPOSE_TEST, e);
        for (size_t j = 0; j < INPUTS; j++) {
            c.lower[j] = x[j] - 0.01;
            c.upper[j] = x[j] + 0.01;
        }
        place p;
        numbers at;
        begin_place(&c, 1.0, &stream, third_scratch, &p);
        const hfi_mean_model model = make_model(&p, p.centre, true, &at);
        assert_true(model.has_cubic);
        assert_true(check_points(&c, &p, &model, &stream) > 0.95);
        end_place(&p);
        cert_drop(&c);
        hf_sites_free(sites);
        hf_mean_free(mean);
        hf_kernel_free(kernel);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fourth_derivatives_are_bounded),
        TEST(models_hold),
        TEST(remainder_is_attained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
