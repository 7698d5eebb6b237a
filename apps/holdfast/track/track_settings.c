/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of track create say about a new track. An option that the method has no use for is refused. */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const tool_option track_create_options[] = {
    {"box", 0, "RANGES", "measure anywhere in a box: 'x=-50:50' or 'a=0:1,b=-3:3'", true},
    {"candidates", 0, "PLACES.csv", "or at the rows of a table", TOOL_READS},
    {"features", 'f', "A,B,...", "input columns of the candidates (default: all of numbers but\nthe label)",
     true},
    {"label", 0, "COLUMN", "names of the candidates (default: the first column of text)", false},
    {"target", 't', "NAME", "what is measured (default y)", false},
    {"minimise", 0, NULL, "look for its smallest value (default: its largest)", false},
    {"method", 'm', "METHOD",
     "sparq-reuse (default), sparq, ui-gp-ucb, w-gp-ucb, tv-gp-ucb,\nsw-gp-ucb, r-gp-ucb or gp-ucb", false},
    {"noise", 0, "V", "variance of a reading (default 0.01)", false},
    {"expert-noise", 0, "V", "variance of an answer to a request (default: that of a reading)", false},
    {"drift", 0, "R",
     "largest change per unit of time, in units of the target;\nrequired with an age law but table: per time "
     "(exponential) or per\nroot of time (wiener)",
     false},
    {"learn", 0, "SURVEY.csv",
     "choose method, drift, kernel and noise by readings at many places\nand times (columns time, inputs, "
     "target), as track advise does;\nwith an expert's answers where --queries says how many a step",
     TOOL_READS},
    {"age-law", 0, "LAW", "quadratic (default), linear, exponential, wiener, table or none", false},
    {"age-table", 0, "AGES.csv",
     "for table: columns age and added, the variance that a reading\nof that age has more than a fresh one",
     TOOL_READS},
    {"kernel", 'k', "EXPR",
     "kernel, in the units of the inputs; = holds a parameter, ~ is where\nrefresh --fit starts to learn it "
     "(default: se with a lengthscale of\na tenth of the domain's sides)",
     false},
    {"mean", 0, "M", "prior mean (default: estimated at each step)", false},
    {"window", 0, "W", "time for which a reading counts: sw-gp-ucb, r-gp-ucb", false},
    {"forgetting", 0, "E", "eps of tv-gp-ucb, in [0, 1), or eta of w-gp-ucb, in (0, 1]", false},
    {"beta", 0, "B", "multiplier of the bound: a number (default 2), practical or\ntheory", false},
    {"norm", 0, "B", "theory: bound on the function's norm (default 1)", false},
    {"delta", 0, "D", "theory: how probably it may fail (default 0.05)", false},
    {"robust", 0, "K",
     "readings count less from about K standard deviations off; off:\nthey do not (default 2 for sparq and "
     "sparq-reuse, off for others)",
     false},
    {"discard", 0, "RULE",
     "drop readings with a variance above: negligible (default), log\n(default of sparq) or a number", false},
    {"negligible", 0, "F", "times the prior variance: such readings are dropped (default 100)", false},
    {"places", 0, "RULE",
     "where the expert is asked, of the places that something was told\nat: variance (default: the least "
     "known), upper, dpp or dpp-falling;\nanywhere: a survey of the whole domain, better in short runs if\n"
     "a list covers it within a lengthscale",
     false},
    {"queries", 0, "N", "requests at a time, at most (default, and 0: by --query-factor)", false},
    {"query-factor", 0, "C", "C log(t)^P requests at step t, at most (default 6)", false},
    {"query-power", 0, "P", "and their P (default 1; 0: the number of inputs)", false},
    {"every", 0, "T", "time between two lists of requests (default: none)", false},
    {"tolerance", 0, "E", "ask no more where the variance is below E times an answer's\n(default 0.5)",
     false},
    {"superseded", 0, "C",
     "sparq-reuse: answers replace older ones correlated at least so\nmuch (default 0.6)", false},
    {"expert-after", 0, NULL, "the expert is asked after the place was chosen, as in the paper", false},
    {"most-places", 0, "N", "places where the expert can be asked, at most (default 512)", false},
    {"resolution", 0, "R",
     "places of a box lie on a lattice of R of its sides; 0: anywhere\n(default 1/2048)", false},
    {"samples", 0, "N", "points of a box that are looked at (default 256 for each input)", false},
    {"starts", 0, "N", "and so many climbs from the best of them (default 6)", false},
};

