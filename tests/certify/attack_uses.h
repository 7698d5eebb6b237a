/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file attack_uses.h
 * @brief Attacks on what follows from ranges: class probabilities, decisions, radii, scores, and
 * what bad readings can do.
 */
#ifndef ATTACK_USES_H
#define ATTACK_USES_H

#include "attack_ranges.h"

#include "sites/sites.h"

/* Probabilities in double are off by next to nothing: of two classes by 1e-13, and by what the root
 * of a rounding in the variance makes of it. */
static const double attack_of_probability = 1e-11;

/* ---- probabilities --------------------------------------------------------------------------- */

/** Points and their probabilities of all classes. */
typedef struct attack_sample {
    size_t points, classes;
    double *x, *probability, *error;
} attack_sample;

static inline attack_sample attack_sample_make(const attack_model *m, size_t points)
{
    const size_t classes = hf_classifier_classes(m->classifier);
    attack_sample s = {.points = points, .classes = classes};
    s.x = attack_memory(points * m->inputs, sizeof *s.x);
    s.probability = attack_memory(points * classes, sizeof *s.probability);
    s.error = attack_memory(points, sizeof *s.error);
    return s;
}

static inline void attack_sample_free(attack_sample *s)
{
    free(s->x);
    free(s->probability);
    free(s->error);
}

static inline bool attack_classify(const attack_model *m, attack_sample *s)
{
    return attack_ok(m,
                     hf_classify_predict(m->ctx, m->classifier, s->points, s->x, m->inputs,
                                         s->probability, NULL, NULL, NULL, s->error),
                     "classify");
}

/* Every point again, nearer to the point that is best for it, shrinking: a search without slopes,
 * for probabilities of any link. */
static inline void attack_contract(attack_model *m, const attack_box *box, attack_sample *s,
                                   size_t class, double reach)
{
    double ends[2][ATTACK_INPUTS];
    size_t best[2] = {0, 0};
    for (size_t i = 0; i < s->points; i++) {
        if (s->probability[i * s->classes + class] < s->probability[best[0] * s->classes + class])
            best[0] = i;
        if (s->probability[i * s->classes + class] > s->probability[best[1] * s->classes + class])
            best[1] = i;
    }
    for (size_t e = 0; e < 2; e++)
        memcpy(ends[e], s->x + best[e] * m->inputs, m->inputs * sizeof **ends);
    for (size_t i = 0; i < s->points; i++)
        for (size_t j = 0; j < m->inputs; j++) {
            const double side = box->upper[j] - box->lower[j];
            const double x =
                ends[i % 2][j] + reach * side * (2.0 * hfi_stream_uniform(&m->stream) - 1.0);
            s->x[i * m->inputs + j] = fmin(fmax(x, box->lower[j]), box->upper[j]);
        }
}

static inline void attack_look_at_sample(attack_tally *tally, const attack_model *m,
                                         const attack_box *box, const attack_answer *a,
                                         const attack_sample *s)
{
    attack_count *c = &tally->of[a->kind];
    for (size_t i = 0; i < s->points; i++) {
        const double p = s->probability[i * s->classes + a->settings.output];
        const double slack = attack_of_probability + s->error[i],
                     inward = fmin(p - a->range.lower, a->range.upper - p);
        c->points++;
        c->margin = fmin(c->margin, inward);
        if (inward < 0.0) c->share = fmax(c->share, -inward / slack);
        if (inward >= -slack) continue;
        c->violations++;
        fprintf(stderr, "probability %.17g at", p);
        for (size_t j = 0; j < m->inputs; j++) fprintf(stderr, " %.17g", s->x[i * m->inputs + j]);
        fprintf(stderr, "\n");
        attack_say(m, box, a, "a value outside");
    }
}

static inline double attack_probability(const attack_model *m, size_t class, const double *x,
                                        double *error)
{
    double all[16] = {0.0};
    if (hf_classify_predict(m->ctx, m->classifier, 1, x, m->inputs, all, NULL, NULL, NULL, error) <
        0)
        return (double)NAN;
    return all[class];
}

