/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file attack_ranges.h
 * @brief Attacks on ranges of a posterior's values: random boxes and settings; points inside,
 * sides, corners and where gradients lead; what a range says of itself.
 */
#ifndef ATTACK_RANGES_H
#define ATTACK_RANGES_H

#include "attack_models.h"

#include "bound/problem.h"
#include "certify/quantities.h"
#include "rigorous_testing.h"

/** Kinds of attacks that are counted, in the order of the report. */
typedef enum attack_kind {
    ATTACK_MEAN,
    ATTACK_SD,
    ATTACK_PLUS,
    ATTACK_BARE,
    ATTACK_RIGOROUS,
    ATTACK_TWO,
    ATTACK_MANY,
    ATTACK_DECISION,
    ATTACK_RADIUS,
    ATTACK_SCORE,
    ATTACK_DAMAGE,
    ATTACK_KINDS
} attack_kind;

static const char *const attack_names[] = {"mean",
                                           "sd",
                                           "mean + beta sd",
                                           "one box's own bounds",
                                           "rigorous",
                                           "probability of two classes",
                                           "probability of several classes",
                                           "decision",
                                           "radius",
                                           "score",
                                           "damage by readings"};

typedef struct attack_count {
    size_t asked, points, violations;
    /* least distance of a value from an end, inward, in units of the values' scale */
    double margin;
    double share; /* what was outside, as a share of what rounding of the prediction is allowed */
} attack_count;

/** One answer under attack. */
typedef struct attack_answer {
    attack_kind kind;
    hf_certify_what what;
    hf_certify_settings settings;
    hf_range range;
    double argmin[ATTACK_INPUTS], argmax[ATTACK_INPUTS];
} attack_answer;

typedef struct attack_tally {
    attack_count of[ATTACK_KINDS];
    size_t models, stops[5];
} attack_tally;

