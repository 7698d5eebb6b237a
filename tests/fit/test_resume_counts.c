/* SPDX-License-Identifier: Apache-2.0 */
/* Stopped fits of counts and amounts: an evaluation starts from the sites of the best one before it, whatever
 * the inference and the solver. */
#include "fit/resume_fits.h"

static double count(double y)
{
    return floor(exp(1.0 + 0.5 * y));
}

static double amount(double y)
{
    return exp(0.5 * y);
}

static void by_ep(hf_fit_settings *s)
{
    s->iterations = 25;
    s->restarts = 1;
    s->inference = HF_INFERENCE_EP;
}

static void by_laplace(hf_fit_settings *s)
{
    by_ep(s);
    s->inference = HF_INFERENCE_LAPLACE;
}

static void by_bound(hf_fit_settings *s)
{
    by_ep(s);
    s->inference = HF_INFERENCE_VARIATIONAL;
}

static void with_inducing(hf_fit_settings *s)
{
    by_ep(s);
    s->solver = HF_SOLVER_INDUCING;
    s->inducing = 8;
}

static void with_trained_inducing(hf_fit_settings *s)
{
    with_inducing(s);
    s->inference = HF_INFERENCE_LAPLACE;
    s->train_inducing = true;
}

static void without_training(hf_fit_settings *s)
{
    with_inducing(s);
    s->train = false;
}

static const kind kinds[] = {
    {"poisson, EP", "poisson", by_ep, 40, true, count},
    {"poisson, Laplace", "poisson", by_laplace, 40, true, count},
    {"negative binomial, variational", "negative-binomial", by_bound, 40, true, count},
    {"gamma, EP", "gamma", by_ep, 40, true, amount},
    {"poisson, EP, inducing", "poisson", with_inducing, 60, true, count},
    {"gamma, Laplace, trained inducing inputs", "gamma", with_trained_inducing, 60, true, amount}};

/* There is nothing to keep, and the file is a checkpoint all the same. */
static void a_fit_without_training_goes_on_too(void **state)
{
    (void)state;
    const kind of = {"gamma, not trained", "gamma", without_training, 60, true, amount};
    folder scratch = folder_make();
    char path[256];
    outcome whole, again;
    watch seen;
    folder_file(&scratch, "checkpoint", path);
    fit_until(&of, NULL, 0, &seen, &whole);
    for (int k = 0; k < 2; k++) {
        fit_until(&of, path, 0, &seen, &again);
        assert_same(of.name, &again, &whole);
    }
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_fit_without_training_goes_on_too)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : run_kinds(kinds, sizeof kinds / sizeof kinds[0]);
}