/** One box of a classifier. False: this classifier's ranges are not to be had. */
static inline bool attack_class_box(attack_tally *tally, attack_model *m, const attack_box *box,
                                    size_t points)
{
    const size_t classes = hf_classifier_classes(m->classifier);
    attack_answer a = {.kind = classes == 2 ? ATTACK_TWO : ATTACK_MANY};
    attack_sample s = attack_sample_make(m, points);
    double ends[2] = {(double)NAN, (double)NAN}, error = 0.0, slack = 2.0 * attack_of_probability;
    const size_t class = hfi_stream_below(&m->stream, classes);
    a.settings = attack_draw_settings(m, attack_probability(m, class, box->lower, NULL), 0.3);
    a.settings.output = class;
    a.settings.rigorous =
        classes == 2 && m->n < 14 && hfi_stream_below(&m->stream, 8) == 0 && hfi_interval_usable();
    if (a.settings.rigorous && a.settings.node_limit > 20) a.settings.node_limit = 20;
    for (size_t j = 0; j < ATTACK_INPUTS; j++) a.argmin[j] = a.argmax[j] = (double)NAN;
    const hf_status status = hf_certify_class(m->ctx, m->classifier, &a.settings, 1, box->lower,
                                              box->upper, &a.range, a.argmin, a.argmax);
    bool ok = attack_ok(m, status, "certify");
    if (ok) {
        tally->of[a.kind].asked++;
        for (int e = 0; e < 2; e++) {
            const double *at = e ? a.argmax : a.argmin;
            if (isnan(at[0])) continue;
            ends[e] = attack_probability(m, class, at, &error);
            slack = fmax(slack, 2.0 * (attack_of_probability + error));
        }
        attack_check_range(tally, m, box, &a, status, ends, slack);
    }
    for (size_t i = 0; i < points && ok; i++) {
        const double *about = i % 2 ? a.argmin : a.argmax;
        attack_draw_point(m, box, isnan(about[0]) ? NULL : about, s.x + i * m->inputs);
    }
    for (int round = 0; round < 3 && ok; round++) {
        ok = attack_classify(m, &s);
        if (ok) attack_look_at_sample(tally, m, box, &a, &s);
        if (ok && round == 0) s.points = points / 4;
        if (ok) attack_contract(m, box, &s, class, round == 0 ? 0.1 : 0.01);
    }
    attack_sample_free(&s);
    return ok;
}

/* ---- decisions, radii, scores ---------------------------------------------------------------- */

static inline size_t attack_winner(const attack_model *m, const double *x)
{
    size_t winner = 0;
    if (hf_classify_predict(m->ctx, m->classifier, 1, x, m->inputs, NULL, &winner, NULL, NULL,
                            NULL) < 0)
        return SIZE_MAX;
    return winner;
}

/* All points of a certified box are of its class, unless their two best classes are as good as
 * equal. */
static inline void attack_certified(attack_tally *tally, attack_model *m, const attack_box *box,
                                    const attack_answer *a, size_t winner, size_t points)
{
    attack_sample s = attack_sample_make(m, points);
    for (size_t i = 0; i < points; i++) attack_draw_point(m, box, NULL, s.x + i * m->inputs);
    for (int round = 0; round < 2 && attack_classify(m, &s); round++) {
        for (size_t i = 0; i < points; i++) {
            double other = 0.0;
            const double *p = s.probability + i * s.classes;
            for (size_t c = 0; c < s.classes; c++)
                if (c != winner) other = fmax(other, p[c]);
            tally->of[a->kind].points++;
            tally->of[a->kind].margin = fmin(tally->of[a->kind].margin, p[winner] - other);
            attack_expect(s.classes > 2 || p[winner] - other >= -1e-9, tally, m, box, a,
                          "a point of another class");
        }
        attack_contract(m, box, &s, winner, 0.1);
    }
    attack_sample_free(&s);
}

static inline void attack_decision(attack_tally *tally, attack_model *m, const attack_box *box,
                                   size_t points)
{
    attack_answer a = {.kind = ATTACK_DECISION, .settings = attack_draw_settings(m, 0.5, 0.3)};
    double x[ATTACK_INPUTS], other[ATTACK_INPUTS];
    hf_decision d;
    attack_draw_point(m, box, NULL, x);
    if (!attack_ok(m,
                   hf_certify_decision(m->ctx, m->classifier, NULL, &a.settings, 1, x, box->lower,
                                       box->upper, &d, other),
                   "decide"))
        return;
    tally->of[ATTACK_DECISION].asked++;
    attack_expect(d.winner == attack_winner(m, x), tally, m, box, &a, "a winner who is not");
    if (d.verdict == HF_VERDICT_COUNTEREXAMPLE)
        attack_expect(attack_is_inside(m, box, other) && attack_winner(m, other) != d.winner, tally,
                      m, box, &a, "a counterexample that is none");
    else
        attack_expect(isnan(other[0]), tally, m, box, &a, "a counterexample that was not found");
    if (d.verdict == HF_VERDICT_CERTIFIED) attack_certified(tally, m, box, &a, d.winner, points);
}

