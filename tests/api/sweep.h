/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sweep.h
 * @brief The allocation-failure sweep over calls of the public interface: every allocation fails
 * once; an error, nothing leaked, every object of the workshop as it was.
 */
#ifndef TESTS_API_SWEEP_H
#define TESTS_API_SWEEP_H

#include "api/workshop.h"

/* A call under test: on success it undoes what it did, so that calls can follow each other. */
typedef hf_status (*operation)(workshop *w);

/* On failure an output must be what it was, or NULL where the header says so. */
static char untouched_marker;
#define UNTOUCHED ((void *)&untouched_marker)

static inline hf_status settled(hf_status status, const void *out)
{
    if (status < 0) assert_true(out == NULL || out == UNTOUCHED);
    return status;
}

/* Fails allocation 1, 2, 3, ... until the operation gets by with fewer; how many that were. */
static inline size_t sweep(workshop *w, meter *m, const char *name, operation run)
{
    const uint64_t before = workshop_fingerprint(w);
    const size_t live = atomic_load(&m->live);
    hf_status status = HF_ERR_MEMORY;
    size_t k = 0;
    while (status == HF_ERR_MEMORY) {
        m->fail_at = atomic_load(&m->made) + ++k;
        status = run(w);
        m->fail_at = 0;
        if (atomic_load(&m->live) != live)
            fail_msg("%s: %zu blocks leaked when allocation %zu failed", name,
                     atomic_load(&m->live) - live, k);
        if (workshop_fingerprint(w) != before)
            fail_msg("%s: something was changed when allocation %zu failed", name, k);
        if (status == HF_ERR_MEMORY) assert_contains(hf_context_message(w->ctx), "out of memory");
        assert_true(k < 100000);
    }
    if (status < 0)
        fail_msg("%s, allocation %zu: %s: %s", name, k, hf_status_name(status),
                 hf_context_message(w->ctx));
    return k - 1;
}

typedef struct sweep_case {
    const char *name;
    operation run;
    size_t at_least; /* allocations, so that the sweep is known to have swept something */
} sweep_case;

static inline void run_cases(const sweep_case *cases, size_t count)
{
    meter m;
    hf_context *ctx = meter_context(&m);
    workshop w;
    assert_int_equal(hf_context_set_threads(ctx, 2), HF_OK);
    workshop_open(&w, ctx);
    for (size_t i = 0; i < count; i++) {
        size_t swept = sweep(&w, &m, cases[i].name, cases[i].run);
        if (swept < cases[i].at_least || (cases[i].at_least == 0 && swept > 0))
            fail_msg("%s makes %zu allocations", cases[i].name, swept);
        /* Without a context a call is refused or makes do with malloc; it neither crashes nor
         * leaks. */
        w.ctx = NULL;
        hf_status status = cases[i].run(&w);
        w.ctx = ctx;
        if (status < 0 && status != HF_ERR_ARGUMENT)
            fail_msg("%s without a context: %s", cases[i].name, hf_status_name(status));
    }
    workshop_close(&w);
    hf_context_free(ctx);
    assert_int_equal(atomic_load(&m.live), 0);
}

#define CASE(function, at_least)                                                                   \
    {                                                                                              \
#function, function, at_least                                                              \
    }
#define RUN(...)                                                                                   \
    do {                                                                                           \
        static const sweep_case cases[] = {__VA_ARGS__};                                           \
        run_cases(cases, sizeof cases / sizeof cases[0]);                                          \
    } while (0)

#endif
