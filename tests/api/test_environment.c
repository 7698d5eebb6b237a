/* SPDX-License-Identifier: Apache-2.0 */
/* context.h is right about programs that fork, and those that trap floating-point exceptions. */
#define _GNU_SOURCE
#include "api/readings.h"

#include <fenv.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

enum {
    N = 520, /* above the 512 readings from which on a fit uses threads */
    D = 2
};

static double objective(int threads)
{
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
    readings r = readings_make(N, D, 0, 4);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.iterations = 2;
    hf_fit_report report;
    hf_posterior *p = readings_fit(ctx, &r, &settings, &report);
    hf_posterior_free(p);
    readings_free(&r);
    hf_context_free(ctx);
    return report.objective;
}

/* A child that waits for threads it does not have is ended by its alarm. */
static void a_child_goes_on_with_one_thread(void **state)
{
    (void)state;
#ifdef UNDER_TSAN
    skip(); /* it ends children of programs with threads */
#endif
    const double parent = objective(3);
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(objective(1) == parent ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#ifdef __GLIBC__
static void traps_are_held_by_the_caller(void **state)
{
    (void)state;
    const double plain = objective(1);
    fenv_t kept;
    feclearexcept(FE_ALL_EXCEPT);
    assert_true(feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != -1);
    assert_int_equal(feholdexcept(&kept), 0);
    const double held = objective(1);
    assert_int_equal(fesetenv(&kept), 0);
    const int traps = fegetexcept();
    assert_int_not_equal(fedisableexcept(FE_ALL_EXCEPT), -1);
    assert_int_equal(traps, FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    assert_true(held == plain);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_goes_on_with_one_thread),
#ifdef __GLIBC__
        cmocka_unit_test(traps_are_held_by_the_caller),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
