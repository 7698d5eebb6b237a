/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of the members of hf_track_settings, and those of advice. Files of tracks keep them. */
#include "core/core.h"
#include "track/track.h"

#include <math.h>

#define SETTINGS hf_track_settings
#include "core/settings_rows.h"

#include <holdfast/track_advice.h>

#define EXPERT  (BIT(HF_TRACK_SPARQ) | BIT(HF_TRACK_SPARQ_REUSE))
#define ASKS    CLASHES(NOT(method, ALL_BUT(EXPERT)))
#define AGES    CLASHES(NOT(method, ALL_BUT(EXPERT | BIT(HF_TRACK_UI_GP_UCB))))
#define THEORY  CLASHES(NOT(beta_rule, ALL_BUT(BIT(HF_BETA_THEORY))))
#define IN_FILE SINCE(1)

static const hfi_setting rows[] = {
    {CHOICE(method, hf_track_method, TRACK_METHOD, HF_TRACK_SPARQ_REUSE), IN_FILE,
     OPTION("method", "METHOD",
            "sparq-reuse (default), sparq, ui-gp-ucb, w-gp-ucb, tv-gp-ucb,\nsw-gp-ucb, r-gp-ucb or gp-ucb")},
    {FLAG(minimise), IN_FILE, OPTION("minimise", NULL, "look for its smallest value (default: its largest)")},
    {LIST(domain)},
    {LIST(names)},
    {TEXT(kernel), OPTION("kernel", "EXPR",
                          "kernel, in the units of the inputs; = holds a parameter, ~ is where\n"
                          "refresh --fit starts to learn it (default: se with a lengthscale of\n"
                          "a tenth of the domain's sides)")},
    {POSITIVE(noise), IN_FILE, DEFAULT(0.01), UNIT("target^2"),
     OPTION("noise", "V", "variance of a reading (default 0.01)")},
    {SIZE(expert_noise), IN_FILE, UNIT("target^2"), ASKS,
     OPTION("expert-noise", "V", "variance of an answer to a request (default: that of a reading)")},
    {FLAG(mean_given), IN_FILE},
    {FINITE(mean), IN_FILE, UNIT("target"),
     OPTION("mean", "M", "prior mean (default: estimated at each step)")},
    {CHOICE(age.kind, hf_age_kind, AGE_KIND, HF_AGE_TABLE), IN_FILE, DEFAULT(HF_AGE_QUADRATIC), AGES,
     OPTION("age-law", "LAW", "quadratic (default), linear, exponential, wiener, table or none")},
    {NUMBER(age.rate, 0, INFINITY), IN_FILE, AGES,
     OPTION("drift", "R",
            "largest change per unit of time, in units of the target;\n"
            "required with an age law but table: per time (exponential) or per\n"
            "root of time (wiener)")},
    {CHOICE(discard, hf_discard_rule, DISCARD_RULE, HF_DISCARD_VARIANCE), IN_FILE, AGES,
     OPTION("discard", "RULE",
            "drop readings with a variance above: negligible (default), log\n"
            "(default of sparq) or a number")},
    {SIZE(discard_variance), IN_FILE, UNIT("target^2")},
    {NUMBER(negligible, 0, INFINITY), .face.above = true, IN_FILE, DEFAULT(100),
     OPTION("negligible", "F", "times the prior variance: such readings are dropped (default 100)")},
    {NUMBER(window, 0, INFINITY), .face.unset = "none", IN_FILE,
     OPTION("window", "W", "time for which a reading counts: sw-gp-ucb, r-gp-ucb"),
     CLASHES(NOT(method, ALL_BUT(BIT(HF_TRACK_SW_GP_UCB) | BIT(HF_TRACK_R_GP_UCB))))},
    {NUMBER(forgetting, 0, 1), IN_FILE, UNSET("none"),
     OPTION("forgetting", "E", "eps of tv-gp-ucb, in [0, 1), or eta of w-gp-ucb, in (0, 1]"),
     CLASHES(NOT(method, ALL_BUT(BIT(HF_TRACK_TV_GP_UCB) | BIT(HF_TRACK_W_GP_UCB))))},
    {CHOICE(beta_rule, hf_beta_rule, BETA_RULE, HF_BETA_GIVEN), IN_FILE, DEFAULT(HF_BETA_GIVEN)},
    {SIZE(beta), IN_FILE, DEFAULT(2),
     OPTION("beta", "B", "multiplier of the bound: a number (default 2), practical or\ntheory")},
    {SIZE(norm_bound), IN_FILE, DEFAULT(1), THEORY,
     OPTION("norm", "B", "theory: bound on the function's norm (default 1)")},
    {NUMBER(delta, 0, 1), .face.above = true, .face.below = true, IN_FILE, DEFAULT(0.05), THEORY,
     OPTION("delta", "D", "theory: how probably it may fail (default 0.05)")},
    {SIZE(robust), IN_FILE,
     OPTION("robust", "K",
            "readings count less from about K standard deviations off; off:\n"
            "they do not (default 2 for sparq and sparq-reuse, off for others)")},
    {CHOICE(places, hf_place_rule, PLACE_RULE, HF_PLACES_DPP_FALLING), IN_FILE, ASKS,
     OPTION("places", "RULE",
            "where the expert is asked, of the places that something was told\n"
            "at: variance (default: the least known), upper, dpp or dpp-falling;\n"
            "anywhere: a survey of the whole domain, better in short runs if\n"
            "a list covers it within a lengthscale")},
    {SIZE(query_factor), IN_FILE, DEFAULT(6), ASKS,
     OPTION("query-factor", "C", "C log(t)^P requests at step t, at most (default 6)")},
    {SIZE(query_power), IN_FILE, DEFAULT(1), ASKS,
     OPTION("query-power", "P", "and their P (default 1; 0: the number of inputs)")},
    {COUNT(queries, 0), IN_FILE, ASKS,
     OPTION("queries", "N", "requests at a time, at most (default, and 0: by --query-factor)")},
    {SIZE(every), IN_FILE, ASKS, OPTION("every", "T", "time between two lists of requests (default: none)")},
    {SIZE(tolerance), IN_FILE, DEFAULT(0.5), ASKS,
     OPTION("tolerance", "E", "ask no more where the variance is below E times an answer's\n(default 0.5)")},
    {NUMBER(superseded, 0, INFINITY), .face.above = true, IN_FILE, DEFAULT(0.6),
     CLASHES(NOT(method, ALL_BUT(BIT(HF_TRACK_SPARQ_REUSE)))),
     OPTION("superseded", "C",
            "sparq-reuse: answers replace older ones correlated at least so\nmuch (default 0.6)")},
    {FLAG(expert_after), IN_FILE, ASKS,
     OPTION("expert-after", NULL, "the expert is asked after the place was chosen, as in the paper")},
    {COUNT(most_places, 16), IN_FILE, DEFAULT(512), ASKS,
     OPTION("most-places", "N", "places where the expert can be asked, at most (default 512)")},
    {COUNT(samples, 0), .key = "search.samples", IN_FILE,
     OPTION("samples", "N", "points of a box that are looked at (default 256 for each input)")},
    {COUNT(starts, 0), .key = "search.starts", IN_FILE, DEFAULT(6),
     OPTION("starts", "N", "and so many climbs from the best of them (default 6)")},
    {COUNT(iterations, 1), .key = "search.iterations", IN_FILE, DEFAULT(40)},
    {NUMBER(resolution, 0, 0.5), .key = "search.resolution", IN_FILE, DEFAULT(1.0 / 2048.0),
     OPTION("resolution", "R",
            "places of a box lie on a lattice of R of its sides; 0: anywhere\n(default 1/2048)")},
};
SETTINGS_TABLE(hf_track_settings, "a track", rows)