static inline void attack_clear(attack_tally *tally)
{
    memset(tally, 0, sizeof *tally);
    for (size_t k = 0; k < ATTACK_KINDS; k++) tally->of[k].margin = (double)INFINITY;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/** In scaled units about the data, moved to the user's: points, thin boxes, partly fixed, wide, far
 * away, and ordinary ones. */
static inline attack_box attack_draw_box(attack_model *m)
{
    hfi_stream *s = &m->stream;
    const hfi_scaling *scaling = &m->posterior->scaling;
    attack_box box = m->own;
    if (m->sharp && hfi_stream_below(s, 3)) return box;
    const size_t form = hfi_stream_below(s, 12);
    for (size_t j = 0; j < m->inputs; j++) {
        double c = 1.2 * hfi_stream_normal(s), left = attack_log_between(s, -2.0, 0.0);
        if (form == 0) left = 0.0;
        if (form == 1) left = attack_log_between(s, -16.0, -3.0);
        if (form == 2 && hfi_stream_below(s, 2)) left = 0.0;
        if (form == 3) left = attack_between(s, 0.5, 3.0);
        if (form == 4 && j == 0)
            c += hfi_stream_below(s, 2) ? attack_log_between(s, 0.5, 2.0) : -8.0;
        const double right = left * attack_between(s, 0.5, 1.5);
        box.lower[j] = (c - left) * scaling->x_scale[j] + scaling->x_shift[j];
        box.upper[j] = (c + right) * scaling->x_scale[j] + scaling->x_shift[j];
        if (left == 0.0) box.upper[j] = box.lower[j];
    }
    return box;
}

/** `near` is a value of what is asked about; `scale` its size. */
static inline hf_certify_settings attack_draw_settings(attack_model *m, double near, double scale)
{
    static const size_t LIMITS[] = {1, 1, 2, 3, 7, 20, 60, 200};
    hfi_stream *s = &m->stream;
    hf_certify_settings settings = hf_certify_settings_default();
    settings.beta = attack_between(s, -3.0, 3.0);
    settings.output = hfi_stream_below(s, m->outputs);
    settings.tolerance = scale * attack_log_between(s, -4.0, -0.5);
    if (hfi_stream_below(s, 10) == 0) settings.tolerance = scale * 1e-13;
    settings.node_limit = m->sharp && hfi_stream_below(s, 2) ? 1 : LIMITS[hfi_stream_below(s, 8)];
    if (hfi_stream_below(s, 25) == 0) {
        settings.node_limit = 0;
        settings.time_limit = attack_log_between(s, -4.0, -2.0);
    }
    if (hfi_stream_below(s, 4) == 0) settings.bounds = 1 + (unsigned)hfi_stream_below(s, 7);
    const size_t ends = hfi_stream_below(s, 8);
    settings.lower_only = ends == 0;
    settings.upper_only = ends == 1;
    if (hfi_stream_below(s, 4) == 0) settings.decide_at = near + 0.2 * scale * hfi_stream_normal(s);
    return settings;
}

/** Corners, sides, the inside, and the neighbourhood of where the ends are said to be. */
static inline void attack_draw_point(attack_model *m, const attack_box *box, const double *about,
                                     double *x)
{
    hfi_stream *s = &m->stream;
    const size_t way = hfi_stream_below(s, 4);
    const double reach = attack_log_between(s, -8.0, -0.5);
    for (size_t j = 0; j < m->inputs; j++) {
        const double side = box->upper[j] - box->lower[j], u = hfi_stream_uniform(s);
        x[j] = box->lower[j] + u * side;
        if (way == 0) x[j] = u < 0.5 ? box->lower[j] : box->upper[j];
        if (way == 1) x[j] = u < 0.2 ? box->lower[j] : u > 0.8 ? box->upper[j] : x[j];
        if (way == 2 && about) x[j] = about[j] + reach * (2.0 * u - 1.0) * side;
        x[j] = fmin(fmax(x[j], box->lower[j]), box->upper[j]);
    }
}

/* ---- reporting ------------------------------------------------------------------------------- */

static inline void attack_say(const attack_model *m, const attack_box *box, const attack_answer *a,
                              const char *what)
{
    fprintf(stderr,
            "VIOLATION seed %llu: %s of %s\n  kernel %s, %s%s%s, %zu readings\n  [%.17g, %.17g], "
            "attained %.17g "
            "and "
            "%.17g, %zu boxes, stopped by %s%s; rounding %.3g\n  tolerance %.3g, boxes %zu, time "
            "%.3g, bounds "
            "%zu, beta %.17g, decide at %.17g, output %zu%s%s\n",
            (unsigned long long)m->seed, what, attack_names[a->kind], m->text, m->solver,
            m->robust ? ", robust" : "", m->sharp ? ", sharp" : "", m->n, a->range.lower,
            a->range.upper, a->range.lower_attained, a->range.upper_attained, a->range.nodes,
            hf_enum_name(HF_ENUM_CERTIFY_STOP, a->range.stop),
            a->settings.rigorous ? ", rigorous" : "", a->range.rounding, a->settings.tolerance,
            a->settings.node_limit, a->settings.time_limit, a->settings.bounds, a->settings.beta,
            a->settings.decide_at, a->settings.output, a->settings.lower_only ? ", lower only" : "",
            a->settings.upper_only ? ", upper only" : "");
    for (size_t j = 0; j < m->inputs; j++)
        fprintf(stderr, "  input %zu: %.17g to %.17g\n", j + 1, box->lower[j], box->upper[j]);
}

static inline void attack_expect(bool right, attack_tally *tally, const attack_model *m,
                                 const attack_box *box, const attack_answer *a, const char *what)
{
    if (right) return;
    tally->of[a->kind].violations++;
    attack_say(m, box, a, what);
}

/* ---- values ---------------------------------------------------------------------------------- */

static inline double attack_join(const attack_answer *a, double mean, double var)
{
    const double sd = sqrt(var);
    if (a->what == HF_CERTIFY_MEAN) return mean;
    return a->what == HF_CERTIFY_SD ? sd : mean + a->settings.beta * sd;
}

/* Rounding that a prediction may have: of means as much as the certificate allows itself, of
 * variances 1e-13 of the prior's. */
static inline double attack_slack(const attack_model *m, const attack_answer *a, double mean,
                                  double var)
{
    const double of_mean = a->range.rounding + 1e-13 * (m->scale + fabs(mean));
    const double of_sd = sqrt(var + 1e-13 * m->scale * m->scale) -
                         sqrt(fmax(0.0, var - 1e-13 * m->scale * m->scale));
    if (a->what == HF_CERTIFY_MEAN) return of_mean;
    return a->what == HF_CERTIFY_SD ? of_sd + a->range.rounding
                                    : of_mean + fabs(a->settings.beta) * of_sd;
}

/* Whether the exact value, which no rounding excuses, is outside too; of means, and of what is
 * rigorous, there is one without question. */
static inline bool attack_exact_is_outside(const attack_model *m, const attack_answer *a,
                                           const double *x)
{
    double low, high;
    hfi_rigorous *rigorous = NULL;
    if (hfi_rigorous_create(m->ctx, NULL, m->posterior, a->what != HF_CERTIFY_MEAN, &rigorous) < 0)
        return false;
    const hf_status status = prove_at(m->ctx, m->posterior, rigorous, hfi_quantity_of(a->what),
                                      &a->settings, x, &low, &high);
    hfi_rigorous_free(rigorous);
    return status >= 0 && (high < a->range.lower || low > a->range.upper);
}

/* How far the prediction of this point alone is from that among others, which is rounding, too:
 * much of it where a posterior's R is large. */
static inline double attack_unsteady(const attack_model *m, const attack_answer *a, double value,
                                     const double *x)
{
    double row[ATTACK_INPUTS], mean, var;
    memcpy(row, x, m->inputs * sizeof *row);
    if (m->inputs < m->d) row[m->d - 1] = (double)a->settings.output;
    if (hf_predict_latent(m->posterior, m->workspace, row, &mean, &var, NULL, NULL) < 0) return 0.0;
    return fabs(attack_join(a, mean, var) - value);
}

static inline void attack_look(attack_tally *tally, const attack_model *m, const attack_box *box,
                               const attack_answer *a, double mean, double var, const double *x)
{
    attack_count *c = &tally->of[a->settings.rigorous ? ATTACK_RIGOROUS : a->kind];
    const double value = attack_join(a, mean, var);
    const double inward = fmin(value - a->range.lower, a->range.upper - value);
    c->points++;
    c->margin = fmin(c->margin, inward / m->scale);
    if (inward >= 0.0) return;
    const double slack = attack_slack(m, a, mean, var) + 4.0 * attack_unsteady(m, a, value, x);
    c->share = fmax(c->share, -inward / slack);
    const bool exact = a->what == HF_CERTIFY_MEAN || a->settings.rigorous;
    if (exact ? attack_exact_is_outside(m, a, x) : !(-inward <= slack)) {
        c->violations++;
        fprintf(stderr, "value %.17g at", value);
        for (size_t j = 0; j < m->inputs; j++) fprintf(stderr, " %.17g", x[j]);
        fprintf(stderr, "\n");
        attack_say(m, box, a, "a value outside");
    }
}

/* Where signed gradient steps that shorten lead: downhill for sign 1. */
static inline void attack_descend(attack_tally *tally, const attack_model *m, const attack_box *box,
                                  const attack_answer *a, double sign, const double *from)
{
    double x[ATTACK_INPUTS], of_mean[ATTACK_INPUTS], of_var[ATTACK_INPUTS], mean, var, step = 0.5;
    memcpy(x, from, m->inputs * sizeof *x);
    if (m->inputs < m->d) x[m->d - 1] = (double)a->settings.output;
    for (int k = 0; k < 10; k++, step *= 0.6) {
        if (hf_predict_latent(m->posterior, m->workspace, x, &mean, &var, of_mean, of_var) < 0)
            return;
        attack_look(tally, m, box, a, mean, var, x);
        const double by_var = var > 0.0 ? 0.5 / sqrt(var) : 0.0;
        for (size_t j = 0; j < m->inputs; j++) {
            const double weight = a->what == HF_CERTIFY_SD     ? 1.0
                                  : a->what == HF_CERTIFY_MEAN ? 0.0
                                                               : a->settings.beta;
            const double slope =
                (a->what == HF_CERTIFY_SD ? 0.0 : of_mean[j]) + weight * by_var * of_var[j];
            const double side = box->upper[j] - box->lower[j];
            x[j] -= sign * step * side * (slope > 0.0 ? 1.0 : slope < 0.0 ? -1.0 : 0.0);
            x[j] = fmin(fmax(x[j], box->lower[j]), box->upper[j]);
        }
    }
}

/* ---- what a range says of itself ------------------------------------------------------------- */

static inline bool attack_is_inside(const attack_model *m, const attack_box *box, const double *x)
{
    for (size_t j = 0; j < m->inputs; j++)
        if (!(x[j] >= box->lower[j] && x[j] <= box->upper[j])) return false;
    return true;
}

/* The end that was asked for: its bound, what is attained and where; `value` is the prediction
 * there. */
static inline void attack_check_end(attack_tally *tally, const attack_model *m,
                                    const attack_box *box, const attack_answer *a, double sign,
                                    double value, double slack)
{
    const hf_range *r = &a->range;
    const double bound = sign * (sign > 0.0 ? r->lower : r->upper),
                 attained = sign * (sign > 0.0 ? r->lower_attained : r->upper_attained);
    attack_expect(bound <= attained, tally, m, box, a, "a bound beyond what is attained");
    attack_expect(attack_is_inside(m, box, sign > 0.0 ? a->argmin : a->argmax), tally, m, box, a,
                  "an end outside of the box");
    attack_expect(fabs(sign * value - attained) <= slack, tally, m, box, a,
                  "an attained value that is not");
    if (r->stop == HF_CERTIFY_TOLERANCE)
        attack_expect(attained - bound <= a->settings.tolerance * (1.0 + 1e-9) + 2.0 * r->rounding,
                      tally, m, box, a, "a range wider than the tolerance");
}

static inline void attack_check_range(attack_tally *tally, const attack_model *m,
                                      const attack_box *box, const attack_answer *a,
                                      hf_status status, const double *at_ends, double slack)
{
    const hf_range *r = &a->range;
    const double decide = a->settings.decide_at;
    if ((size_t)r->stop < 5) tally->stops[r->stop]++;
    attack_expect((status == HF_WARN_NOT_CONVERGED) == (r->stop > HF_CERTIFY_DECIDED), tally, m,
                  box, a, "a status unlike the reason to stop");
    if (a->settings.upper_only)
        attack_expect(r->lower == -(double)INFINITY && isnan(r->lower_attained) &&
                          isnan(a->argmin[0]),
                      tally, m, box, a, "an end that was not asked for");
    else
        attack_check_end(tally, m, box, a, 1.0, at_ends[0], slack);
    if (a->settings.lower_only)
        attack_expect(r->upper == (double)INFINITY && isnan(r->upper_attained) &&
                          isnan(a->argmax[0]),
                      tally, m, box, a, "an end that was not asked for");
    else
        attack_check_end(tally, m, box, a, -1.0, at_ends[1], slack);
    if (r->stop == HF_CERTIFY_DECIDED && !a->settings.lower_only && !a->settings.upper_only)
        attack_expect(r->lower >= decide || r->upper <= decide ||
                          (r->lower_attained <= decide && r->upper_attained >= decide),
                      tally, m, box, a, "a decision that is none");
    attack_expect(r->rigorous == a->settings.rigorous, tally, m, box, a,
                  "rigour unlike what was asked");
}

/* The same whatever the number of threads. */
static inline void attack_check_threads(attack_tally *tally, attack_model *m, const attack_box *box,
                                        const attack_answer *a)
{
    attack_answer b = *a;
    if (hf_context_set_threads(m->ctx, 2) < 0) return;
    const hf_status status = hf_certify(m->ctx, m->posterior, a->what, &a->settings, box->lower,
                                        box->upper, &b.range, b.argmin, b.argmax);
    (void)hf_context_set_threads(m->ctx, 1);
    b.range.seconds = a->range.seconds;
    attack_expect(status >= 0 && memcmp(&b.range, &a->range, sizeof b.range) == 0, tally, m, box, a,
                  "another range with other threads");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static inline bool attack_ask(attack_tally *tally, attack_model *m, const attack_box *box,
                              attack_answer *a)
{
    double at_ends[2] = {(double)NAN, (double)NAN}, var = 0.0, mean = 0.0;
    for (size_t j = 0; j < ATTACK_INPUTS; j++) a->argmin[j] = a->argmax[j] = (double)NAN;
    memset(&a->range, 0, sizeof a->range);
    const hf_status status = hf_certify(m->ctx, m->posterior, a->what, &a->settings, box->lower,
                                        box->upper, &a->range, a->argmin, a->argmax);
    if (!attack_ok(m, status, "certify")) return false;
    tally->of[a->settings.rigorous ? ATTACK_RIGOROUS : a->kind].asked++;
    double slack = 0.0;
    for (int end = 0; end < 2; end++) {
        double row[ATTACK_INPUTS];
        memcpy(row, end ? a->argmax : a->argmin, sizeof row);
        if (isnan(row[0])) continue;
        if (m->inputs < m->d) row[m->d - 1] = (double)a->settings.output;
        if (hf_predict_latent(m->posterior, m->workspace, row, &mean, &var, NULL, NULL) < 0)
            return false;
        at_ends[end] = attack_join(a, mean, var);
        if (a->settings.rigorous)
            slack = fmax(slack, attack_slack(m, a, mean, var) + 1e-11 * (m->scale + fabs(mean)));
    }
    attack_check_range(tally, m, box, a, status, at_ends, slack);
    if (a->settings.time_limit == 0.0 && hfi_stream_below(&m->stream, 40) == 0)
        attack_check_threads(tally, m, box, a);
    return true;
}

/* ---- one box's own bounds -------------------------------------------------------------------- */

/* Slopes that are said to have one sign all over the box. */
static inline void attack_faces(attack_tally *tally, attack_model *m, const attack_box *box,
                                const attack_answer *a, const hfi_certify_problem *q, double sign,
                                const signed char *face)
{
    double x[ATTACK_INPUTS], mean, slope[ATTACK_INPUTS];
    for (int k = 0; k < 12; k++) {
        attack_draw_point(m, box, NULL, x);
        if (m->inputs < m->d) x[m->d - 1] = (double)a->settings.output;
        if (hf_predict_latent(m->posterior, m->workspace, x, &mean, NULL, slope, NULL) < 0) return;
        for (size_t f = 0; f < q->subject.free_count; f++) {
            const size_t j = q->free[f];
            const double scaled = sign * slope[j] * m->posterior->scaling.x_scale[j];
            attack_expect(face[f] == 0 || -face[f] * scaled >= -1e-10 * (m->scale + fabs(mean)),
                          tally, m, box, a, "a slope of another sign");
        }
    }
}

/* The search never tells a bound above what it attained, which would hide one that is wrong there.
 * So the bounds of the whole box are asked for themselves. */
static inline bool attack_bare(attack_tally *tally, attack_model *m, const attack_box *box,
                               attack_answer *a)
{
    hfi_certify_problem *q = NULL;
    double low[ATTACK_INPUTS], high[ATTACK_INPUTS], point[ATTACK_INPUTS];
    signed char face[ATTACK_INPUTS];
    a->kind = ATTACK_BARE;
    a->settings.rigorous = a->settings.lower_only = a->settings.upper_only = false;
    const hfi_quantity *quantity = hfi_quantity_of(a->what);
    if (hfi_problem_check(m->ctx, m->posterior, quantity, &a->settings, box->lower, box->upper) <
            0 ||
        hfi_problem_create(m->ctx, m->posterior, quantity, &a->settings, NULL, box->lower,
                           box->upper, &q) < 0)
        return false;
    const bool moves = q->subject.free_count > 0;
    hfi_branch_problem whole;
    if (moves && q->functions->begin(q, 1, &whole) < 0) {
        hfi_problem_free(q);
        return false;
    }
    for (size_t f = 0; f < q->subject.free_count; f++) {
        low[f] = q->subject.lower[q->free[f]];
        high[f] = q->subject.upper[q->free[f]];
    }
    for (int end = 0; end < 2 && moves; end++) {
        const double sign = end ? -1.0 : 1.0;
        hfi_box_bound b = {.point = point, .face = face};
        whole.functions->bounds(whole.of, 0, sign,
                                hfi_stream_below(&m->stream, 2) ? (double)INFINITY : 0.0, 1, low,
                                high, &b);
        *(end ? &a->range.upper : &a->range.lower) = sign * b.bound;
        a->range.rounding = b.rounding;
        if (a->what == HF_CERTIFY_MEAN) attack_faces(tally, m, box, a, q, sign, face);
    }
    tally->of[ATTACK_BARE].asked += moves;
    if (moves) q->functions->end(q);
    hfi_problem_free(q);
    return moves;
}

/* Points whose mean and variance are known: all of them, then where gradients lead from the
 * best. */
static inline void attack_by_points(attack_tally *tally, attack_model *m, const attack_box *box,
                                    const attack_answer *a, size_t points, const double *x,
                                    const double *means)
{
    size_t least = 0, most = 0;
    for (size_t i = 0; i < points; i++) {
        attack_look(tally, m, box, a, means[i], means[points + i], x + i * m->d);
        const double value = attack_join(a, means[i], means[points + i]);
        if (value < attack_join(a, means[least], means[points + least])) least = i;
        if (value > attack_join(a, means[most], means[points + most])) most = i;
    }
    for (size_t start = 0; start < 2; start++) {
        attack_descend(tally, m, box, a, 1.0, x + (start ? least : 0) * m->d);
        attack_descend(tally, m, box, a, -1.0, x + (start ? most : 1) * m->d);
    }
}

/* Three values of a box, each by settings of its own. */
static inline bool attack_ask_all(attack_tally *tally, attack_model *m, const attack_box *box,
                                  size_t output, attack_answer *a)
{
    double mean, var, row[ATTACK_INPUTS];
    const bool exact = strcmp(m->solver, "exact") == 0;
    memcpy(row, box->lower, sizeof row);
    if (m->inputs < m->d) row[m->d - 1] = (double)output;
    bool ok = hf_predict_latent(m->posterior, m->workspace, row, &mean, &var, NULL, NULL) >= 0;
    for (size_t k = 0; k < 3 && ok; k++) {
        memset(&a[k], 0, sizeof a[k]);
        a[k].kind = (attack_kind)k;
        a[k].what = (hf_certify_what)k;
        a[k].settings = attack_draw_settings(m, k == 1 ? sqrt(var) : mean, m->scale);
        a[k].settings.output = output;
        if ((k == 0 || exact) && m->n * m->d < 60 && hfi_stream_below(&m->stream, 12) == 0 &&
            hfi_interval_usable()) {
            a[k].settings.rigorous = true;
            if (a[k].settings.node_limit > 20) a[k].settings.node_limit = 20;
        }
        ok = attack_ask(tally, m, box, &a[k]);
    }
    return ok;
}

/** One box, the same points for all answers. */
static inline void attack_box_of(attack_tally *tally, attack_model *m, size_t points)
{
    const attack_box box = attack_draw_box(m);
    const size_t output = hfi_stream_below(&m->stream, m->outputs);
    attack_answer a[3];
    double *x = attack_memory(points * m->d, sizeof *x),
           *means = attack_memory(2 * points, sizeof *means);
    bool ok = attack_ask_all(tally, m, &box, output, a);
    for (size_t i = 0; i < points && ok; i++) {
        const attack_answer *of = &a[i % 3];
        const double *about = i % 2 ? of->argmin : of->argmax;
        attack_draw_point(m, &box, isnan(about[0]) ? NULL : about, x + i * m->d);
        if (m->inputs < m->d) x[i * m->d + m->inputs] = (double)output;
    }
    ok =
        ok &&
        attack_ok(m, hf_predict(m->ctx, m->posterior, points, x, m->d, means, means + points, NULL),
                  "predict");
    for (size_t k = 0; k < 3 && ok; k++) {
        attack_by_points(tally, m, &box, &a[k], points, x, means);
        if (attack_bare(tally, m, &box, &a[k]))
            attack_by_points(tally, m, &box, &a[k], points, x, means);
    }
    free(x);
    free(means);
}

#endif