static inline void attack_radius(attack_tally *tally, attack_model *m, const attack_box *box,
                                 size_t points)
{
    attack_answer a = {.kind = ATTACK_RADIUS, .settings = attack_draw_settings(m, 0.5, 0.3)};
    double x[ATTACK_INPUTS], unit[ATTACK_INPUTS], other[ATTACK_INPUTS];
    attack_box ball;
    hf_radius r;
    double far = 0.0;
    memset(&ball, 0, sizeof ball);
    attack_draw_point(m, box, NULL, x);
    for (size_t j = 0; j < m->inputs; j++)
        unit[j] = m->posterior->scaling.x_scale[j] * (hfi_stream_below(&m->stream, 4) ? 1.0 : 0.0);
    unit[0] = m->posterior->scaling.x_scale[0];
    if (!attack_ok(
            m, hf_certify_radius(m->ctx, m->classifier, &a.settings, x, unit, 2.0, 0.1, &r, other),
            "radius"))
        return;
    tally->of[ATTACK_RADIUS].asked++;
    attack_expect(r.certified < r.broken && r.winner == attack_winner(m, x), tally, m, box, &a,
                  "a radius out of order");
    for (size_t j = 0; j < m->inputs; j++) {
        ball.lower[j] = x[j] - r.certified * unit[j];
        ball.upper[j] = x[j] + r.certified * unit[j];
        if (unit[j] > 0.0 && isfinite(r.broken)) far = fmax(far, fabs(other[j] - x[j]) / unit[j]);
    }
    if (isfinite(r.broken))
        attack_expect(far <= r.broken * (1.0 + 1e-9) && attack_winner(m, other) != r.winner, tally,
                      m, box, &a, "a counterexample that is none");
    attack_certified(tally, m, &ball, &a, r.winner, points);
}

/* Least (sign 1) or most of a value along input j over [from, to]: grids, each over the neighbours
 * of the best point of the one before. */
static inline double attack_along(const attack_model *m, size_t output, const double *x, size_t j,
                                  double from, double to, double sign)
{
    enum {
        GRID = 128,
        ROUNDS = 6
    };
    static const double END = 1e300;
    double rows[(GRID + 1) * ATTACK_INPUTS], values[GRID + 1], best = END;
    for (int round = 0; round < ROUNDS; round++) {
        size_t at = 0;
        for (size_t k = 0; k <= GRID; k++) {
            double *row = rows + k * m->d;
            memcpy(row, x, m->inputs * sizeof *row);
            row[j] = from + (double)k / GRID * (to - from);
            if (m->inputs < m->d) row[m->d - 1] = (double)output;
        }
        if (hf_predict(m->ctx, m->posterior, GRID + 1, rows, m->d, values, NULL, NULL) < 0)
            return (double)NAN;
        for (size_t k = 0; k <= GRID; k++)
            if (sign * values[k] < sign * values[at]) at = k;
        best = fmin(best, sign * values[at]);
        from = rows[(at > 0 ? at - 1 : 0) * m->d + j];
        to = rows[(at < GRID ? at + 1 : GRID) * m->d + j];
    }
    return sign * best;
}

/* Scores of inputs. A search by grids may miss the end of a wavy line: a share of the range is
 * allowed for that. */
static inline void attack_score(attack_tally *tally, attack_model *m, const attack_box *box)
{
    attack_answer a = {.kind = ATTACK_SCORE, .settings = attack_draw_settings(m, 0.0, m->scale)};
    double low[ATTACK_INPUTS], high[ATTACK_INPUTS], step[ATTACK_INPUTS];
    a.settings.lower_only = a.settings.upper_only = false;
    a.settings.bounds = HF_BOUND_ALL;
    a.settings.decide_at = (double)NAN;
    for (size_t j = 0; j < m->inputs; j++)
        step[j] = 0.5 * m->posterior->scaling.x_scale[j] * hfi_stream_uniform(&m->stream);
    if (!attack_ok(m,
                   hf_explain(m->ctx, m->posterior, HF_CERTIFY_MEAN, &a.settings, 1, box->lower,
                              step, low, high),
                   "explain"))
        return;
    tally->of[ATTACK_SCORE].asked++;
    for (size_t j = 0; j < m->inputs; j++) {
        const double at = box->lower[j], *x = box->lower;
        const size_t output = a.settings.output;
        const double most = attack_along(m, output, x, j, at, at + step[j], -1.0),
                     least = attack_along(m, output, x, j, at, at + step[j], 1.0);
        const double most_down = attack_along(m, output, x, j, at - step[j], at, -1.0),
                     least_down = attack_along(m, output, x, j, at - step[j], at, 1.0);
        const double score = (most - most_down) + (least - least_down);
        const double missed =
            1e-4 * (most - least + most_down - least_down) + 1e-9 * m->scale + 1e-12 * fabs(most);
        const double inward = fmin(score - low[j], high[j] - score);
        tally->of[ATTACK_SCORE].points++;
        tally->of[ATTACK_SCORE].margin = fmin(tally->of[ATTACK_SCORE].margin, inward / m->scale);
        a.range.lower = low[j];
        a.range.upper = high[j];
        attack_expect(inward >= -missed, tally, m, box, &a, "a score outside");
    }
}

