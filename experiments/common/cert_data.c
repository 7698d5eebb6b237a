/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cert_data.h"
#include "common/class_data.h"
#include "common/draws.h"
#include "common/room.h"
#include "common/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cert_kind kinds[CERT_SETS] = {
    {"synthetic2d", 2, 2, 0, 81, 1.4, -INFINITY, INFINITY, {0, 1}, 0.98, {"1", "2"}},
    {"spam", 2, 10, 0, 41, 0.14, -INFINITY, INFINITY, {1, 7}, 0.93, {"mail", "spam"}},
    {"mnist38", 2, 10, 14, 24, 1.0, 0.0, 1.0, {0, 0}, 0.98, {"3", "8"}},
    {"mnist358", 3, 10, 14, 24, 1.0, 0.0, 1.0, {0, 0}, 0.93, {"3", "5", "8"}},
    {"digits38", 2, 10, 8, 24, 1.0, 0.0, 1.0, {0, 0}, NAN, {"3", "8"}},
    {"digits358", 3, 10, 8, 24, 1.0, 0.0, 1.0, {0, 0}, NAN, {"3", "5", "8"}}};

const cert_kind *cert_find(const char *name)
{
    for (size_t k = 0; k < CERT_SETS; ++k)
        if (strcmp(kinds[k].name, name) == 0) return &kinds[k];
    return NULL;
}

bool cert_known(const char *name)
{
    return cert_find(name) != NULL;
}

void cert_printed(const char *name, char out[8])
{
    const double accuracy = cert_find(name)->accuracy;
    snprintf(out, 8, isnan(accuracy) ? "-" : "%.2f", accuracy);
}

static bool image_known(const char *name)
{
    const cert_kind *kind = cert_find(name);
    return kind && kind->side > 0;
}

void cert_options_rows(cert_options *options, const char *sets, bool images, option_row *rows)
{
    *options = (cert_options){.data = sets_folder(), .train = 1000, .limit = 30};
    const option_row common[CERT_OPTIONS] = {
        option_text(
            "data", "DIR",
            "folder that holds spambase/ and mnist_t10k_14x14/ (digits come with Holdfast) " SETS_DEFAULT,
            &options->data),
        option_list("sets", "A,B",
                    images ? "of mnist38, mnist358, digits38, digits358"
                           : "of synthetic2d, spam, mnist38, mnist358, digits38, digits358",
                    &options->sets, sets, images ? image_known : cert_known),
        option_number("limit", "S", "seconds for a box (default 30; 0: none)", &options->limit, 0, 100000),
        option_number("seed", "S", "of data and split (default 0)", &options->seed, 0, 100000),
        option_number("train", "N", "training points (default 1000)", &options->train, 10, 2000)};
    memcpy(rows, common, sizeof common);
}

/* The picture of `side` x `side` pixels moved by rows and columns; what comes in is dark. */
static void move_picture(const double *from, long side, const int *by, double *to)
{
    for (long i = 0; i < side; ++i)
        for (long j = 0; j < side; ++j) {
            const long row = i - by[0], column = j - by[1];
            const bool inside = row >= 0 && row < side && column >= 0 && column < side;
            to[i * side + j] = inside ? from[row * side + column] : 0.0;
        }
}

/* Up to n training pictures, of which the first `own` are there. */
static void add_moved(size_t n, size_t own, cert_set *out)
{
    static const int moves[][2] = {{0, 0},   {0, -1}, {0, 1},  {-1, 0}, {1, 0},
                                   {-1, -1}, {1, 1},  {-1, 1}, {1, -1}};
    const size_t d = out->d, rounds = sizeof moves / sizeof *moves;
    if (n > own * rounds) n = own * rounds;
    if (n <= own) return;
    double *x = out->x = room_more(out->x, n * d, sizeof *x);
    size_t *label = out->label = room_more(out->label, n, sizeof *label);
    for (size_t i = own; i < n; ++i) {
        move_picture(x + i % own * d, (long)out->kind->side, moves[i / own], x + i * d);
        label[i] = label[i % own];
    }
    out->n = n;
}

