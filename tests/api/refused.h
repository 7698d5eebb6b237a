/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file refused.h
 * @brief For tests of bad arguments: a call must fail with the status expected and leave a message
 * of its own.
 */
#ifndef TESTS_API_REFUSED_H
#define TESTS_API_REFUSED_H

#include "api/workshop.h"

/* Leaves a message that no other call leaves. */
static inline void refused_mark(const workshop *w)
{
    hf_mean_kind kind;
    assert_int_equal(hf_enum_parse(w->ctx, HF_ENUM_MEAN_KIND, "<marker>", &kind), HF_ERR_ARGUMENT);
}

static inline void refused_check(const workshop *w, hf_status status, hf_status expected,
                                 const char *call, int line)
{
    if (status != expected)
        fail_msg("line %d: %s gives %s, not %s", line, call, hf_status_name(status),
                 hf_status_name(expected));
    const char *message = hf_context_message(w->ctx);
    if (strstr(message, "<marker>") != NULL || strlen(message) < 8)
        fail_msg("line %d: %s leaves no message", line, call);
}

/* The call fails with `expected` and says why. Needs a workshop w. */
#define REFUSED(expected, call)                                                                    \
    (refused_mark(w), refused_check(w, (call), (expected), #call, __LINE__))
#define ARGUMENT(call) REFUSED(HF_ERR_ARGUMENT, call)

/* Each group of calls gets a workshop and must leave it as it was. */
static inline void refused_group(void (*group)(workshop *w))
{
    workshop w;
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    workshop_open(&w, ctx);
    const uint64_t before = workshop_fingerprint(&w);
    group(&w);
    assert_true(workshop_fingerprint(&w) == before);
    workshop_close(&w);
    hf_context_free(ctx);
}

/* A cmocka test <name>_refuse out of a group. */
#define REFUSED_TEST(name)                                                                         \
    static void name##_refuse(void **state)                                                        \
    {                                                                                              \
        (void)state;                                                                               \
        refused_group(name);                                                                       \
    }

#endif
