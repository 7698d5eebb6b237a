/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of holdfast certify. */
#include "certify/certify_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranges -------------------------------------------------------------------------------------------------- */

/* A range of the upper end of the interval and one of the lower: what both tell. */
static void join_ends(const hf_range *upper, hf_range *out)
{
    out->upper = upper->upper;
    out->upper_attained = upper->upper_attained;
    out->stop = upper->stop > out->stop ? upper->stop : out->stop;
    out->nodes += upper->nodes;
    out->seconds += upper->seconds;
    out->rounding = fmax(out->rounding, upper->rounding);
}

/* The ends of the interval of a new reading, mean -+ 1.96 sd, that predict tells. */
static hf_status find_intervals(certified *run, const certify_request *asked, hf_range *out, double *at)
{
    const double normal_95 = 1.959963984540054;
    const size_t m = run->m;
    hf_status worst = HF_OK;
    hf_range *upper = calloc(m + 1, sizeof *upper);
    if (upper == NULL) return HF_ERR_MEMORY;
    for (int k = 0; k < 2 && worst >= 0; k++) {
        hf_certify_settings own = certified_share(run, &asked->settings, 2 - (size_t)k);
        own.output = certified_latent(run, asked->of);
        own.observed = true;
        own.beta = k == 0 ? -normal_95 : normal_95;
        own.lower_only = k == 0;
        own.upper_only = k == 1;
        progress_part(run->session.progress, "certify", 0.5 * (double)k, 0.5);
        const hf_status status = hf_certify_boxes(run->session.ctx, run->posterior, HF_CERTIFY_MEAN_PLUS,
                                                  &own, m, run->lower, run->upper, k == 0 ? out : upper,
                                                  k == 0 ? at : NULL, k == 0 ? NULL : at + m * run->d);
        if (status != HF_OK) worst = status;
    }
    for (size_t k = 0; k < m && worst >= 0; k++) join_ends(&upper[k], &out[k]);
    free(upper);
    return worst;
}

/* `at`: 2 m x d, where the least values are, then the largest. */
static hf_status find_ranges(certified *run, certify_request *asked, hf_range *out, double *at)
{
    double *most = at + run->m * run->d;
    hf_context *ctx = run->session.ctx;
    asked->settings.output = asked->of;
    if (asked->what == CERTIFY_INTERVAL) return find_intervals(run, asked, out, at);
    if (asked->what == CERTIFY_PROBABILITY)
        return hf_certify_class(ctx, run->classifier, &asked->settings, run->m, run->lower, run->upper, out,
                                at, most);
    if (asked->what == CERTIFY_LOSS)
        return hf_certify_loss(ctx, run->classifier, NULL, &asked->settings, run->m, run->lower, run->upper,
                               out, at, most);
    asked->settings.output = certified_latent(run, asked->of);
    return hf_certify_boxes(ctx, run->posterior, certify_value(asked->what), &asked->settings, run->m,
                            run->lower, run->upper, out, at, most);
}

/* The value is a logarithm: the rate, which rises with it, has the exponentials for its range. */
static hf_status tell_rates(certified *run, const certify_request *asked)
{
    static const char *const names[] = {"rate_lower", "rate_upper", NULL};
    const size_t m = run->m;
    if (!certify_has_rate(run, asked)) return HF_OK;
    double *block = calloc(2 * m + 1, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    /* One unit in the last place outwards: an exponential is off by less. */
    for (size_t k = 0; k < m; k++) {
        block[k] = nextafter(exp(asked->low[k]), 0.0);
        block[m + k] = nextafter(exp(asked->high[k]), INFINITY);
    }
    const hf_status status = certified_numbers(run, names, block);
    free(block);
    return status;
}

static hf_status tell_ranges(certified *run, certify_request *asked, const hf_range *out)
{
    static const char *const first[] = {"lower", "upper", "lower_attained", "upper_attained", NULL};
    const size_t m = run->m;
    double *block = calloc(6 * m + 1, sizeof *block);
    size_t *stop = calloc(m + 1, sizeof *stop);
    hf_status status = block != NULL && stop != NULL && certify_make_ends(asked, m) ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < m && status >= 0; k++) {
        const hf_range *r = &out[k];
        const double values[] = {r->lower,          r->upper,         r->lower_attained,
                                 r->upper_attained, (double)r->nodes, r->seconds};
        for (size_t c = 0; c < 6; c++) block[c * m + k] = values[c];
        stop[k] = (size_t)r->stop;
        asked->low[k] = r->lower;
        asked->high[k] = r->upper;
    }
    if (status >= 0) status = certified_numbers(run, first, block);
    if (status >= 0) status = tell_rates(run, asked);
    if (status >= 0) status = certify_stops(run, asked, stop);
    if (status >= 0) status = certified_numbers(run, certify_costs, block + 4 * m);
    TOOL_FREE(block, stop);
    return status;
}

