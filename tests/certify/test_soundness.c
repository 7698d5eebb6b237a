/* SPDX-License-Identifier: Apache-2.0 */
/* No value is outside of what is certified: the attack of attack_ranges.h and attack_uses.h on a few random
 * models; bench/soundness.c is the long one. An argument is how many models are drawn. */
#include "attack_uses.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t models = 60;

enum {
    FIRST = 900000, /* of the numbers that models are drawn from */
    READINGS = 30,
    POINTS = 96
};

static size_t violations(const attack_tally *tally)
{
    size_t sum = 0;
    for (size_t k = 0; k < ATTACK_KINDS; k++) sum += tally->of[k].violations;
    return sum;
}

static hf_context *quiet_context(void)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    return ctx;
}

static void values_stay_inside(void **state)
{
    (void)state;
    attack_tally tally;
    hf_context *ctx = quiet_context();
    attack_clear(&tally);
    for (uint64_t k = 0; k < models; k++) {
        attack_model m;
        assert_true(attack_posterior(ctx, FIRST + k, READINGS, &m));
        for (size_t b = 0; b < 3; b++) attack_box_of(&tally, &m, POINTS);
        const attack_box box = attack_draw_box(&m);
        attack_score(&tally, &m, &box);
        if (m.sites) attack_damage(&tally, &m, 6);
        attack_end(&m);
    }
    assert_int_equal(violations(&tally), 0);
    /* It looked at each kind, and nearly all questions had an answer. */
    for (int k = ATTACK_MEAN; k <= ATTACK_PLUS; k++) assert_true(tally.of[k].points > 2 * models * POINTS);
    assert_true(tally.of[ATTACK_RIGOROUS].points > 0 || !hfi_interval_usable()); /* under valgrind */
    assert_true(tally.of[ATTACK_BARE].points > models * POINTS && tally.of[ATTACK_SCORE].points > 0 &&
                tally.of[ATTACK_DAMAGE].points > models);
    hf_context_free(ctx);
}

static void probabilities_stay_inside(void **state)
{
    (void)state;
    attack_tally tally;
    hf_context *ctx = quiet_context();
    attack_clear(&tally);
    for (uint64_t k = 0; k < models / 2; k++) {
        attack_model m;
        const size_t classes = k % 3 == 2 ? 3 : 2;
        if (!attack_classifier(ctx, FIRST + k, READINGS / 2, classes, &m)) continue;
        for (size_t b = 0; b < 2; b++) {
            const attack_box box = attack_draw_box(&m);
            assert_true(attack_class_box(&tally, &m, &box, classes > 2 ? POINTS / 4 : POINTS));
            attack_decision(&tally, &m, &box, POINTS / 4);
            if (b == 0 && classes == 2) attack_radius(&tally, &m, &box, POINTS / 4);
        }
        attack_end(&m);
    }
    assert_int_equal(violations(&tally), 0);
    assert_true(tally.of[ATTACK_TWO].points > models / 2 * POINTS && tally.of[ATTACK_MANY].points > models &&
                tally.of[ATTACK_DECISION].asked > models / 2 && tally.of[ATTACK_RADIUS].asked > models / 8);
    hf_context_free(ctx);
}

int main(int argc, char **argv)
{
    if (argc > 1) models = (uint64_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_stay_inside),
                                       cmocka_unit_test(probabilities_stay_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
