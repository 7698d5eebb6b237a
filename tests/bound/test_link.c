/* SPDX-License-Identifier: Apache-2.0 */
/* The probability of class 1 of two as a function of the latent mean and standard deviation. */
#include "kernel/kernel_testing.h"

#include "bound/link.h"

/* The two properties that bounds rest on, on a grid. */
static void check_link(hfi_link link, double q, double s)
{
    double of_q, of_s;
    const double p = hfi_link_value(link, q, s);
    hfi_link_slopes(link, q, s, &of_q, &of_s);
    assert_true(of_q > 0.0);
    assert_true(q * of_s <= link.lambda * HFI_LINK_SLOPE_ERROR * fabs(q));
    for (double dq = -2.0; dq <= 2.0; dq += 0.5)
        for (double ds = -fmin(s, 1.0); ds <= 1.0; ds += 0.45) {
            const double there = hfi_link_value(link, q + dq, s + ds);
            const double bend = hfi_link_curvature(link, fabs(dq), fabs(ds));
            assert_true(fabs(there - p - of_q * dq - of_s * ds) <= bend);
            assert_true(hfi_link_least(link, q + fmin(dq, 0.0), s, s + fmax(ds, 0.0)) <= p + HFI_LINK_ERROR);
        }
}

static void links_bend_and_grow_as_they_say(void **state)
{
    (void)state;
    static const double lambdas[] = {1.0, 0.3, 2.5};
    for (size_t l = 0; l < 3; l++)
        for (int which = 0; which < 2; which++)
            for (double q = -6.0; q <= 6.0; q += l == 0 ? 0.37 : 1.01)
                for (double s = 0.0; s <= 5.0; s += l == 0 ? 0.31 : 0.83)
                    check_link((hfi_link){which ? HF_LINK_LOGIT : HF_LINK_PROBIT, lambdas[l]}, q, s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_bend_and_grow_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
