/* SPDX-License-Identifier: Apache-2.0 */
/* One way through the supports: forward by the readings that gain most, then backward by those that do not
 * pay for themselves. */
#include "checkpoint/journal.h"
#include "outliers/pursuit_impl.h"
#include "search/explore.h"
#include <math.h>
#include <string.h>

static hf_status compute_outlook(void *arg, hfi_journal_entry *entry)
{
    (void)entry; /* whose answer is the outlook */
    return hfi_pursuit_look(arg);
}

/* The same for the model p->now, which is in place; from the trainer's journal as long as that lasts. */
static hf_status survey(hfi_pursuit *p)
{
    hfi_trainer *t = p->trainer;
    const size_t numbers = sizeof(hfi_outlook) / sizeof(double);
    hfi_journal_entry entry = {.asked = t->count,
                               .told = numbers * t->evaluator.rows,
                               .key = p->now.state,
                               .answer = (double *)p->outlook};
    return hfi_journal_answer(t->journal, &entry, compute_outlook, p);
}

enum {
    BATCHES = 25,     /* a step forward adds at most n / this readings */
    BLIND_STEPS = 10, /* before the hyperparameters are trained */
    PATIENCE = 3,     /* steps forward without a better model */
    BACKWARD_STEPS = 20,
    LATER_ITERATIONS = 20 /* of searches that start from the result of another */
};

/* A reading that gains less than this, nats, is not worth a try. */
static const double least_gain = 0.5;

/* Cost of one more reading in the support. */
static double cost(const hfi_pursuit *p)
{
    const size_t n = hf_sites_present(p->trainer->evaluator.sites), k = p->now.size;
    return k < n ? hfi_pursuit_log_prior(n, k) - hfi_pursuit_log_prior(n, k + 1) : INFINITY;
}

/* Adds at most `most` readings that gain more than `threshold` at the present outlook, each with the variance
 * that is best for it. */
static size_t add_gaining_readings(hfi_pursuit *p, hfi_ranked *list, size_t most, double threshold)
{
    const hfi_evaluator *e = &p->trainer->evaluator;
    size_t count = 0;
    for (size_t i = 0; i < e->rows; i++) {
        if (p->now.member[i] || !hf_sites_is_present(e->sites, i)) continue;
        const double gain = hfi_pursuit_gain(&p->outlook[i], hfi_pursuit_best(&p->outlook[i]));
        if (gain > threshold) list[count++] = (hfi_ranked){-gain, i}; /* the largest first */
    }
    hfi_sort_ranked(list, count);
    if (count > most) count = most;
    for (size_t c = 0; c < count; c++) {
        const size_t i = list[c].index;
        p->now.member[i] = true;
        p->now.rho[i] = hfi_pursuit_best(&p->outlook[i]);
    }
    p->now.size += count;
    return count;
}

/* Takes the readings out of the support whose gain does not cover what they cost: at most half of it, the
 * least gain first. */
static size_t drop_costly_readings(hfi_pursuit *p, hfi_ranked *list)
{
    const hfi_evaluator *e = &p->trainer->evaluator;
    size_t count = 0;
    if (p->now.size == 0) return 0;
    p->now.size--;
    const double price = cost(p);
    p->now.size++;
    for (size_t i = 0; i < e->rows; i++) {
        if (!p->now.member[i]) continue;
        const double gain = hfi_pursuit_gain(&p->outlook[i], p->now.rho[i]);
        if (gain < price) list[count++] = (hfi_ranked){gain, i};
    }
    hfi_sort_ranked(list, count);
    const size_t most = (p->now.size + 1) / 2;
    if (count > most) count = most;
    for (size_t c = 0; c < count; c++) {
        p->now.member[list[c].index] = false;
        p->now.rho[list[c].index] = 0.0;
    }
    p->now.size -= count;
    return count;
}

/* A constant that is not trained: the average of the readings by their weights, with an empty support the
 * plain average. */
static void set_constant(hfi_pursuit *p)
{
    const hfi_trainer *t = p->trainer;
    const hfi_evaluator *e = &t->evaluator;
    if (hf_mean_get_kind(e->mean) != HF_MEAN_CONSTANT || hf_mean_held(e->mean) || t->train_mean) return;
    const double noise = exp(p->now.state[t->noise]);
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i)) continue;
        const double s = noise + p->known[i], weight = s / (s + p->now.rho[i]);
        sum += weight * e->sites->y[i];
        total += weight;
    }
    p->now.state[hf_kernel_parameters(e->kernel)] = sum / total;
}

static void copy(const hfi_pursuit *p, hfi_pursuit_model *to, const hfi_pursuit_model *from)
{
    const hfi_trainer *t = p->trainer;
    const hfi_pursuit_model kept = *to;
    *to = *from;
    to->member = kept.member;
    to->rho = kept.rho;
    to->state = kept.state;
    memcpy(to->member, from->member, t->evaluator.rows * sizeof *to->member);
    memcpy(to->rho, from->rho, t->evaluator.rows * sizeof *to->rho);
    memcpy(to->state, from->state, t->count * sizeof *to->state);
}

/* Trains the present support. *better: the best of this path so far, which is then kept in `path`. */
static hf_status train(hfi_pursuit *p, hfi_pursuit_model *path, size_t iterations, bool *better)
{
    set_constant(p);
    const hf_status s = hfi_pursuit_maximise(p, iterations);
    if (s < 0) return s;
    p->rounds++;
    *better = hfi_pursuit_score(p, &p->now) > hfi_pursuit_score(p, path);
    if (*better) copy(p, path, &p->now);
    return s;
}

