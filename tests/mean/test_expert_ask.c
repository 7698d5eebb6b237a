/* SPDX-License-Identifier: Apache-2.0 */
/* Which readings an expert is asked about, against trying all with nothing remembered. */
#include "mean/expert_case.h"

/* ---- questions --------------------------------------------------------------------------------- */

/* Trying each candidate, with nothing remembered. */
static size_t try_all(const case_ *c, const hf_expert *expert, hf_context *ctx, const bool *said, double h,
                      bool published, double s, double *gain)
{
    size_t best = N;
    *gain = 0.0;
    size_t labelled = 0;
    for (size_t i = 0; i < N; i++) labelled += said[i];
    for (size_t i = 0; i < N; i++) {
        const bool doubted = c->label[i] == HF_EXPERT_DOUBTED;
        if (isnan(c->y[i]) || (said[i] && !(doubted && isnan(c->correction[i])))) continue;
        double m, v, reach = 0.0;
        nearest(c, i, 3, h, &m, &v);
        const double learnt = v * v / (v + s), e = fabs(c->y[i] - m) / sqrt(v), p = e / (1.0 + e);
        const double wrong = doubted ? told(ctx, expert, i).wrong : 0.0;
        const double square = doubted ? wrong * wrong * learnt : p * ((m - c->y[i]) * (m - c->y[i]) + learnt);
        for (size_t k = 0; k < N; k++) {
            const double l = closeness(c, c->x + D * k, c->x + D * i, h);
            double crowd = said[i] ? 0.0 : l;
            for (size_t q = 0; q < N; q++)
                if (said[q]) crowd += closeness(c, c->x + D * k, c->x + D * q, h);
            const double w = l / (published ? (double)(labelled + (said[i] ? 0 : 1)) : fmax(1.0, crowd));
            reach += w * w;
        }
        if (square * reach > *gain) {
            *gain = square * reach;
            best = i;
        }
    }
    return best;
}

static void questions_are_those_of_trying_all(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int published = 0; published < 2; published++) {
        case_ c;
        make(&c);
        hf_expert_settings settings = hf_expert_settings_default();
        settings.rule = published ? HF_EXPERT_PUBLISHED : HF_EXPERT_AVERAGE;
        settings.lengthscale = 0.5;
        settings.correction_var = 0.2;
        hf_expert *expert = learn(ctx, &c.data, &settings);
        size_t rows[N], count = N;
        double move[N];
        assert_int_equal(hf_expert_ask(ctx, expert, NULL, NULL, &count, rows, move), HF_OK);
        assert_int_equal(count, 7); /* all but the believed, the corrected and the missing */
        bool said[N];
        for (size_t i = 0; i < N; i++) said[i] = c.label[i] != HF_EXPERT_UNKNOWN;
        for (size_t k = 0; k < count; k++) {
            double gain;
            const size_t row = try_all(&c, expert, ctx, said, 0.5, published, 0.2, &gain);
            assert_int_equal(rows[k], row);
            assert_near(move[k], sqrt(gain / N), 1e-12);
            said[row] = true;
            if (c.label[row] == HF_EXPERT_DOUBTED) c.correction[row] = 0.0; /* asked */
        }
        hf_expert_free(expert);
    }
    hf_context_free(ctx);
}

static void questions_spread_and_follow_what_is_expected(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    enum {
        MANY = 40
    };
    double x[MANY], y[MANY], expected[MANY], sd[MANY];
    hf_expert_label label[MANY] = {HF_EXPERT_UNKNOWN};
    for (size_t i = 0; i < MANY; i++) {
        x[i] = (double)i;
        y[i] = expected[i] = 1.0 + 0.001 * (double)(i % 3);
        sd[i] = 0.1;
    }
    /* Two wrong readings beside each other, and another that is a little less wrong. */
    y[10] = y[11] = 9.0;
    y[30] = 8.0;
    const hf_expert_data data = {.n = MANY, .d = 1, .x = x, .ldx = 1, .y = y, .label = label};
    hf_expert_settings settings = hf_expert_settings_default();
    settings.lengthscale = 0.2;
    hf_expert *expert = learn(ctx, &data, &settings);
    size_t rows[2], count = 2;
    assert_int_equal(hf_expert_ask(ctx, expert, expected, sd, &count, rows, NULL), HF_OK);
    assert_int_equal(count, 2);
    assert_true(rows[0] == 10 || rows[0] == 11);
    assert_int_equal(rows[1], 30);
    /* Expected values decide: with those two as they should be, only the third is odd. */
    expected[10] = expected[11] = 9.0;
    count = 1;
    assert_int_equal(hf_expert_ask(ctx, expert, expected, sd, &count, rows, NULL), HF_OK);
    assert_int_equal(rows[0], 30);
    /* Nothing would move. */
    memcpy(expected, y, sizeof y);
    count = 2;
    assert_int_equal(hf_expert_ask(ctx, expert, expected, NULL, &count, rows, NULL), HF_OK);
    assert_int_equal(count, 0);
    hf_expert_free(expert);
    hf_context_free(ctx);
}

static bool stop(const char *stage, double done, double value, void *user)
{
    (void)user;
    (void)done;
    (void)value;
    assert_string_equal(stage, "expert");
    return false;
}

static void long_calls_can_be_cancelled(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    case_ c;
    make(&c);
    hf_expert *expert = learn(ctx, &c.data, NULL), *other = NULL;
    hf_context_set_progress(ctx, stop, NULL);
    assert_int_equal(hf_expert_create(ctx, &c.data, NULL, &other), HF_ERR_CANCELLED);
    assert_null(other);
    size_t rows[2], count = 2;
    assert_int_equal(hf_expert_ask(ctx, expert, NULL, NULL, &count, rows, NULL), HF_ERR_CANCELLED);
    assert_int_equal(count, 2);
    hf_expert_free(expert);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_those_of_trying_all),
        cmocka_unit_test(questions_spread_and_follow_what_is_expected),
        cmocka_unit_test(long_calls_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
