/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to what several objectives need, and to paths; see test_arguments.c. */
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

static void paths(workshop *w)
{
    hf_path *path = NULL;
    double out = 77.0;
    ARGUMENT(hf_path_create(w->ctx, NULL, 0, 0, &path));
    ARGUMENT(hf_path_create(w->ctx, w->posterior, 0, 0, NULL));
    ARGUMENT(hf_path_create(w->ctx, w->posterior, 0, SIZE_MAX, &path));
    assert_null(path);
    assert_null(hf_path_workspace_create(w->ctx, NULL));
    assert_int_equal(hf_path_dimension(NULL), 0);
    assert_int_equal(hf_path_create(w->ctx, w->posterior, 0, 4, &path), HF_OK);
    hf_path_workspace *workspace = hf_path_workspace_create(w->ctx, path);
    assert_int_equal(hf_path_evaluate(NULL, workspace, w->at, &out, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_path_evaluate(path, NULL, w->at, &out, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_path_evaluate(path, workspace, NULL, &out, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_path_evaluate(path, workspace, w->at, NULL, NULL), HF_ERR_ARGUMENT);
    ARGUMENT(hf_path_many_rows(w->ctx, NULL, 1, w->at, WORKSHOP_D, &out));
    ARGUMENT(hf_path_many_rows(w->ctx, path, 1, NULL, WORKSHOP_D, &out));
    ARGUMENT(hf_path_many_rows(w->ctx, path, 1, w->at, WORKSHOP_D, NULL));
    REFUSED(HF_ERR_DIMENSION, hf_path_many_rows(w->ctx, path, 1, w->at, WORKSHOP_D - 1, &out));
    assert_int_equal(hf_path_many_rows(w->ctx, path, 0, NULL, WORKSHOP_D, NULL), HF_OK);
    assert_true(out == 77.0);
    hf_path_workspace_free(workspace);
    hf_path_free(path);
    hf_path_free(NULL);
}

static void places(workshop *w)
{
    static const double lower[] = {0.0, -0.5}, upper[] = {5.0, 0.5};
    const hf_posterior *both[] = {w->posterior, w->posterior};
    const hf_domain domain = {.dimension = 2, .lower = lower, .upper = upper};
    const hf_acquire_front front = {.size = sizeof front,
                                    .objectives = 2,
                                    .objective = both,
                                    .points = 2,
                                    .values = values,
                                    .reference = reference};
    double x[2] = {77.0}, value = 77.0;
    ARGUMENT(hf_ehvi_evaluate(w->ctx, NULL, 1, w->at, &value, NULL));
    ARGUMENT(hf_ehvi_evaluate(w->ctx, &front, 1, NULL, &value, NULL));
    ARGUMENT(hf_ehvi_evaluate(w->ctx, &front, 1, w->at, NULL, NULL));
    ARGUMENT(hf_ehvi_maximise(w->ctx, NULL, &domain, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_ehvi_maximise(w->ctx, &front, NULL, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_ehvi_maximise(w->ctx, &front, &domain, NULL, 1, NULL, x, NULL));
    ARGUMENT(hf_ehvi_maximise(w->ctx, &front, &domain, NULL, 0, NULL, NULL, NULL));
    ARGUMENT(hf_thompson_maximise(w->ctx, NULL, 0, &domain, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_thompson_maximise(w->ctx, w->posterior, 0, NULL, NULL, 0, NULL, x, NULL));
    ARGUMENT(hf_thompson_maximise(w->ctx, w->posterior, 0, &domain, NULL, 1, NULL, x, NULL));
    ARGUMENT(hf_thompson_maximise(w->ctx, w->posterior, 0, &domain, NULL, 0, NULL, NULL, NULL));
    assert_true(x[0] == 77.0 && value == 77.0);
    assert_int_equal(hf_ehvi_evaluate(w->ctx, &front, 0, NULL, NULL, NULL), HF_OK);
}

REFUSED_TEST(fronts)
REFUSED_TEST(places)
REFUSED_TEST(paths)
REFUSED_TEST(improvements)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_refuse),
        cmocka_unit_test(improvements_refuse),
        cmocka_unit_test(paths_refuse),
        cmocka_unit_test(places_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