/* ---- who has a use for what ------------------------------------------------------------------------------------- */

enum {
    EXPERT = 1, /* sparq, sparq-reuse */
    AGED = 2,   /* these and ui-gp-ucb */
    WINDOW = 4,
    FORGETS = 8,
    REUSE = 16,
    THEORY = 32, /* --beta theory */
    BOX = 64
};

static unsigned uses_of(const track_plan *plan)
{
    switch (plan->settings.method) {
    case HF_TRACK_SPARQ_REUSE:
        return EXPERT | AGED | REUSE;
    case HF_TRACK_SPARQ:
        return EXPERT | AGED;
    case HF_TRACK_UI_GP_UCB:
        return AGED;
    case HF_TRACK_SW_GP_UCB:
    case HF_TRACK_R_GP_UCB:
        return WINDOW;
    case HF_TRACK_TV_GP_UCB:
    case HF_TRACK_W_GP_UCB:
        return FORGETS;
    default:
        return 0;
    }
}

static hf_status check_uses(tracked *run, const track_plan *plan)
{
    static const struct {
        const char *option;
        unsigned needs;
        const char *what;
    } of[] = {
        {"expert-noise", EXPERT, "a method that asks an expert"},
        {"places", EXPERT, "a method that asks an expert"},
        {"queries", EXPERT, "a method that asks an expert"},
        {"query-factor", EXPERT, "a method that asks an expert"},
        {"query-power", EXPERT, "a method that asks an expert"},
        {"every", EXPERT, "a method that asks an expert"},
        {"tolerance", EXPERT, "a method that asks an expert"},
        {"expert-after", EXPERT, "a method that asks an expert"},
        {"most-places", EXPERT, "a method that asks an expert"},
        {"superseded", REUSE, "sparq-reuse"},
        {"drift", AGED, "a method whose readings age (sparq-reuse, sparq, ui-gp-ucb)"},
        {"age-law", AGED, "a method whose readings age (sparq-reuse, sparq, ui-gp-ucb)"},
        {"age-table", AGED, "a method whose readings age (sparq-reuse, sparq, ui-gp-ucb)"},
        {"discard", AGED, "a method whose readings age (sparq-reuse, sparq, ui-gp-ucb)"},
        {"window", WINDOW, "sw-gp-ucb and r-gp-ucb"},
        {"forgetting", FORGETS, "tv-gp-ucb and w-gp-ucb"},
        {"norm", THEORY, "--beta theory"},
        {"delta", THEORY, "--beta theory"},
        {"resolution", BOX, "--box"},
        {"samples", BOX, "--box"},
        {"starts", BOX, "--box"},
    };
    unsigned uses = uses_of(plan);
    if (plan->settings.beta_rule == HF_BETA_THEORY) uses |= THEORY;
    if (has_argument(run->session.arguments, "box")) uses |= BOX;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        if (has_argument(run->session.arguments, of[k].option) && (uses & of[k].needs) == 0)
            return session_misuse(&run->session, "--%s is for %s; this track has no use for it", of[k].option,
                                  of[k].what);
    return HF_OK;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

/* A number that is the whole text. */
static bool is_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static hf_status take_words(tracked *run, hf_track_settings *s)
{
    const tool_arguments *a = run->session.arguments;
    hf_context *ctx = run->session.ctx;
    const char *law = argument(a, "age-law"), *places = argument(a, "places"), *beta = argument(a, "beta"),
               *discard = argument(a, "discard"), *robust = argument(a, "robust");
    hf_status status = HF_OK;
    if (law != NULL)
        status = session_wrong_word(&run->session, "age-law",
                                    hf_enum_parse(ctx, HF_ENUM_AGE_KIND, law, &s->age.kind));
    if (status >= 0 && places != NULL)
        status = session_wrong_word(&run->session, "places",
                                    hf_enum_parse(ctx, HF_ENUM_PLACE_RULE, places, &s->places));
    if (status >= 0 && beta != NULL) {
        s->beta_rule = HF_BETA_GIVEN;
        if (!is_number(beta, &s->beta)) {
            s->beta = 2.0;
            status = session_wrong_word(&run->session, "beta",
                                        hf_enum_parse(ctx, HF_ENUM_BETA_RULE, beta, &s->beta_rule));
        }
    }
    if (status >= 0 && discard != NULL) {
        s->discard = HF_DISCARD_VARIANCE;
        if (!is_number(discard, &s->discard_variance)) {
            s->discard_variance = 0.0;
            status = session_wrong_word(&run->session, "discard",
                                        hf_enum_parse(ctx, HF_ENUM_DISCARD_RULE, discard, &s->discard));
            if (status >= 0 && s->discard == HF_DISCARD_VARIANCE)
                status = session_misuse(&run->session, "--discard variance: write the variance itself");
        }
    }
    if (status >= 0 && beta != NULL && strcmp(beta, "given") == 0)
        status = session_misuse(&run->session, "--beta given: write the number itself");
    if (status >= 0 && robust != NULL && strcmp(robust, "off") == 0) {
        s->robust = 0.0;
    } else if (status >= 0 && robust != NULL && (!is_number(robust, &s->robust) || !(s->robust > 0.0))) {
        status = session_misuse(&run->session, "--robust: '%s' is neither a positive number nor off", robust);
    }
    return status;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static hf_status take_numbers(tracked *run, hf_track_settings *s)
{
    const struct {
        const char *option;
        double *value;
    } of[] = {
        {"noise", &s->noise},
        {"expert-noise", &s->expert_noise},
        {"drift", &s->age.rate},
        {"mean", &s->mean},
        {"window", &s->window},
        {"forgetting", &s->forgetting},
        {"norm", &s->norm_bound},
        {"delta", &s->delta},
        {"negligible", &s->negligible},
        {"query-factor", &s->query_factor},
        {"query-power", &s->query_power},
        {"every", &s->every},
        {"tolerance", &s->tolerance},
        {"superseded", &s->superseded},
        {"resolution", &s->search.resolution},
    };
    const struct {
        const char *option;
        size_t *value;
    } counts[] = {{"queries", &s->queries},
                  {"most-places", &s->most_places},
                  {"samples", &s->search.samples},
                  {"starts", &s->search.starts}};
    hf_status status = HF_OK;
    for (size_t k = 0; k < sizeof of / sizeof of[0] && status >= 0; k++)
        status = session_number(&run->session, of[k].option, false, of[k].value);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0] && status >= 0; k++) {
        if (argument_size(run->session.arguments, counts[k].option, counts[k].value)) continue;
        status = session_told(&run->session);
    }
    s->mean_given = has_argument(run->session.arguments, "mean");
    s->minimise = has_argument(run->session.arguments, "minimise");
    s->expert_after = has_argument(run->session.arguments, "expert-after");
    if (has_argument(run->session.arguments, "candidates")) s->search.resolution = 0.0;
    return status;
}