static hf_status ask_ranges(certified *run, certify_request *asked)
{
    const char *rate = certify_has_rate(run, asked) ? "rate_lower" : NULL;
    const char *const names[] = {
        "radius", "lower",      "upper", "lower_attained", "upper_attained", "status", "nodes", "seconds",
        rate,     "rate_upper", NULL};
    hf_status status = certify_begin(run, asked, names);
    hf_range *out = calloc(run->m + 1, sizeof *out);
    double *at = calloc(2 * run->m * run->d + 1, sizeof *at);
    if (out == NULL || at == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = find_ranges(run, asked, out, at);
    if (status >= 0) status = tell_ranges(run, asked, out);
    if (status >= 0 && asked->where) status = certified_places(run, "_at_lower", at);
    if (status >= 0 && asked->where) status = certified_places(run, "_at_upper", at + run->m * run->d);
    TOOL_FREE(out, at);
    return status;
}

/* ---- decisions ----------------------------------------------------------------------------------------------- */

static hf_status tell_decisions(certified *run, certify_request *asked, const hf_decision *out)
{
    const size_t m = run->m;
    double *block = calloc(2 * m + 1, sizeof *block);
    size_t *choice = calloc(2 * m + 1, sizeof *choice), by_time = 0;
    hf_status status = block != NULL && choice != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < m && status >= 0; k++) {
        choice[k] = out[k].winner;
        choice[m + k] = (size_t)out[k].verdict;
        block[k] = (double)out[k].nodes;
        block[m + k] = out[k].seconds;
        by_time += out[k].verdict == HF_VERDICT_OPEN && certify_ran_out(asked, out[k].seconds);
    }
    if (status >= 0) status = certified_classes(run, "class", choice);
    if (status >= 0) status = certify_verdicts(run, asked, choice + m);
    if (status >= 0) status = certified_numbers(run, certify_costs, block);
    certified_tell_limits(run, &asked->settings, by_time, 0, m);
    TOOL_FREE(block, choice);
    return status;
}

static hf_status ask_decisions(certified *run, certify_request *asked)
{
    static const char *const names[] = {"radius", "class", "status", "nodes", "seconds", NULL};
    hf_status status = certify_begin(run, asked, names);
    hf_decision *out = calloc(run->m + 1, sizeof *out);
    if (out == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_certify_decision(run->session.ctx, run->classifier, NULL, &asked->settings, run->m,
                                     run->x, run->lower, run->upper, out, asked->counterexample);
    if (status >= 0) status = tell_decisions(run, asked, out);
    free(out);
    return status;
}

/* ---- radii --------------------------------------------------------------------------------------------------- */

/* At all radii at which one of them changes. */
static hf_status radius_shares(const certified *run, certify_request *asked, const double *certified_to,
                               const double *broken_at)
{
    const size_t m = run->m, count = 2 * m + 2;
    double *at = calloc(count, sizeof *at);
    asked->shares = count;
    asked->share_at = at;
    if (at == NULL || !certify_make_ends(asked, count)) return HF_ERR_MEMORY;
    at[1] = asked->radius[0];
    for (size_t k = 0; k < m; k++) {
        at[2 + k] = isnan(certified_to[k]) ? 0.0 : certified_to[k];
        at[2 + m + k] = fmin(isnan(broken_at[k]) ? (double)INFINITY : broken_at[k], asked->radius[0]);
    }
    qsort(at, count, sizeof *at, by_size);
    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; k < m; k++) {
            asked->low[r] += certified_to[k] >= at[r] ? 1.0 / (double)m : 0.0;
            asked->high[r] += !(broken_at[k] <= at[r]) ? 1.0 / (double)m : 0.0;
        }
    return HF_OK;
}

/* The largest certified radius of a row: of its class, with the column `class`, or of a claim, with the value
 * at the point. */
