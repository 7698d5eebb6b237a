/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions by a loss of the call's own: the verdicts of a rule with that loss, attacked by random points whose
 * expected losses the test adds up itself; several losses at once of one classifier. */
#include "certify/losses.h"

#include <pthread.h>

/* A loss, that of every wrong decision 1, and the rule that the classifier has meanwhile. */
typedef struct given {
    size_t classes;
    const double *loss, *plain;
    hf_class_rule before;
} given;

static given given_of(hf_link link, size_t k)
{
    static const double of_two[LOSSES][4] = {{0, 1, 1, 0}, {1, 3, 2, 0.5}, {0, 1, 2, 0}, {0, 3, 2, 0}};
    const bool several = link == HF_LINK_SOFTMAX;
    given g = {.classes = several ? C : 2, .before = hf_class_rule_default()};
    g.loss = several ? losses[k] : of_two[k];
    g.plain = several ? losses[0] : of_two[0];
    if (several) g.before.loss = losses[(k + 1) % LOSSES];
    if (!several) g.before.lambda = 1.7, g.before.threshold = 0.8;
    return g;
}

static void set_rule(trial *t, const hf_class_rule *rule)
{
    if (hf_classifier_set_rule(t->ctx, t->classifier, rule) != HF_OK)
        fail_msg("%s", hf_context_message(t->ctx));
}

typedef struct box {
    double x[INPUTS], lower[INPUTS], upper[INPUTS];
} box;

typedef struct found {
    hf_status status;
    hf_decision d;
    double at[INPUTS];
} found;

static found decide(hf_context *ctx, const hf_classifier *classifier, const double *loss, const box *b)
{
    found f;
    f.status = hf_certify_decision(ctx, classifier, loss, NULL, 1, b->x, b->lower, b->upper, &f.d, f.at);
    return f;
}

static bool is_same(const found *a, const found *b)
{
    return a->status == b->status && a->d.winner == b->d.winner && a->d.verdict == b->d.verdict &&
           a->d.nodes == b->d.nodes && memcmp(a->at, b->at, sizeof a->at) == 0;
}

/* By how much the decision costs more than the cheapest other one at a point: by a loop of its own. */
static double excess(trial *t, const given *g, const double *x, size_t decision)
{
    double p[C], least = (double)INFINITY;
    predict(t, 1, x, p, NULL);
    for (size_t a = 0; a < g->classes; a++)
        if (a != decision) least = fmin(least, expected(g->classes, g->loss, p, a));
    return expected(g->classes, g->loss, p, decision) - least;
}

/* No point of a certified box has a cheaper decision; a counterexample has one, and lies in the box. */
static void attack_verdict(trial *t, const given *g, const box *b, const found *f)
{
    double y[SAMPLES * INPUTS];
    assert_true(excess(t, g, b->x, f->d.winner) <= 1e-9);
    if (f->d.verdict == HF_VERDICT_COUNTEREXAMPLE) {
        assert_true(excess(t, g, f->at, f->d.winner) > -1e-12);
        for (size_t j = 0; j < INPUTS; j++) assert_true(f->at[j] >= b->lower[j] && f->at[j] <= b->upper[j]);
        return;
    }
    for (size_t j = 0; j < INPUTS; j++) assert_true(isnan(f->at[j]));
    if (f->d.verdict != HF_VERDICT_CERTIFIED) return;
    draw_inside(t, b->lower, b->upper, y);
    for (size_t k = 0; k < SAMPLES; k++) {
        const double more = excess(t, g, y + k * INPUTS, f->d.winner);
        if (more > 1e-9) fail_msg("certified, but another decision costs %g less", more);
    }
}

/* The verdict of a loss that is given is that of a rule that has it, to the digit, and the rule stays. */
static void check_given(trial *t, const given *g, size_t seen[3], size_t *moved)
{
    hf_class_rule with = hf_class_rule_default(), none = hf_class_rule_default();
    with.lambda = none.lambda = g->before.lambda;
    with.loss = g->loss;
    for (size_t k = 0; k < 8; k++) {
        box b;
        draw_box(t, k % 2 ? 1.5 : 0.15, b.x, b.lower, b.upper);
        set_rule(t, &g->before);
        const found of_rule = decide(t->ctx, t->classifier, NULL, &b),
                    by_loss = decide(t->ctx, t->classifier, g->loss, &b),
                    plain = decide(t->ctx, t->classifier, g->plain, &b),
                    again = decide(t->ctx, t->classifier, NULL, &b);
        assert_int_equal(by_loss.status, HF_OK);
        assert_true(is_same(&of_rule, &again));
        assert_true(hf_classifier_rule(t->classifier)->threshold == g->before.threshold);
        attack_verdict(t, g, &b, &by_loss);
        seen[by_loss.d.verdict]++;
        *moved += by_loss.d.winner != of_rule.d.winner || by_loss.d.verdict != of_rule.d.verdict;
        set_rule(t, &with);
        const found as_rule = decide(t->ctx, t->classifier, NULL, &b);
        assert_true(is_same(&by_loss, &as_rule));
        /* The loss of every wrong decision 1 is none. */
        set_rule(t, &none);
        const found without = decide(t->ctx, t->classifier, NULL, &b);
        assert_true(is_same(&plain, &without));
    }
}

