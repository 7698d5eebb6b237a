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

typedef struct digest {
    unsigned char bytes[HFI_SHA256_BYTES];
} digest;

/* In parts of `part` rows. */
static digest fingerprint(const problem *p, size_t part)
{
    digest made;
    hfi_sha256 hash;
    hfi_rows_fingerprint_begin(p->ctx, p->n, D, p->names, p->noise, &p->settings, &hash);
    for (size_t i = 0; i < N; i += part)
        hfi_rows_fingerprint_add(D, part < N - i ? part : N - i, p->x + i * D, p->y + i, p->extra + i, &hash);
    hfi_sha256_end(&hash, made.bytes);
    return made;
}

static bool equal(digest a, digest b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

static void parts_do_not_matter(void **state)
{
    (void)state;
    problem p = make();
    const digest first = fingerprint(&p, N);
    for (size_t part = 1; part < N; part++) assert_true(equal(fingerprint(&p, part), first));
    p.y[1] = -NAN; /* missing is missing */
    p.settings.checkpoint = "elsewhere";
    p.settings.resume = true;
    assert_true(equal(fingerprint(&p, 2), first));
    hf_context_free(p.ctx);
}

#define ASSERT_MATTERS(field, value)                                                                         \
    do {                                                                                                     \
        problem changed = p;                                                                                 \
        changed.field = value;                                                                               \
        assert_false(equal(fingerprint(&changed, 2), first));                                                \
    } while (0)

static void rows_settings_and_seed_matter(void **state)
{
    (void)state;
    problem p = make();
    const digest first = fingerprint(&p, 2);
    for (size_t i = 0; i < (size_t)N * D; i++) ASSERT_MATTERS(x[i], 0.125);
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(y[i], 0.125);
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(extra[i], 0.125);
    ASSERT_MATTERS(names[1], "c");
    ASSERT_MATTERS(noise, true);
    ASSERT_MATTERS(n, N + 1);
    ASSERT_MATTERS(settings.minibatch, 7);
    hf_context_set_seed(p.ctx, 9);
    assert_false(equal(fingerprint(&p, 2), first));
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