/* The first n rows of a shuffle are for training, the next m for tests. */
static void split(const class_data *all, size_t n, size_t m, uint64_t seed, cert_set *out)
{
    draws stream = {seed + 5000};
    const size_t rows = all->train, d = all->d;
    size_t *order = room(rows, sizeof *order);
    if (n > rows / 2 + rows / 3) n = rows / 2 + rows / 3;
    if (m > rows - n) m = rows - n;
    *out = (cert_set){out->kind,
                      n,
                      m,
                      d,
                      room(n * d, sizeof *out->x),
                      room(m * d, sizeof *out->at),
                      room(n, sizeof *out->label),
                      room(m, sizeof *out->truth)};
    for (size_t i = 0; i < rows; ++i) order[i] = i;
    for (size_t i = rows; i > 1; --i) {
        const size_t other = (size_t)(draw_uniform(&stream) * (double)i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < n + m; ++i) {
        double *x = i < n ? out->x + i * d : out->at + (i - n) * d;
        memcpy(x, all->x + order[i] * d, d * sizeof *x);
        *(i < n ? &out->label[i] : &out->truth[i - n]) = all->label[order[i]];
    }
    free(order);
}

bool cert_load(hf_context *ctx, const cert_options *options, const char *name, size_t n, size_t m,
               cert_set *out)
{
    class_data all;
    *out = (cert_set){.kind = cert_find(name)};
    if (!class_data_present(options->data, name)) return false;
    /* Five of six rows are for training: 1200 rows are drawn for up to 1000. */
    if (!class_data_read(ctx, options->data, name, (uint64_t)options->seed + 11, n + n / 5, &all))
        return false;
    split(&all, n, m, (uint64_t)options->seed, out);
    if (options->moved && out->kind->side > 0) add_moved(n, out->n, out);
    class_data_free(&all);
    return true;
}

void cert_free(cert_set *set)
{
    free(set->x);
    free(set->at);
    free(set->label);
    free(set->truth);
    *set = (cert_set){0};
}

bool cert_each(hf_context *ctx, const cert_options *options, size_t n, size_t m,
               bool (*study)(void *state, const cert_set *set), void *state)
{
    bool ok = true;
    for (size_t k = 0; ok && k < options->sets.count; ++k) {
        cert_set set;
        if (!cert_load(ctx, options, options->sets.items[k], n, m, &set)) continue;
        ok = study(state, &set);
        cert_free(&set);
    }
    return ok;
}

static double accuracy_of(hf_context *ctx, const cert_set *set, const hf_classifier *classifier)
{
    size_t *winner = room(set->m, sizeof *winner), right = 0;
    if (hf_classify_predict(ctx, classifier, set->m, set->at, set->d, NULL, winner, NULL, NULL, NULL) >= 0)
        for (size_t i = 0; i < set->m; ++i) right += winner[i] == set->truth[i];
    free(winner);
    return (double)right / (double)set->m;
}

hf_classifier *cert_fit(hf_context *ctx, const cert_set *set, size_t n, const cert_model *model,
                        cert_fit_report *report)
{
    hf_classifier *classifier = NULL;
    hf_class_report fit;
    const hf_class_data data = {.n = n < set->n ? n : set->n,
                                .d = set->d,
                                .x = set->x,
                                .ldx = set->d,
                                .label = set->label,
                                .classes = set->kind->classes};
    hf_class_settings settings = hf_class_settings_default();
    settings.link = set->kind->classes > 2 ? HF_LINK_SOFTMAX : HF_LINK_PROBIT;
    settings.inference = model->inference;
    settings.kernel = "se(ard)";
    settings.mean = HF_MEAN_ZERO;
    settings.priors = false;
    settings.standardise = false;
    settings.solver = model->inducing > 0 ? HF_SOLVER_INDUCING : HF_SOLVER_EXACT;
    settings.inducing = model->inducing;
    settings.inducing_method = model->method;
    settings.inducing_choice = HF_INDUCING_FIRST;
    settings.iterations = model->evaluations > 5 ? (size_t)((double)(model->evaluations - 5) / 1.5 + 0.5) : 1;
    if (hf_classifier_fit(ctx, &data, &settings, &classifier, &fit) < 0) {
        fprintf(stderr, "%s: %s\n", set->kind->name, hf_context_message(ctx));
        return NULL;
    }
    *report = (cert_fit_report){accuracy_of(ctx, set, classifier), fit.seconds, fit.evaluations};
    return classifier;
}

/* d mean / d x at a point, of the latent function of the class that wins there; false: zeros. */
static bool slope_of(hf_context *ctx, const cert_set *set, const hf_classifier *classifier, const double *x,
                     double *slope)
{
    const hf_posterior *posterior = hf_classifier_posterior(classifier);
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, posterior);
    double *at = malloc((set->d + 1) * sizeof *at), mean;
    size_t winner = 0;
    bool ok = workspace && at &&
              hf_classify_predict(ctx, classifier, 1, x, set->d, NULL, &winner, NULL, NULL, NULL) >= 0;
    if (ok) {
        memcpy(at, x, set->d * sizeof *at);
        at[set->d] = (double)winner;
        ok = hf_predict_latent(posterior, workspace, at, &mean, NULL, slope, NULL) >= 0;
    }
    free(at);
    hf_posterior_workspace_free(workspace);
    return ok;
}

void cert_salient(const cert_set *set, hf_context *ctx, const hf_classifier *classifier, const double *x,
                  double *moves)
{
    const size_t d = set->d;
    double *slope = room(d, sizeof *slope);
    for (size_t j = 0; j < d; ++j) moves[j] = j < set->kind->free && set->kind->side == 0;
    if (set->kind->side > 0 && slope_of(ctx, set, classifier, x, slope))
        for (size_t k = 0; k < set->kind->free; ++k) {
            size_t best = 0;
            double most = -1.0;
            for (size_t j = 0; j < d; ++j)
                if (moves[j] == 0.0 && fabs(slope[j] * x[j]) > most) {
                    most = fabs(slope[j] * x[j]);
                    best = j;
                }
            moves[best] = 1.0;
        }
    free(slope);
}

void cert_box(const cert_set *set, const double *x, const double *moves, double gamma, double *lower,
              double *upper)
{
    for (size_t j = 0; j < set->d; ++j) {
        lower[j] = fmax(x[j] - gamma * moves[j], fmin(x[j], set->kind->low));
        upper[j] = fmin(x[j] + gamma * moves[j], fmax(x[j], set->kind->high));
    }
}