/* ---- readings -------------------------------------------------------------------------------- */

/* The mean at points after `count` readings were replaced; kernel, prior mean, noise, centres and
 * thresholds held. */
static inline bool attack_refit(attack_model *m, const double *y, size_t points, const double *x,
                                double *mean)
{
    hf_posterior *other = NULL;
    const size_t n = hf_sites_count(m->sites);
    double *centre = attack_memory(n, sizeof *centre);
    hf_sites *sites = NULL;
    for (size_t i = 0; i < n; i++) centre[i] = 0.0;
    const double threshold = hfi_sites_threshold(m->sites, 0), noise = hf_sites_noise(m->sites);
    bool ok =
        attack_ok(m,
                  m->robust ? hf_sites_robust(m->ctx, n, y, noise, NULL, centre, threshold, &sites)
                            : hf_sites_gaussian(m->ctx, n, y, noise, NULL, &sites),
                  "sites");
    ok = ok && hf_solve_exact(m->ctx, m->posterior->kernel, m->posterior->mean, sites, m->x, m->d,
                              &other) >= 0;
    if (ok) {
        hfi_scaling_free(&other->scaling);
        ok = hfi_scaling_copy(m->ctx, &m->posterior->scaling, &other->scaling) >= 0 &&
             hf_predict(m->ctx, other, points, x, m->d, mean, NULL, NULL) >= 0;
    }
    hf_posterior_free(other);
    hf_sites_free(sites);
    free(centre);
    return ok;
}

/** Replacements near by and far out, and where one alone does the most. */
static inline void attack_damage(attack_tally *tally, attack_model *m, size_t tries)
{
    enum {
        POINTS = 4
    };
    attack_answer a = {.kind = ATTACK_DAMAGE};
    attack_box box;
    double x[POINTS * ATTACK_INPUTS], before[POINTS], after[POINTS], damage[POINTS];
    const size_t count = 1 + hfi_stream_below(&m->stream, m->n < 4 ? m->n : 4);
    double *y = attack_memory(m->n, sizeof *y);
    memset(&box, 0, sizeof box);
    for (size_t k = 0; k < POINTS * m->d; k++) {
        const size_t j = k % m->d;
        x[k] = 1.5 * hfi_stream_normal(&m->stream) * m->posterior->scaling.x_scale[j] +
               m->posterior->scaling.x_shift[j];
        if (j == m->inputs) x[k] = (double)hfi_stream_below(&m->stream, m->outputs);
    }
    bool ok = hf_predict(m->ctx, m->posterior, POINTS, x, m->d, before, NULL, NULL) >= 0 &&
              attack_ok(m,
                        hf_certify_readings(m->ctx, m->posterior, m->sites, count, POINTS, x, m->d,
                                            damage, NULL),
                        "readings");
    tally->of[ATTACK_DAMAGE].asked += ok;
    for (size_t t = 0; t < tries && ok; t++) {
        memcpy(y, m->y, m->n * sizeof *y);
        for (size_t c = 0; c < count; c++)
            y[hfi_stream_below(&m->stream, m->n)] = (hfi_stream_below(&m->stream, 2) ? 1.0 : -1.0) *
                                                    attack_log_between(&m->stream, -1.5, 2.0);
        ok = attack_refit(m, y, POINTS, x, after);
        for (size_t p = 0; p < POINTS && ok; p++) {
            const double moved = fabs(after[p] - before[p]), inward = damage[p] - moved;
            tally->of[ATTACK_DAMAGE].points++;
            tally->of[ATTACK_DAMAGE].margin =
                fmin(tally->of[ATTACK_DAMAGE].margin, inward / m->scale);
            a.range.lower = -damage[p];
            a.range.upper = damage[p];
            a.range.lower_attained = a.range.upper_attained = moved;
            attack_expect(inward >= -1e-8 * (m->scale + damage[p]), tally, m, &box, &a,
                          "more damage than certified");
        }
    }
    free(y);
}

#endif
