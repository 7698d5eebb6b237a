/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to what several objectives need; see test_arguments.c. */
#include "api/refused.h"

static const double values[] = {1.0, 3.0, 2.0, 2.0};
static const double reference[] = {0.0, 0.0};

static void fronts(workshop *w)
{
    size_t index[2] = {9, 9}, count = 9;
    double out = 77.0;
    ARGUMENT(hf_front(w->ctx, 2, 2, NULL, index, &count));
    ARGUMENT(hf_front(w->ctx, 2, 0, values, index, &count));
    ARGUMENT(hf_front(w->ctx, 2, 2, values, NULL, &count));
    ARGUMENT(hf_front(w->ctx, 2, 2, values, index, NULL));
    ARGUMENT(hf_front(w->ctx, SIZE_MAX / 4, 8, values, index, &count));
    ARGUMENT(hf_hypervolume(w->ctx, 2, 2, NULL, reference, &out));
    ARGUMENT(hf_hypervolume(w->ctx, 2, 0, values, reference, &out));
    ARGUMENT(hf_hypervolume(w->ctx, 2, HF_FRONT_OBJECTIVES + 1, values, reference, &out));
    ARGUMENT(hf_hypervolume(w->ctx, 2, 2, values, NULL, &out));
    ARGUMENT(hf_hypervolume(w->ctx, 2, 2, values, reference, NULL));
    assert_true(index[0] == 9 && count == 9 && out == 77.0);
    assert_int_equal(hf_front(w->ctx, 0, 2, NULL, NULL, &count), HF_OK);
    assert_int_equal(count, 0);
}

/* Evaluations leave no message. */
static void improvements(workshop *w)
{
    hf_ehvi *ehvi = NULL;
    const double mean[] = {2.0, 2.0}, sd[] = {1.0, 0.5}, below[] = {1.0, -0.5}, none[] = {1.0, NAN};
    const double far[] = {1e300, 1e300};
    double out = 77.0, slope[2] = {77.0, 77.0};
    ARGUMENT(hf_ehvi_create(w->ctx, 2, 2, NULL, reference, &ehvi));
    ARGUMENT(hf_ehvi_create(w->ctx, 2, 0, values, reference, &ehvi));
    ARGUMENT(hf_ehvi_create(w->ctx, 1, 4, values, reference, &ehvi));
    ARGUMENT(hf_ehvi_create(w->ctx, 2, 2, values, NULL, &ehvi));
    ARGUMENT(hf_ehvi_create(w->ctx, 2, 2, values, reference, NULL));
    REFUSED(HF_ERR_NOT_FINITE, hf_ehvi_create(w->ctx, 1, 2, none, reference, &ehvi));
    REFUSED(HF_ERR_NOT_FINITE, hf_ehvi_create(w->ctx, 2, 2, values, none, &ehvi));
    assert_null(ehvi);
    assert_int_equal(hf_ehvi_objectives(NULL), 0);
    assert_int_equal(hf_ehvi_create(w->ctx, 2, 2, values, reference, &ehvi), HF_OK);
    hf_status (*const functions[])(const hf_ehvi *, const double *, const double *, double *, double *,
                                   double *) = {hf_ehvi_value, hf_ehvi_log};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(functions[k](NULL, mean, sd, &out, slope, slope), HF_ERR_ARGUMENT);
        assert_int_equal(functions[k](ehvi, NULL, sd, &out, slope, slope), HF_ERR_ARGUMENT);
        assert_int_equal(functions[k](ehvi, mean, NULL, &out, slope, slope), HF_ERR_ARGUMENT);
        assert_int_equal(functions[k](ehvi, mean, sd, NULL, slope, slope), HF_ERR_ARGUMENT);
        assert_int_equal(functions[k](ehvi, mean, below, &out, slope, slope), HF_ERR_ARGUMENT);
        assert_int_equal(functions[k](ehvi, none, sd, &out, slope, slope), HF_ERR_NOT_FINITE);
        assert_int_equal(functions[k](ehvi, mean, none, &out, slope, slope), HF_ERR_NOT_FINITE);
    }
    assert_int_equal(hf_ehvi_value(ehvi, far, sd, &out, slope, slope), HF_ERR_NOT_FINITE);
    assert_true(out == 77.0 && slope[0] == 77.0 && slope[1] == 77.0);
    hf_ehvi_free(ehvi);
    hf_ehvi_free(NULL);
}

REFUSED_TEST(fronts)
REFUSED_TEST(improvements)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_refuse),
        cmocka_unit_test(improvements_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