/* ---- ages ------------------------------------------------------------------------------------------------------- */

/* The first age that does not go with the one before it; `entries` when all do. */
static size_t wrong_age(tracked *run, const hf_age_law *law)
{
    for (size_t k = 0; k < law->entries; k++) {
        const size_t before = k > 0 ? 1 : 0;
        hf_age_law two = *law;
        two.ages = law->ages + k - before;
        two.added = law->added + k - before;
        two.entries = 1 + before;
        if (hf_age_law_check(run->session.ctx, &two) < 0) return k;
    }
    return law->entries;
}

static hf_status take_table(tracked *run, track_plan *plan)
{
    hf_age_law *law = &plan->settings.age;
    hf_status status =
        hf_table_read_csv(run->session.ctx, argument(run->session.arguments, "age-table"), &plan->ages);
    if (status >= 0) status = session_column(&run->session, plan->ages, "age", false, &law->ages);
    if (status >= 0) status = session_column(&run->session, plan->ages, "added", false, &law->added);
    if (status < 0) return status;
    law->entries = hf_table_rows(plan->ages);
    const size_t wrong = wrong_age(run, law);
    status = hf_age_law_check(run->session.ctx, law);
    if (wrong == law->entries)
        return session_refuse_at(&run->session, status, "%s", hf_table_source(plan->ages));
    return session_refuse_at(&run->session, status, "%s, line %zu", hf_table_source(plan->ages),
                             hf_table_line(plan->ages, wrong));
}