static void test_verdicts(void **state)
{
    (void)state;
    for (int link = HF_LINK_PROBIT; link <= HF_LINK_SOFTMAX; link++) {
        trial t;
        size_t seen[3] = {0}, moved = 0;
        begin(&t, (hf_link)link, given_of((hf_link)link, 0).classes);
        for (size_t k = 0; k < LOSSES; k++) {
            const given g = given_of((hf_link)link, k);
            check_given(&t, &g, seen, &moved);
        }
        if (seen[HF_VERDICT_CERTIFIED] < 6 || seen[HF_VERDICT_COUNTEREXAMPLE] < 6 || moved < 6)
            fail_msg(
                "link %d: %zu certified, %zu counterexamples, %zu other than the rule's: too few to tell",
                link, seen[HF_VERDICT_CERTIFIED], seen[HF_VERDICT_COUNTEREXAMPLE], moved);
        assert_int_equal(seen[HF_VERDICT_OPEN], 0);
        end(&t);
    }
}

/* ---- several losses at once ----------------------------------------------------------------------------- */

enum {
    BOXES = 4
};

/* cmocka's assertions jump, which only its own thread may do: askers count what is wrong. */
typedef struct asker {
    pthread_t thread;
    const hf_classifier *classifier;
    const double *loss;
    const box *boxes;
    found expected[BOXES];
    size_t wrong;
} asker;

static void *ask(void *argument)
{
    asker *a = argument;
    hf_context *ctx = hf_context_create();
    a->wrong += hf_context_set_threads(ctx, 1) != HF_OK;
    for (size_t k = 0; k < BOXES; k++) {
        const found f = decide(ctx, a->classifier, a->loss, &a->boxes[k]);
        a->wrong += !is_same(&f, &a->expected[k]);
    }
    hf_context_free(ctx);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    trial t;
    box boxes[BOXES];
    asker askers[LOSSES + 1] = {0};
    begin(&t, HF_LINK_SOFTMAX, C);
    set_loss(&t, losses[1]);
    for (size_t k = 0; k < BOXES; k++) draw_box(&t, 0.5, boxes[k].x, boxes[k].lower, boxes[k].upper);
    for (size_t a = 0; a <= LOSSES; a++) {
        askers[a].classifier = t.classifier;
        askers[a].loss = a < LOSSES ? losses[a] : NULL;
        askers[a].boxes = boxes;
        for (size_t k = 0; k < BOXES; k++)
            askers[a].expected[k] = decide(t.ctx, t.classifier, askers[a].loss, &boxes[k]);
    }
    for (size_t a = 0; a <= LOSSES; a++)
        assert_int_equal(pthread_create(&askers[a].thread, NULL, ask, &askers[a]), 0);
    for (size_t a = 0; a <= LOSSES; a++) assert_int_equal(pthread_join(askers[a].thread, NULL), 0);
    for (size_t a = 0; a <= LOSSES; a++) assert_int_equal(askers[a].wrong, 0);
    assert_memory_equal(hf_classifier_rule(t.classifier)->loss, losses[1], sizeof losses[1]);
    end(&t);
}

/* Costs that no threshold weighs against each other are refused of two classes, and outputs stay. */
static void test_bad(void **state)
{
    (void)state;
    trial t;
    begin(&t, HF_LINK_PROBIT, 2);
    const double bad[][4] = {{0, 1, 0, 0}, {0, -1, 1, 0}, {0, 1e308, 1e-308, 0}, {0, (double)NAN, 1, 0}};
    const char *const said[] = {"must be less", "not below 0", "weigh", "must be finite"};
    const box b = {{0}, {-0.1, -0.1}, {0.1, 0.1}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        hf_decision d = {.winner = 77};
        double at[INPUTS] = {77, 77};
        assert_int_equal(
            hf_certify_decision(t.ctx, t.classifier, bad[k], NULL, 1, b.x, b.lower, b.upper, &d, at),
            HF_ERR_ARGUMENT);
        if (!strstr(hf_context_message(t.ctx), said[k])) fail_msg("%s", hf_context_message(t.ctx));
        assert_true(d.winner == 77 && at[0] == 77.0 && at[1] == 77.0);
    }
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
