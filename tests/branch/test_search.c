/* SPDX-License-Identifier: Apache-2.0 */
/* The search by itself: bounds that are off by a share of the box, and plans of parts drawn at random, of
 * which none may be lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "branch/search.h"
#include <string.h>

enum {
    SIDES = 3
};

/* (x - least)^2, above which nothing is known within a box but its size. */
typedef struct bowl {
    double least[SIDES], lower[SIDES], upper[SIDES], middle[SIDES];
    hfi_stream stream;
    bool plans;
    size_t planned;
} bowl;

/* A tree of so many levels at most, one side after the other; the place behind it. */
static size_t draw_plan(bowl *b, int levels, size_t side, unsigned char *plan, size_t at)
{
    if (levels == 0 || hfi_stream_uniform(&b->stream) < 0.2) {
        plan[at] = 0;
        return at + 1;
    }
    plan[at] = (unsigned char)(1 + side % SIDES);
    const size_t next = draw_plan(b, levels - 1, side + 1, plan, at + 1);
    return draw_plan(b, levels - 1, side + 1, plan, next);
}

static void bounds(void *of, int thread, double sign, double enough, size_t count, const double *low,
                   const double *high, hfi_box_bound *out)
{
    bowl *b = of;
    (void)thread;
    (void)enough;
    for (size_t k = 0; k < count; k++, low += SIDES, high += SIDES) {
        double least = 0.0, centre = 0.0, width = 0.0;
        out[k].split = 0;
        for (size_t j = 0; j < SIDES; j++) {
            const double middle = 0.5 * (low[j] + high[j]),
                         nearest = fmin(fmax(b->least[j], low[j]), high[j]);
            const double far = fmax(fabs(low[j] - b->least[j]), fabs(high[j] - b->least[j]));
            least += sign > 0.0 ? (nearest - b->least[j]) * (nearest - b->least[j]) : -far * far;
            centre += sign * (middle - b->least[j]) * (middle - b->least[j]);
            width = fmax(width, high[j] - low[j]);
            if (high[j] - low[j] > high[out[k].split] - low[out[k].split]) out[k].split = j;
            out[k].point[j] = middle;
            out[k].face[j] = 0;
        }
        out[k].bound = least - 1e-4 * width;
        out[k].centre = centre;
        out[k].predicted = centre;
        out[k].slack = centre - out[k].bound;
        out[k].rounding = 0.0;
        if (b->plans) (void)draw_plan(b, 3, out[k].split, out[k].plan, 0);
        b->planned += b->plans && out[k].plan[0] != 0;
    }
}

static double look(void *of, double sign, bool descend, const double *point, double *user)
{
    const bowl *b = of;
    double sum = 0.0;
    (void)descend;
    for (size_t j = 0; j < SIDES; j++) sum += sign * (point[j] - b->least[j]) * (point[j] - b->least[j]);
    memcpy(user, point, SIDES * sizeof *user);
    return sum;
}

static const hfi_branch_functions functions = {bounds, look};

/* Least and largest value of the bowl over its box. */
static void know(const bowl *b, double *least, double *most)
{
    *least = *most = 0.0;
    for (size_t j = 0; j < SIDES; j++) {
        const double nearest = fmin(fmax(b->least[j], b->lower[j]), b->upper[j]),
                     far = fmax(fabs(b->lower[j] - b->least[j]), fabs(b->upper[j] - b->least[j]));
        *least += (nearest - b->least[j]) * (nearest - b->least[j]);
        *most += far * far;
    }
}

static void no_part_is_lost(void **state)
{
    hf_context *ctx = hf_context_create();
    size_t planned = 0;
    (void)state;
    assert_non_null(ctx);
    hf_context_set_threads(ctx, 1);
    for (size_t trial = 0; trial < 120; trial++) {
        bowl b = {.plans = trial % 3 > 0};
        hf_certify_settings settings = {
            .size = sizeof(hf_certify_settings), .tolerance = 0.1, .decide_at = (double)NAN};
        hf_range r;
        double at[2][SIDES], least, most;
        hfi_stream_init(&b.stream, 7, HFI_PURPOSE_TEST, trial);
        for (size_t j = 0; j < SIDES; j++) {
            b.least[j] = 2.4 * hfi_stream_uniform(&b.stream) - 1.2;
            b.lower[j] = -1.0;
            b.upper[j] = hfi_stream_uniform(&b.stream);
            b.middle[j] = 0.5 * (b.lower[j] + b.upper[j]);
        }
        know(&b, &least, &most);
        settings.node_limit = trial % 4 == 3 ? 30 : 0;
        const hfi_branch_problem problem = {.functions = &functions,
                                            .of = &b,
                                            .sides = SIDES,
                                            .inputs = SIDES,
                                            .lower = b.lower,
                                            .upper = b.upper,
                                            .middle = b.middle,
                                            .memory = hfi_context_memory(ctx)};
        hfi_watch watch;
        hfi_watch_begin(&watch, ctx, "search", -1.0);
        assert_int_equal(
            hfi_search_ends(ctx, &watch, &problem, &settings, (double)INFINITY, &r, at[0], at[1]), HF_OK);
        assert_true(r.lower <= least && least <= r.lower_attained);
        assert_true(r.upper >= most && most >= r.upper_attained);
        if (settings.node_limit == 0) {
            assert_int_equal(r.stop, HF_CERTIFY_TOLERANCE);
            assert_true(r.lower_attained - r.lower <= 0.1 && r.upper - r.upper_attained <= 0.1);
        } else {
            assert_true(r.nodes <= 2 * 31);
        }
        planned += b.planned;
    }
    assert_true(planned > 1000);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_part_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