static hf_status take_ages(tracked *run, track_plan *plan)
{
    const tool_arguments *a = run->session.arguments;
    const hf_age_kind kind = plan->settings.age.kind;
    const bool aged = (uses_of(plan) & AGED) != 0, table = has_argument(a, "age-table");
    if (!aged) return HF_OK;
    if (kind == HF_AGE_TABLE && !table)
        return session_misuse(&run->session, "--age-law table needs --age-table AGES.csv");
    if (kind != HF_AGE_TABLE && table)
        return session_misuse(&run->session, "--age-table is for --age-law table");
    const bool rated = kind != HF_AGE_TABLE && kind != HF_AGE_NONE;
    if (rated && !has_argument(a, "drift"))
        return session_misuse(&run->session,
                              "--drift is missing: how much can the function change in a unit of time? "
                              "(--learn SURVEY.csv learns it from readings, and which method to use)");
    if (!rated && has_argument(a, "drift"))
        return session_misuse(&run->session, "--drift is not for --age-law %s",
                              hf_enum_name(HF_ENUM_AGE_KIND, kind));
    return table ? take_table(run, plan) : HF_OK;
}

/* What the method cannot do without. */
static hf_status check_needs(tracked *run, const track_plan *plan)
{
    const unsigned uses = uses_of(plan);
    const char *method = hf_enum_name(HF_ENUM_TRACK_METHOD, plan->settings.method);
    if ((uses & WINDOW) != 0 && !has_argument(run->session.arguments, "window"))
        return session_misuse(&run->session, "--window is missing: %s needs it", method);
    if ((uses & FORGETS) != 0 && !has_argument(run->session.arguments, "forgetting"))
        return session_misuse(&run->session, "--forgetting is missing: %s needs it", method);
    return HF_OK;
}

hf_status plan_options(tracked *run, track_plan *plan)
{
    hf_status status = take_words(run, &plan->settings);
    if (status >= 0) status = check_uses(run, plan);
    return status >= 0 ? take_numbers(run, &plan->settings) : status;
}

hf_status plan_settings(tracked *run, track_plan *plan)
{
    const char *name = argument(run->session.arguments, "method"),
               *target = argument(run->session.arguments, "target");
    hf_track_method method = HF_TRACK_SPARQ_REUSE;
    hf_status status = HF_OK;
    if (name != NULL)
        status = session_wrong_word(&run->session, "method",
                                    hf_enum_parse(run->session.ctx, HF_ENUM_TRACK_METHOD, name, &method));
    if (status < 0) return status;
    plan->settings = hf_track_settings_default(method);
    plan->settings.kernel = argument(run->session.arguments, "kernel");
    plan->target = target != NULL ? target : "y";
    status = plan_options(run, plan);
    if (status >= 0) status = take_ages(run, plan);
    return status >= 0 ? check_needs(run, plan) : status;
}
