/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to claims; see test_arguments.c. */
#include "api/classifiers.h"
#include "api/refused.h"

#include <holdfast/certify_flip.h>
#include <math.h>

static const double point[2] = {0.4, 0.5}, low[2] = {0.3, 0.4}, high[2] = {0.5, 0.6};

#define ASK(claim, x, lower, upper, out) hf_certify_claims(w->ctx, claim, NULL, 1, x, lower, upper, out, NULL)

static void claims(workshop *w)
{
    hf_classifier *c = classifiers_make();
    const hf_posterior *p = hf_classifier_posterior(c);
    hf_claim_answer out = {.nodes = 77};
    hf_claim claim = hf_claim_default();
    const double far[2] = {0.5, NAN};
    claim.never_above = 0.5;
    ARGUMENT(ASK(&claim, point, low, high, &out)); /* of nothing */
    claim.posterior = p;
    claim.classifier = c;
    ARGUMENT(ASK(&claim, point, low, high, &out)); /* of two things */
    assert_contains(hf_context_message(w->ctx), "one of them");
    for (int of_class = 0; of_class < 2; of_class++) {
        claim = hf_claim_default();
        claim.posterior = of_class ? NULL : p;
        claim.classifier = of_class ? c : NULL;
        ARGUMENT(ASK(&claim, point, low, high, &out));
        assert_contains(hf_context_message(w->ctx), "nothing is claimed");
        const double wrong[][3] = {{NAN, -INFINITY, INFINITY},
                                   {INFINITY, NAN, INFINITY},
                                   {INFINITY, -INFINITY, NAN},
                                   {INFINITY, -INFINITY, -1.0},
                                   {1.0, 2.0, INFINITY}};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            claim.never_above = wrong[k][0];
            claim.never_below = wrong[k][1];
            claim.delta = wrong[k][2];
            ARGUMENT(ASK(&claim, point, low, high, &out));
        }
        claim.never_above = 0.5;
        claim.never_below = -INFINITY;
        ARGUMENT(ASK(NULL, point, low, high, &out));
        ARGUMENT(ASK(&claim, NULL, low, high, &out));
        ARGUMENT(ASK(&claim, point, NULL, high, &out));
        ARGUMENT(ASK(&claim, point, low, NULL, &out));
        ARGUMENT(ASK(&claim, point, low, high, NULL));
        ARGUMENT(ASK(&claim, point, high, low, &out));
        REFUSED(HF_ERR_NOT_FINITE, ASK(&claim, point, low, far, &out));
        REFUSED(HF_ERR_NOT_FINITE, ASK(&claim, far, low, high, &out));
    }
    assert_int_equal(hf_certify_claims(NULL, &claim, NULL, 1, point, low, high, &out, NULL), HF_ERR_ARGUMENT);
    claim.classifier = NULL;
    claim.posterior = p;
    claim.what = (hf_certify_what)9;
    ARGUMENT(ASK(&claim, point, low, high, &out));
    assert_int_equal(out.nodes, 77);
    hf_classifier_free(c);
}

#define REACH(claim, x, unit, most, accuracy, out)                                                           \
    hf_certify_claim_radius(w->ctx, claim, NULL, x, unit, most, accuracy, out, NULL)