/* Readings added at the hyperparameters as they are. */
static hf_status add_blindly(hfi_pursuit *p, hfi_ranked *list, size_t batch)
{
    hf_status s = HF_OK;
    for (int step = 0; s >= 0 && step < BLIND_STEPS; step++) {
        set_constant(p);
        s = hfi_pursuit_set(p, &p->now);
        if (s >= 0) s = survey(p);
        if (s < 0 || add_gaining_readings(p, list, batch, cost(p)) == 0) break;
    }
    return s;
}

/* Whether the first training ended above *least. */
static hf_status forward(hfi_pursuit *p, hfi_pursuit_model *path, hfi_ranked *list, size_t iterations,
                         double least, bool *worth)
{
    const size_t n = hf_sites_present(p->trainer->evaluator.sites), batch = (n + BATCHES - 1) / BATCHES;
    bool better = true;
    hf_status s = train(p, path, iterations, &better);
    *worth = s >= 0 && hfi_pursuit_score(p, path) > least;
    if (!*worth) return s;
    for (int waited = 0; s >= 0 && waited < PATIENCE && 2 * p->now.size < n;) {
        s = survey(p);
        if (s < 0 || add_gaining_readings(p, list, batch, fmin(cost(p), least_gain)) == 0) break;
        s = train(p, path, LATER_ITERATIONS, &better);
        waited = better ? 0 : waited + 1;
    }
    return s;
}

static hf_status backward(hfi_pursuit *p, hfi_pursuit_model *path, hfi_ranked *list)
{
    bool better = true;
    copy(p, &p->now, path);
    hf_status s = hfi_pursuit_set(p, &p->now);
    for (int step = 0; s >= 0 && better && step < BACKWARD_STEPS; step++) {
        s = survey(p);
        if (s < 0 || drop_costly_readings(p, list) + add_gaining_readings(p, list, SIZE_MAX, cost(p)) == 0)
            break;
        s = train(p, path, LATER_ITERATIONS, &better);
    }
    return s;
}

/* Once more from the best, to the end: the others stopped early. */
static hf_status polish(hfi_pursuit *p, hfi_pursuit_model *path, size_t iterations)
{
    bool better;
    copy(p, &p->now, path);
    return train(p, path, iterations, &better);
}

static void empty_support(hfi_pursuit *p)
{
    const size_t rows = p->trainer->evaluator.rows;
    p->now.size = 0;
    memset(p->now.member, 0, rows * sizeof *p->now.member);
    memset(p->now.rho, 0, rows * sizeof *p->now.rho);
}

/* A path whose first training has to end above `least`. */
static hf_status follow(hfi_pursuit *p, const hf_fit_settings *settings, bool blind, double least)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    const size_t n = hf_sites_present(e->sites), batch = (n + BATCHES - 1) / BATCHES;
    hfi_pursuit_model path;
    hfi_ranked *list;
    hf_status s =
        hfi_worse(hfi_pursuit_model_init(p->trainer, &path), HFI_ALLOC(e->ctx, HFI_ROOM(list, e->rows)));
    empty_support(p);
    if (s >= 0 && blind) s = add_blindly(p, list, batch);
    /* Else the path is that of the trained start. */
    bool news = !blind || p->now.size > 0 || isfinite(least);
    if (s >= 0 && news) s = forward(p, &path, list, settings->iterations, least, &news);
    if (s >= 0 && news) s = backward(p, &path, list);
    if (s >= 0 && news) s = polish(p, &path, settings->iterations);
    if (s >= 0 && hfi_pursuit_score(p, &path) > hfi_pursuit_score(p, &p->best)) copy(p, &p->best, &path);
    hfi_free(e->ctx, list);
    hfi_pursuit_model_free(e->ctx, &path);
    return s;
}

hf_status hfi_pursuit_path(hfi_pursuit *p, const hf_fit_settings *settings, bool blind)
{
    return follow(p, settings, blind, -INFINITY);
}

/* ---- shorter starts ---------------------------------------------------------------------------------------- */

typedef struct blind_value {
    hfi_pursuit *p;
    hfi_ranked *list;
} blind_value;

/* The score once the first readings are chosen. */
static hf_status evaluate_blind_score(void *arg, const double *state, double *total)
{
    const blind_value *v = arg;
    hfi_pursuit *p = v->p;
    hfi_trainer *t = p->trainer;
    const size_t n = hf_sites_present(t->evaluator.sites);
    empty_support(p);
    memcpy(p->now.state, state, t->count * sizeof *state);
    hf_status s = add_blindly(p, v->list, (n + BATCHES - 1) / BATCHES);
    if (s >= 0) s = hfi_pursuit_set(p, &p->now);
    if (s >= 0) s = hfi_explore_value(t, p->now.state, total);
    if (s < 0) *total = -INFINITY;
    *total += hfi_pursuit_log_prior(n, p->now.size);
    return hfi_unless_none(s);
}

hf_status hfi_pursuit_shorter(hfi_pursuit *p, const hf_fit_settings *settings, const double *cold)
{
    hfi_trainer *t = p->trainer;
    hfi_evaluator *e = &t->evaluator;
    if (t->free_count == 0) return HF_OK;
    hfi_ranked *list = hfi_alloc(e->ctx, e->rows, sizeof *list);
    double *at = hfi_alloc(e->ctx, t->count, sizeof *at);
    hf_status s = list && at ? HF_OK : HF_ERR_MEMORY;
    const hfi_start *chosen = NULL;
    blind_value v = {.p = p, .list = list};
    if (s >= 0) s = hfi_start_shorter(t, evaluate_blind_score, &v, cold, at, &chosen);
    if (s >= 0 && chosen) {
        memcpy(p->now.state, at, t->count * sizeof *at);
        s = follow(p, settings, true, hfi_pursuit_score(p, &p->best));
    }
    HFI_FREE(e->ctx, list, at);
    return s;
}
