/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cert_data.h"
#include "common/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cert_kind cert_kinds[CERT_SETS] = {
    {"synthetic2d", 2, 2, 81, 1.4, -INFINITY, INFINITY, 0.98, NULL},
    {"spam", 11, 10, 41, 0.14, -INFINITY, INFINITY, 0.93, "spambase/spambase.csv"},
    {"mnist38", 196, 10, 24, 1.0, 0.0, 1.0, 0.98, "mnist_t10k_14x14/mnist38_14x14_sum4.csv"}};

/* Columns of spambase.csv that the paper's selection leaves, from 1. */
static const size_t spam_columns[11] = {5, 7, 16, 17, 19, 21, 23, 25, 52, 53, 57};

enum {
    SYNTHETIC = 600 /* of each class */
};

const cert_kind *cert_find(const char *name)
{
    for (size_t k = 0; k < CERT_SETS; ++k)
        if (strcmp(cert_kinds[k].name, name) == 0) return &cert_kinds[k];
    return NULL;
}

bool cert_known(const char *name)
{
    return cert_find(name) != NULL;
}

/* All rows of a set before they are split. */
typedef struct rows {
    size_t n, d;
    double *x;
    size_t *label;
} rows;

static rows make_rows(size_t n, size_t d)
{
    rows r = {n, d, malloc(n * d * sizeof *r.x), malloc(n * sizeof *r.label)};
    if (!r.x || !r.label) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return r;
}

static void standardise(rows *r)
{
    for (size_t j = 0; j < r->d; ++j) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < r->n; ++i) mean += r->x[i * r->d + j] / (double)r->n;
        for (size_t i = 0; i < r->n; ++i) square += pow(r->x[i * r->d + j] - mean, 2) / (double)(r->n - 1);
        for (size_t i = 0; i < r->n; ++i) r->x[i * r->d + j] = (r->x[i * r->d + j] - mean) / sqrt(square);
    }
}

static rows draw_synthetic(uint64_t seed)
{
    draws stream = {seed + 11};
    rows r = make_rows((size_t)2 * SYNTHETIC, 2);
    for (size_t i = 0; i < r.n; ++i) {
        r.label[i] = i >= SYNTHETIC;
        for (size_t j = 0; j < 2; ++j) r.x[2 * i + j] = draw_normal(&stream) + (r.label[i] == j ? 5.0 : 0.0);
    }
    standardise(&r);
    return r;
}

static const double *column(hf_context *ctx, const hf_table *table, const char *name, size_t at)
{
    const double *numbers = NULL;
    if (name && hf_table_find(ctx, table, name, &at) < 0) return NULL;
    return hf_table_numbers(ctx, table, at, &numbers) < 0 ? NULL : numbers;
}

static bool read_rows(hf_context *ctx, const cert_kind *kind, const char *path, rows *out)
{
    hf_table *table = NULL;
    const bool spam = kind->d == 11;
    if (hf_table_read_csv(ctx, path, &table) < 0) {
        fprintf(stderr, "%s\n", hf_context_message(ctx));
        return false;
    }
    const size_t width = hf_table_columns(table);
    *out = make_rows(hf_table_rows(table), kind->d);
    const double *label = column(ctx, table, NULL, spam ? width - 1 : 0);
    bool ok = label != NULL;
    for (size_t j = 0; ok && j < kind->d; ++j) {
        const double *values = column(ctx, table, NULL, spam ? spam_columns[j] - 1 : j + 1);
        ok = values != NULL;
        for (size_t i = 0; ok && i < out->n; ++i)
            out->x[i * kind->d + j] = spam ? values[i] : values[i] / 1020.0;
    }
    for (size_t i = 0; ok && i < out->n; ++i) out->label[i] = spam ? label[i] > 0.5 : label[i] > 5.0;
    if (ok && spam) standardise(out);
    if (!ok) fprintf(stderr, "%s: not the columns that are expected\n", path);
    hf_table_free(table);
    return ok;
}

