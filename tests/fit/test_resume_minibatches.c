/* SPDX-License-Identifier: Apache-2.0 */
/* Stopped fits by minibatches: they go on from the step that they were at. */
#include "fit/resume_fits.h"

static void small(hf_fit_settings *s)
{
    s->solver = HF_SOLVER_INDUCING;
    s->inducing = 8;
    s->minibatch = 32;
    s->iterations = 3;
    s->rounds = 3;
    s->suspects = HF_OUTLIERS_OFF;
}

/* Stochastic from the first step: nothing but steps is told of. */
static void by_adam(hf_fit_settings *s)
{
    small(s);
    s->optimiser = HF_OPTIMISER_ADAM;
    s->learning_rate = 0.02;
}

static void robust(hf_fit_settings *s)
{
    by_adam(s);
    s->sites = HF_LIKELIHOOD_ROBUST;
}

static void warm_robust(hf_fit_settings *s)
{
    small(s);
    s->sites = HF_LIKELIHOOD_ROBUST;
}

static void moving_inputs(hf_fit_settings *s)
{
    by_adam(s);
    s->train_inducing = true;
    s->train_mean = true;
}

static void student(hf_fit_settings *s)
{
    by_adam(s);
    s->train_mean = true;
}

static const kind kinds[] = {{"Gaussian", "svgp", by_adam, 160, false, NULL},
                             {"Gaussian, from a warm start", "svgp", small, 130, true, NULL},
                             {"robust", "svgp", robust, 160, false, NULL},
                             {"robust, from a warm start", "svgp", warm_robust, 130, true, NULL},
                             {"inducing inputs trained", "svgp", moving_inputs, 160, false, NULL},
                             {"Student-t", "student-t", student, 160, false, NULL},
                             {"Student-t, from a warm start", "student-t", small, 130, true, NULL}};

int main(void)
{
    return run_kinds(kinds, sizeof kinds / sizeof kinds[0]);
}
