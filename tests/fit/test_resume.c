/* SPDX-License-Identifier: Apache-2.0 */
/* Stopped fits of which more than values and gradients is asked: with Student-t noise and by relevance
 * pursuit, whose evaluations start from those before, and by the suspect finder, whose searches ask for
 * second derivatives. */
#include "fit/resume_fits.h"

static void briefly(hf_fit_settings *s)
{
    s->iterations = 12;
}

static void by_laplace(hf_fit_settings *s)
{
    briefly(s);
    s->inference = HF_INFERENCE_LAPLACE;
    s->restarts = 1;
}

static void by_ep(hf_fit_settings *s)
{
    briefly(s);
    s->inference = HF_INFERENCE_EP;
}

static void with_given_nu(hf_fit_settings *s)
{
    briefly(s);
    s->student_nu = 3.0;
    s->train_mean = true;
}

static void with_restarts(hf_fit_settings *s)
{
    briefly(s);
    s->restarts = 1;
}

static void by_inducing(hf_fit_settings *s)
{
    briefly(s);
    s->solver = HF_SOLVER_INDUCING;
    s->inducing = 15;
}

static const kind kinds[] = {{"Student-t, variational", "student-t", briefly, 70, true, NULL},
                             {"Student-t, Laplace, restarts", "student-t", by_laplace, 40, true, NULL},
                             {"Student-t, EP", "student-t", by_ep, 40, true, NULL},
                             {"Student-t, nu given", "student-t", with_given_nu, 60, true, NULL},
                             {"default", "default", briefly, 60, true, NULL},
                             {"pursuit", "rrp", with_restarts, 60, true, NULL},
                             {"pursuit, inducing", "rrp", by_inducing, 80, true, NULL}};

int main(void)
{
    return run_kinds(kinds, sizeof kinds / sizeof kinds[0]);
}