static hf_status find_radius(certified *run, const certify_request *asked, size_t k, double *values,
                             size_t *class)
{
    hf_certify_settings share = certified_share(run, &asked->settings, run->m - k);
    const double *x = run->x + k * run->d;
    double *at = asked->counterexample + k * run->d;
    hf_context *ctx = run->session.ctx;
    hf_radius r;
    hf_claim_reach c;
    hf_status status;
    if (asked->what == CERTIFY_RADII) {
        status =
            hf_certify_radius(ctx, run->classifier, &share, x, run->unit, asked->radius[0], 0.01, &r, at);
        if (status >= 0) class[k] = r.winner;
        c = (hf_claim_reach){
            .certified = r.certified, .broken = r.broken, .nodes = r.nodes, .seconds = r.seconds};
    } else {
        const hf_claim claim = certify_claim_of(run, asked, &share);
        status = hf_certify_claim_radius(ctx, &claim, &share, x, run->unit, asked->radius[0], 0.01, &c, at);
    }
    if (status < 0) return status;
    const double found[] = {c.value, c.certified, isfinite(c.broken) ? c.broken : (double)NAN,
                            (double)c.nodes, c.seconds};
    memcpy(values, found, sizeof found);
    return status;
}

/* `block`: value, certified radius, broken radius, nodes and seconds of each row. */
static hf_status find_radii(certified *run, certify_request *asked, double *block, size_t *class)
{
    const size_t m = run->m;
    hf_status worst = HF_OK;
    size_t by_time = 0;
    for (size_t k = 0; k < m; k++) {
        double values[5];
        progress_part(run->session.progress, "certify", (double)k / (double)m, 1.0 / (double)m);
        const hf_status status = find_radius(run, asked, k, values, class);
        if (status < 0) return status;
        if (status > 0) worst = status;
        for (size_t c = 0; c < 5; c++) block[c * m + k] = values[c];
        asked->unfinished += status == HF_WARN_NOT_CONVERGED;
        by_time += status == HF_WARN_NOT_CONVERGED && certify_ran_out(asked, values[4]);
        asked->certified += values[1] > 0.0;
        asked->broken += isnan(values[2]) ? 0 : 1;
    }
    certified_tell_limits(run, &asked->settings, by_time, 0, m);
    return worst;
}

static hf_status ask_radii(certified *run, certify_request *asked)
{
    static const char *const of_class[] = {"class", "certified_radius", "broken_radius",
                                           "nodes", "seconds",          NULL},
                             *const of_value[] = {"value", "certified_radius", "broken_radius",
                                                  "nodes", "seconds",          NULL};
    const bool classes = asked->what == CERTIFY_RADII;
    const char *const *names = classes ? of_class : of_value;
    const size_t m = run->m;
    hf_status status = certified_begin(run, m, run->x, names);
    double *block = calloc(5 * m + 1, sizeof *block);
    size_t *class = calloc(m + 1, sizeof *class);
    if (block == NULL || class == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = find_radii(run, asked, block, class);
    if (status >= 0 && classes) status = certified_classes(run, "class", class);
    if (status >= 0) status = certified_numbers(run, names + classes, block + (classes ? m : 0));
    if (status >= 0 && has_argument(run->arguments, "plot")) {
        const hf_status found = radius_shares(run, asked, block + m, block + 2 * m);
        if (found < 0) status = found;
    }
    TOOL_FREE(block, class);
    return status;
}

/* ---- accuracy ------------------------------------------------------------------------------------------------ */

static hf_status count_right(certified *run, certify_request *asked, const size_t *label)
{
    double *reach = calloc(run->d + 1, sizeof *reach);
    hf_status worst = reach != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t r = 0; r < asked->radii && worst >= 0; r++) {
        const hf_certify_settings share = certified_share(run, &asked->settings, asked->radii - r);
        for (size_t j = 0; j < run->d; j++) reach[j] = asked->radius[r] * run->unit[j];
        progress_part(run->session.progress, "certify", (double)r / (double)asked->radii,
                      1.0 / (double)asked->radii);
        const hf_status status = hf_certify_accuracy(run->session.ctx, run->classifier, &share, run->points,
                                                     run->x, label, reach, &asked->counts[r]);
        if (status != HF_OK) worst = status;
    }
    free(reach);
    return worst;
}