bool cert_load(hf_context *ctx, const cert_kind *kind, const char *data, size_t n, size_t m, uint64_t seed,
               cert_set *out)
{
    char path[1024];
    rows all;
    if (kind->file) {
        snprintf(path, sizeof path, "%s/%s", data, kind->file);
        if (access(path, R_OK) != 0) {
            printf("%s is not there (--data DIR): %s is left out.\n", path, kind->name);
            return false;
        }
        if (!read_rows(ctx, kind, path, &all)) return false;
    } else {
        all = draw_synthetic(seed);
    }
    draws stream = {seed + 5000};
    size_t *order = malloc(all.n * sizeof *order);
    if (n > all.n / 2 + all.n / 3) n = all.n / 2 + all.n / 3;
    if (m > all.n - n) m = all.n - n;
    rows train = make_rows(n, all.d), test = make_rows(m, all.d);
    for (size_t i = 0; order && i < all.n; ++i) order[i] = i;
    for (size_t i = all.n; order && i > 1; --i) {
        const size_t other = (size_t)(draw_uniform(&stream) * (double)i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; order && i < n + m; ++i) {
        rows *to = i < n ? &train : &test;
        const size_t at = i < n ? i : i - n;
        memcpy(to->x + at * all.d, all.x + order[i] * all.d, all.d * sizeof *all.x);
        to->label[at] = all.label[order[i]];
    }
    const bool ok = order != NULL;
    free(order);
    free(all.x);
    free(all.label);
    *out = (cert_set){kind, n, m, kind->d, train.x, test.x, train.label, test.label};
    return ok;
}

void cert_free(cert_set *set)
{
    free(set->x);
    free(set->at);
    free(set->label);
    free(set->truth);
    *set = (cert_set){0};
}

hf_classifier *cert_fit(hf_context *ctx, const cert_set *set, hf_inference inference, long evaluations,
                        double *accuracy, size_t *used)
{
    hf_classifier *classifier = NULL;
    hf_class_report report;
    const hf_class_data data = {
        .n = set->n, .d = set->d, .x = set->x, .ldx = set->d, .label = set->label, .classes = 2};
    hf_class_settings settings = hf_class_settings_default();
    settings.inference = inference;
    settings.kernel = "se(ard)";
    settings.mean = HF_MEAN_ZERO;
    settings.priors = false;
    settings.standardise = false;
    settings.solver = HF_SOLVER_EXACT;
    settings.iterations = evaluations > 5 ? (size_t)((double)(evaluations - 5) / 1.5 + 0.5) : 1;
    if (hf_classify_data(ctx, &data, &settings, &classifier, &report) < 0) {
        fprintf(stderr, "%s: %s\n", set->kind->name, hf_context_message(ctx));
        return NULL;
    }
    size_t *winner = malloc(set->m * sizeof *winner), right = 0;
    if (winner &&
        hf_classify_predict(ctx, classifier, set->m, set->at, set->d, NULL, winner, NULL, NULL, NULL) >= 0)
        for (size_t i = 0; i < set->m; ++i) right += winner[i] == set->truth[i];
    free(winner);
    *accuracy = (double)right / (double)set->m;
    *used = report.evaluations;
    return classifier;
}

void cert_salient(const cert_set *set, hf_context *ctx, const hf_classifier *classifier, const double *x,
                  double *moves)
{
    const size_t d = set->d;
    const hf_posterior *posterior = hf_classifier_posterior(classifier);
    hf_workspace *workspace = hf_workspace_create(ctx, posterior);
    double *slope = calloc(d, sizeof *slope), mean;
    for (size_t j = 0; j < d; ++j) moves[j] = j < set->kind->free && d < 100;
    if (d >= 100 && workspace && slope &&
        hf_predict_latent(posterior, workspace, x, &mean, NULL, slope, NULL) >= 0)
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
    hf_workspace_free(workspace);
}

void cert_box(const cert_set *set, const double *x, const double *moves, double gamma, double *lower,
              double *upper)
{
    for (size_t j = 0; j < set->d; ++j) {
        lower[j] = fmax(x[j] - gamma * moves[j], fmin(x[j], set->kind->low));
        upper[j] = fmin(x[j] + gamma * moves[j], fmax(x[j], set->kind->high));
    }
}