hf_status hf_track_settings_init(hf_track_settings *settings, size_t size, hf_track_method method)
{
    hf_track_settings own;
    (void)hf_settings_init(hf_track_settings_table(), &own, sizeof own);
    own.method = method;
    if (method == HF_TRACK_SPARQ) own.discard = HF_DISCARD_LOG;
    if (method == HF_TRACK_SPARQ || method == HF_TRACK_SPARQ_REUSE) own.robust = 2.0;
    return hfi_settings_give(NULL, hf_track_settings_table(), &own, settings, size);
}

#undef SETTINGS
#define SETTINGS hf_advice_settings
static const hfi_setting advice_rows[] = {
    {COUNT_TO(draws, 2, 1000), DEFAULT(8)},
    {COUNT_TO(steps, 2, 1000), DEFAULT(60)},
    {SIZE(step)},
    {COUNT(queries, 0)},
    {FLAG(costly), CLASHES(NOT(queries, NONE))},
};
SETTINGS_TABLE(hf_advice_settings, "advice", advice_rows)

/* ---- recommendations of the authors of the baselines ----------------------------------------------------------- */

#define LEAST_ETA 0.01

hf_status hf_track_theoretical_window(hf_context *ctx, hf_track_method method, double steps, double change,
                                      double scale, double *out)
{
    if (out == NULL || !hfi_is_positive(steps) || !hfi_is_positive(change) || !hfi_is_positive(scale))
        return hfi_refuse(ctx,
                          "a recommendation needs positive numbers: %g steps, a change of %g, a scale of %g",
                          steps, change, scale);
    const double window = pow(fmax(1.0, scale), 0.25) / sqrt(change),
                 left = 1.0 - change * change / (2.0 * scale);
    switch (method) {
    case HF_TRACK_R_GP_UCB:
    case HF_TRACK_SW_GP_UCB:
        *out = fmax(1.0, fmin(steps, window));
        return HF_OK;
    case HF_TRACK_W_GP_UCB:
        *out = fmax(LEAST_ETA, 1.0 - 1.0 / fmax(1.0, window));
        return HF_OK;
    case HF_TRACK_TV_GP_UCB:
        *out = 1.0 - fmax(0.0, left) * fmax(0.0, left);
        break;
    default:
        return hfi_refuse(ctx, "%s has neither a window nor a forgetting",
                          hf_enum_name(HF_ENUM_TRACK_METHOD, method));
    }
    *out = fmin(*out, 1.0 - 1e-9); /* where the prior allows no more change in a step */
    return HF_OK;
}
