/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of what several objectives need, and of paths, fails once; see test_allocation.c. */
#include "api/sweep.h"

static const double values[] = {1.0, 3.0, 2.0, 2.0, 3.0, 1.0, 0.5, 0.5};
static const double reference[] = {0.0, 0.0};

static hf_status front(workshop *w)
{
    size_t index[4] = {9}, count = 9;
    const hf_status status = hf_front(w->ctx, 4, 2, values, index, &count);
    assert_true(status < 0 ? index[0] == 9 && count == 9 : index[0] == 0 && count == 3);
    return status;
}

static hf_status volume(workshop *w)
{
    double out = 77.0;
    const hf_status status = hf_hypervolume(w->ctx, 4, 2, values, reference, &out);
    assert_true(out == (status < 0 ? 77.0 : 6.0));
    return status;
}

/* Only hf_ehvi_create() allocates. */
static hf_status improvement(workshop *w)
{
    hf_ehvi *out = UNTOUCHED;
    const hf_status status = settled(hf_ehvi_create(w->ctx, 4, 2, values, reference, &out), out);
    if (status < 0) return status;
    const double mean[] = {2.0, 2.5}, sd[] = {0.5, 1.0};
    double value, slopes[4];
    assert_int_equal(hf_ehvi_objectives(out), 2);
    assert_int_equal(hf_ehvi_value(out, mean, sd, &value, slopes, slopes + 2), HF_OK);
    assert_int_equal(hf_ehvi_log(out, mean, sd, &value, slopes, slopes + 2), HF_OK);
    hf_ehvi_free(out);
    return status;
}

/* hf_path_evaluate() allocates nothing. */
static hf_status path(workshop *w)
{
    hf_path *out = UNTOUCHED;
    double many[WORKSHOP_M] = {77.0}, value, gradient[WORKSHOP_D];
    hf_status status = settled(hf_path_create(w->ctx, w->posterior, 3, 8, &out), out);
    if (status < 0) return status;
    assert_int_equal(hf_path_dimension(out), WORKSHOP_D);
    hf_path_workspace *workspace = hf_path_workspace_create(w->ctx, out);
    status = workspace == NULL ? HF_ERR_MEMORY : hf_path_evaluate(out, workspace, w->at, &value, gradient);
    if (status >= 0) {
        status = hf_path_many_rows(w->ctx, out, WORKSHOP_M, w->at, WORKSHOP_D, many);
        if (status < 0) assert_true(many[0] == 77.0);
    }
    hf_path_workspace_free(workspace);
    hf_path_free(out);
    return status;
}

static hf_status places(workshop *w)
{
    static const double lower[] = {0.0, -0.5}, upper[] = {5.0, 0.5}, pending[] = {1.0, 0.1};
    const hf_posterior *both[] = {w->posterior, w->posterior};
    const double limit = 5.0;
    const hf_domain domain = {.dimension = 2, .lower = lower, .upper = upper};
    const hf_search_settings search = {
        .size = sizeof(hf_search_settings), .samples = 8, .starts = 1, .iterations = 5};
    const hf_acquire_front front = {.size = sizeof front,
                                    .objectives = 2,
                                    .objective = both,
                                    .points = 4,
                                    .values = values,
                                    .reference = reference,
                                    .constraints = 1,
                                    .constraint = both,
                                    .limit = &limit,
                                    .pending = 1,
                                    .pending_x = pending,
                                    .draws = 4};
    double x[2] = {77.0}, one = 77.0, gradient[2] = {77.0};
    hf_argmax found = {.value = 77.0};
    hf_status status = hf_ehvi_evaluate(w->ctx, &front, 1, pending, &one, gradient);
    if (status < 0) assert_true(one == 77.0 && gradient[0] == 77.0);
    if (status >= 0) status = hf_ehvi_maximise(w->ctx, &front, &domain, &search, 0, NULL, x, &found);
    if (status >= 0) {
        x[0] = found.value = 77.0;
        status = hf_thompson_maximise(w->ctx, w->posterior, 1, &domain, &search, 0, NULL, x, &found);
    }
    if (status < 0) assert_true(x[0] == 77.0 && found.value == 77.0);
    return status;
}

static void fronts_survive(void **state)
{
    (void)state;
    static const sweep_case cases[] = {
        CASE(front, 1), CASE(volume, 2), CASE(improvement, 4), CASE(path, 15), CASE(places, 50),
    };
    run_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fronts_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
