/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of claims fails once; see test_allocation.c. */
#include "api/classifiers.h"
#include "api/sweep.h"

#include <holdfast/certify_flip.h>

static const double point[2] = {0.4, 0.5}, low[2] = {0.3, 0.4}, high[2] = {0.5, 0.6};

static hf_claim within(double delta, const hf_classifier *classifier)
{
    hf_claim claim = hf_claim_default();
    claim.delta = delta;
    claim.classifier = classifier;
    return claim;
}

static hf_status claims(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_claim claim = within(1e-3, c);
    hf_claim_answer out = {.nodes = 77};
    hf_status s = hf_certify_claims(w->ctx, &claim, NULL, 1, point, low, high, &out, NULL);
    assert_true((out.nodes == 77) == (s < 0));
    claim.posterior = hf_classifier_posterior(c);
    claim.classifier = NULL;
    if (s >= 0) s = hf_certify_claims(w->ctx, &claim, NULL, 1, point, low, high, &out, NULL);
    hf_classifier_free(c);
    return s;
}

static hf_status reaches(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_claim claim = within(10.0, c);
    hf_claim_reach out = {.nodes = 77};
    hf_status s = hf_certify_claim_radius(w->ctx, &claim, NULL, point, NULL, 0.1, 0.9, &out, NULL);
    assert_true((out.nodes == 77) == (s < 0));
    claim.posterior = hf_classifier_posterior(c);
    claim.classifier = NULL;
    if (s >= 0) s = hf_certify_claim_radius(w->ctx, &claim, NULL, point, NULL, 0.1, 0.9, &out, NULL);
    hf_classifier_free(c);
    return s;
}

static hf_status flips(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_claim claim = hf_claim_default();
    hf_flip out = {.nodes = 77};
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 1;
    claim.classifier = c;
    hf_status s =
        hf_certify_flip(w->ctx, &claim, HF_FLIP_NEAREST, &settings, point, NULL, 0.1, 0.9, &out, NULL);
    assert_true((out.nodes == 77) == (s < 0));
    claim.posterior = hf_classifier_posterior(c);
    claim.classifier = NULL;
    claim.delta = 1e-3;
    out.nodes = 77;
    if (s >= 0)
        s = hf_certify_flip(w->ctx, &claim, HF_FLIP_FEWEST, &settings, point, NULL, 0.1, 0.9, &out, NULL);
    assert_true((out.nodes == 77) == (s < 0));
    assert_string_equal(hf_enum_name(HF_ENUM_FLIP_KIND, HF_FLIP_NEAREST), "nearest"); /* allocates nothing */
    hf_classifier_free(c);
    return s;
}

static hf_status regions(workshop *w)
{
    hf_classifier *c = classifiers_make();
    hf_certify_settings settings = hf_certify_settings_default();
    hf_region region = hf_region_default();
    hf_range out = {.nodes = 77};
    settings.region = &region;
    settings.node_limit = 1;
    region.shape = HF_SHAPE_L2;
    hf_status s = hf_certify_class(w->ctx, c, &settings, 1, low, high, &out, NULL, NULL);
    assert_true((out.nodes == 77) == (s < 0));
    assert_string_equal(hf_enum_name(HF_ENUM_SHAPE, region.shape), "l2"); /* allocates nothing */
    region.moves = 1;
    if (s >= 0) s = hf_certify_class(w->ctx, c, &settings, 1, low, high, &out, NULL, NULL);
    hf_classifier_free(c);
    return s;
}

static void claims_survive(void **state)
{
    (void)state;
    RUN(CASE(claims, 10), CASE(reaches, 10), CASE(flips, 10), CASE(regions, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