static void reaches(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_claim_reach out = {.nodes = 77};
    hf_claim claim = hf_claim_default();
    const double none[2] = {0.0, 0.0};
    claim.posterior = hf_classifier_posterior(c);
    ARGUMENT(REACH(&claim, point, NULL, 1.0, 0.01, &out));
    claim.delta = 0.1;
    ARGUMENT(REACH(NULL, point, NULL, 1.0, 0.01, &out));
    ARGUMENT(REACH(&claim, NULL, NULL, 1.0, 0.01, &out));
    ARGUMENT(REACH(&claim, point, none, 1.0, 0.01, &out));
    ARGUMENT(REACH(&claim, point, NULL, 0.0, 0.01, &out));
    ARGUMENT(REACH(&claim, point, NULL, INFINITY, 0.01, &out));
    ARGUMENT(REACH(&claim, point, NULL, 1.0, 1.0, &out));
    ARGUMENT(REACH(&claim, point, NULL, 1.0, 0.01, NULL));
    assert_int_equal(hf_certify_claim_radius(NULL, &claim, NULL, point, NULL, 1.0, 0.01, &out, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(out.nodes, 77);
    hf_classifier_free(c);
}

#define FLIP(claim, kind, x, unit, most, accuracy, out)                                                      \
    hf_certify_flip(w->ctx, claim, kind, &settings, x, unit, most, accuracy, out, NULL)

static void flips(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_flip out = {.nodes = 77};
    hf_claim claim = hf_claim_default();
    hf_certify_settings settings = hf_certify_settings_default();
    hf_region region = hf_region_default();
    const double none[2] = {0.0, 0.0}, far[2] = {0.5, NAN};
    ARGUMENT(FLIP(&claim, HF_FLIP_NEAREST, point, NULL, 1.0, 0.01, &out)); /* of nothing */
    claim.posterior = hf_classifier_posterior(c);
    ARGUMENT(FLIP(&claim, HF_FLIP_NEAREST, point, NULL, 1.0, 0.01, &out)); /* without a limit */
    assert_contains(hf_context_message(w->ctx), "nothing is claimed");
    claim.posterior = NULL;
    claim.classifier = c;
    for (int kind = 0; kind <= HF_FLIP_FEWEST; kind++) {
        const hf_flip_kind k = (hf_flip_kind)kind;
        ARGUMENT(FLIP(NULL, k, point, NULL, 1.0, 0.01, &out));
        ARGUMENT(FLIP(&claim, k, NULL, NULL, 1.0, 0.01, &out));
        ARGUMENT(FLIP(&claim, k, point, NULL, 1.0, 0.01, NULL));
        ARGUMENT(FLIP(&claim, k, point, none, 1.0, 0.01, &out));
        ARGUMENT(FLIP(&claim, k, point, far, 1.0, 0.01, &out));
        ARGUMENT(FLIP(&claim, k, point, NULL, -1.0, 0.01, &out));
        ARGUMENT(FLIP(&claim, k, point, NULL, 1.0, 0.0, &out));
        assert_true(FLIP(&claim, k, far, NULL, 1.0, 0.01, &out) < 0);
    }
    ARGUMENT(FLIP(&claim, (hf_flip_kind)2, point, NULL, 1.0, 0.01, &out));
    assert_contains(hf_context_message(w->ctx), "kind number 2");
    assert_string_equal(hf_enum_name(HF_ENUM_FLIP_KIND, (unsigned)2), "unknown");
    settings.region = &region;
    region.shape = HF_SHAPE_L1;
    ARGUMENT(FLIP(&claim, HF_FLIP_FEWEST, point, NULL, 1.0, 0.01, &out));
    region.shape = HF_SHAPE_BOX;
    region.moves = 1;
    ARGUMENT(FLIP(&claim, HF_FLIP_FEWEST, point, NULL, 1.0, 0.01, &out));
    assert_int_equal(hf_certify_flip(NULL, &claim, HF_FLIP_NEAREST, NULL, point, NULL, 1.0, 0.01, &out, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(out.nodes, 77);
    hf_classifier_free(c);
}

static void regions(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_certify_settings settings = hf_certify_settings_default();
    hf_region region = hf_region_default();
    hf_range out = {.nodes = 77};
    hf_decision decision = {.nodes = 77};
    settings.region = &region;
    region.shape = (hf_shape)3;
    assert_string_equal(hf_enum_name(HF_ENUM_SHAPE, region.shape), "unknown");
    ARGUMENT(hf_certify_class(w->ctx, c, &settings, 1, low, high, &out, NULL, NULL));
    assert_contains(hf_context_message(w->ctx), "there is no choice of shape '3'");
    region = hf_region_default();
    region.set_count = 1;
    ARGUMENT(hf_certify_decision(w->ctx, c, NULL, &settings, 1, point, low, high, &decision, NULL));
    assert_true(out.nodes == 77 && decision.nodes == 77);
    hf_classifier_free(c);
}

REFUSED_TEST(claims)
REFUSED_TEST(regions)
REFUSED_TEST(reaches)
REFUSED_TEST(flips)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_refuse), cmocka_unit_test(regions_refuse),
                                       cmocka_unit_test(reaches_refuse), cmocka_unit_test(flips_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