static hf_status tell_counts(certified *run, certify_request *asked)
{
    static const char *const names[] = {
        "radius", "rows", "right", "certified", "counterexample", "open", "accuracy", "certified_accuracy",
        NULL};
    const size_t radii = asked->radii;
    double *block = calloc(8 * radii + 1, sizeof *block);
    asked->shares = radii;
    asked->share_at = calloc(radii + 1, sizeof *asked->share_at);
    hf_status status =
        block != NULL && asked->share_at != NULL && certify_make_ends(asked, radii) ? HF_OK : HF_ERR_MEMORY;
    for (size_t r = 0; r < radii && status >= 0; r++) {
        const hf_certified_accuracy *c = &asked->counts[r];
        const double rows = (double)c->rows, open = (double)(c->right - c->certified - c->broken);
        const double values[] = {
            asked->radius[r],  rows, (double)c->right,        (double)c->certified,
            (double)c->broken, open, (double)c->right / rows, (double)c->certified / rows};
        for (size_t k = 0; k < 8; k++) block[k * radii + r] = values[k];
        asked->share_at[r] = asked->radius[r];
        asked->low[r] = (double)c->certified / rows;
        asked->high[r] = (double)(c->right - c->broken) / rows;
        asked->asked += c->right;
        asked->certified += c->certified;
        asked->broken += c->broken;
    }
    asked->unfinished = asked->asked - asked->certified - asked->broken;
    if (status >= 0) status = certified_begin(run, radii, NULL, names);
    if (status >= 0) status = certified_numbers(run, names, block);
    free(block);
    return status;
}

static hf_status ask_accuracy(certified *run, certify_request *asked)
{
    size_t *label = calloc(run->points + 1, sizeof *label), labels = 0;
    asked->counts = calloc(asked->radii + 1, sizeof *asked->counts);
    hf_status status = label != NULL && asked->counts != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hf_model_labels(run->session.ctx, run->model, run->at, label);
    for (size_t k = 0; k < run->points && status >= 0; k++) labels += label[k] != HF_LABEL_MISSING;
    if (status >= 0 && labels == 0)
        status = REFUSE(run, "%s: no row has a label in column \"%s\"", hf_table_source(run->at),
                        hf_model_target(run->model));
    if (status >= 0) status = count_right(run, asked, label);
    const hf_status told = status >= 0 ? tell_counts(run, asked) : status;
    free(label);
    return told < 0 ? told : status;
}

/* ---- readings ------------------------------------------------------------------------------------------------ */

static hf_status ask_readings(certified *run, certify_request *asked)
{
    static const char *const names[] = {"damage", "worst_row", NULL};
    const size_t m = run->m;
    hf_status status = certified_begin(run, m, run->x, names);
    double *block = calloc(2 * m + 1, sizeof *block);
    size_t *worst = calloc(m + 1, sizeof *worst);
    if (block == NULL || worst == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status =
            hf_model_contamination_bound(run->session.ctx, run->model, asked->count, m, run->x, block, worst);
    for (size_t k = 0; k < m && status >= 0; k++) {
        block[m + k] = asked->count == 1 && isfinite(block[k]) ? (double)worst[k] : (double)NAN;
        asked->unfinished += isfinite(block[k]) ? 0 : 1;
    }
    if (status >= 0) status = certified_numbers(run, names, block);
    TOOL_FREE(block, worst);
    return status;
}

hf_status certify_answer(certified *run, certify_request *asked)
{
    static hf_status (*const answers[CERTIFY_TASKS])(certified *, certify_request *) = {
        [CERTIFY_MEAN] = ask_ranges,         [CERTIFY_SD] = ask_ranges,
        [CERTIFY_MEAN_PLUS] = ask_ranges,    [CERTIFY_PROBABILITY] = ask_ranges,
        [CERTIFY_LOSS] = ask_ranges,         [CERTIFY_CLASSES] = certify_classes,
        [CERTIFY_DECISION] = ask_decisions,  [CERTIFY_ACCURACY] = ask_accuracy,
        [CERTIFY_READINGS] = ask_readings,   [CERTIFY_INTERVAL] = ask_ranges,
        [CERTIFY_OUTPUTS] = certify_outputs, [CERTIFY_RADII] = ask_radii,
        [CERTIFY_CLAIM] = certify_claims,    [CERTIFY_REACH] = ask_radii};
    const bool points = certify_decides(asked->what) && asked->what != CERTIFY_ACCURACY;
    if (points) asked->counterexample = calloc(run->m * run->d + 1, sizeof *asked->counterexample);
    if (points && asked->counterexample == NULL) return HF_ERR_MEMORY;
    if (asked->what != CERTIFY_ACCURACY) asked->asked = run->m; /* else rows that are right */
    return answers[asked->what](run, asked);
}
