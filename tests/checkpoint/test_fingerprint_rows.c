/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoint of rows that are read in parts belongs to the rows, however they are cut, and the settings. */
#include "checkpoint/journal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 5,
    D = 2
};

typedef struct problem {
    hf_context *ctx;
    double x[N * D], y[N], extra[N];
    const char *names[D];
    bool noise;
    size_t n;
    hf_fit_settings settings;
} problem;

static problem make(void)
{
    problem p = {.ctx = hf_context_create(),
                 .y = {1.0, NAN, 3.0, 4.0, 5.0},
                 .names = {"a", "b"},
                 .n = N,
                 .settings = hf_fit_settings_default()};
    for (size_t i = 0; i < (size_t)N * D; i++) p.x[i] = sqrt((double)i);
    return p;
}

/* In parts of `part` rows. */
static hfi_fingerprint fingerprint(const problem *p, size_t part)
{
    hfi_sha256 hash;
    hfi_fingerprint made =
        hfi_rows_fingerprint_begin(p->ctx, p->n, D, p->names, p->noise, &p->settings, &hash);
    for (size_t i = 0; i < N; i += part)
        hfi_rows_fingerprint_add(D, part < N - i ? part : N - i, p->x + i * D, p->y + i, p->extra + i, &hash);
    hfi_rows_fingerprint_end(&hash, &made);
    return made;
}

static void assert_differs(hfi_fingerprint a, hfi_fingerprint b, const char *in)
{
    char text[64];
    hfi_fingerprint_difference(&a, &b, text);
    assert_string_equal(text, in);
}

static void parts_do_not_matter(void **state)
{
    (void)state;
    problem p = make();
    const hfi_fingerprint first = fingerprint(&p, N);
    for (size_t part = 1; part < N; part++) assert_differs(fingerprint(&p, part), first, "");
    p.y[1] = -NAN; /* missing is missing */
    p.settings.checkpoint = "elsewhere";
    p.settings.resume = true;
    assert_differs(fingerprint(&p, 2), first, "");
    hf_context_free(p.ctx);
}

#define ASSERT_MATTERS(field, value, in)                                                                     \
    do {                                                                                                     \
        problem changed = p;                                                                                 \
        changed.field = value;                                                                               \
        assert_differs(fingerprint(&changed, 2), first, in);                                                 \
    } while (0)

static void rows_settings_and_seed_matter(void **state)
{
    (void)state;
    problem p = make();
    const hfi_fingerprint first = fingerprint(&p, 2);
    for (size_t i = 0; i < (size_t)N * D; i++) ASSERT_MATTERS(x[i], 0.125, "data");
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(y[i], 0.125, "data");
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(extra[i], 0.125, "data");
    ASSERT_MATTERS(names[1], "c", "data");
    ASSERT_MATTERS(noise, true, "data");
    ASSERT_MATTERS(n, N + 1, "data");
    ASSERT_MATTERS(settings.minibatch, 7, "settings");
    hf_context_set_seed(p.ctx, 9);
    assert_differs(fingerprint(&p, 2), first, "seed");
    hf_context_free(p.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_do_not_matter),
        cmocka_unit_test(rows_settings_and_seed_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
