/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilities of the links in intervals. */
#include "kernel/kernel_testing.h"

#include "bound/link.h"
#include "rigorous/rigorous.h"

/* Class probabilities as intervals: around the double's value, narrow, and of intervals around those of all
 * pairs in them. */
static void probabilities_hold_those_of_the_link(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++)
        for (double q = -9.0; q <= 9.0; q += 2.97)
            for (double s = 0.0; s <= 5.0; s += 1.63) {
                const hf_link link = which ? HF_LINK_LOGIT : HF_LINK_PROBIT;
                const hfi_interval p =
                    hfi_rigorous_probability(link, hfi_interval_point(q), hfi_interval_point(s));
                assert_true(p.lower <= p.upper && p.upper - p.lower < 1e-16L);
                assert_true(fabs(hfi_link_value((hfi_link){link, 1.0}, q, s) - (double)p.lower) <
                            HFI_LINK_ERROR);
                const hfi_interval wide = hfi_rigorous_probability(link, (hfi_interval){q - 0.3L, q + 0.2L},
                                                                   (hfi_interval){s, s + 0.4L});
                for (int k = 0; k < 9; k++) {
                    const double value = hfi_link_value((hfi_link){link, 1.0}, q - 0.3 + 0.25 * (k % 3),
                                                        s + 0.2 * (double)(k / 3));
                    assert_true(value >= (double)wide.lower - HFI_LINK_ERROR &&
                                value <= (double)wide.upper + HFI_LINK_ERROR);
                }
            }
    const hfi_interval none =
        hfi_rigorous_probability(HF_LINK_LOGIT, (hfi_interval){-INFINITY, 0.0L}, hfi_interval_point(1.0L));
    assert_true(none.lower == 0.0L && none.upper >= 0.5L && none.upper < 0.5000001L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_hold_those_of_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
