/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that scatter about f with heavy tails; student.h has the density. Its log density is concave
 * within a scale of f alone: a reading farther out gets a site of negative precision. */
#include "sites/likelihood.h"
#include "sites/student.h"

static void student_t_place(hfi_seen *seen)
{
    const hfi_student t = hfi_student_make(seen->shape);
    seen->constant = t.constant;
    seen->constant_shape = t.constant_nu;
    seen->kept[0] = t.mixture;
    seen->kept[1] = t.mixture_nu;
}

/* Gamma functions of nu take as long as what follows: student_t_place() has had them. */
static hfi_student placed(const hfi_seen *seen)
{
    return (hfi_student){.nu = seen->shape,
                         .constant = seen->constant,
                         .constant_nu = seen->constant_shape,
                         .mixture = seen->kept[0],
                         .mixture_nu = seen->kept[1]};
}

static void student_t_slopes(const hfi_seen *seen, double f, hfi_likelihood_slopes *out)
{
    const hfi_student t = {.nu = seen->shape};
    hfi_student_slopes at;
    hfi_student_density(&t, seen->y - f, seen->dispersion, &at);
    *out = (hfi_likelihood_slopes){.value = at.value,
                                   .f = at.f,
                                   .w = -at.ff,
                                   .fff = at.fff,
                                   .d = at.scale,
                                   .f_d = at.f_scale,
                                   .w_d = -at.ff_scale,
                                   .n = at.nu,
                                   .f_n = at.f_nu,
                                   .w_n = -at.ff_nu};
}

static double touch(const hfi_seen *seen, double f, double widening)
{
    const hfi_student t = {.nu = seen->shape};
    return hfi_student_precision(&t, seen->y - f, widening * seen->dispersion);
}

static double observed(double dispersion, double shape)
{
    const hfi_student t = hfi_student_make(shape);
    return hfi_student_normal_variance(&t, dispersion);
}

static bool tilt(const hfi_seen *seen, double power, double mean, double var, hfi_likelihood_tilted *out)
{
    const hfi_student t = placed(seen), powered = hfi_student_power(&t, power);
    hfi_student_tilted at;
    hfi_student_tilt_power(&t, &powered, power, seen->y - mean, var, seen->dispersion, &at);
    const double share = at.variance / var;
    *out = (hfi_likelihood_tilted){at.log_z, at.slope, -at.precision * share, share, at.scale, at.nu};
    return true;
}

static void expect(const hfi_seen *seen, double mean, double var, hfi_likelihood_expected *out)
{
    const hfi_student t = placed(seen);
    hfi_student_expected at;
    hfi_student_expect(&t, seen->y - mean, var, seen->dispersion, &at);
    *out = (hfi_likelihood_expected){at.value, at.m, -2.0 * at.v, at.scale, at.nu};
}

const hfi_likelihood hfi_likelihood_student_t = {
    .name = "student-t",
    .usual = HF_INFERENCE_VARIATIONAL,
    .parameter = "noise",
    /* Towards 2 degrees of freedom the noise loses its variance. */
    .shape = {"nu", 1.0, 4.0, 1.0, 2.0, 50.0},
    .touch = touch,
    .observed = observed,
    .place = student_t_place,
    .slopes = student_t_slopes,
    .tilt = tilt,
    .expect = expect};
