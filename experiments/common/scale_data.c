/* SPDX-License-Identifier: Apache-2.0 */
#include "common/scale_data.h"
#include "common/draws.h"

#include <math.h>
#include <string.h>

static const double share = 0.05, test_share = 0.1;
static const double lengthscale = 0.4, noise_sd = 0.2;

enum {
    FEATURES = 64,
    INPUTS = 5,
    SYNTHETIC_ROWS = 100000,
    SYNTHETIC_TEST = 10000
};

static bool is_file(const char *set)
{
    return words_among("bike,elevators,pol,kin40k,protein", set);
}

bool scale_set_known(const char *set)
{
    return is_file(set) || strcmp(set, "synthetic") == 0;
}

bool scale_present(const char *data, const char *set)
{
    return !is_file(set) || uci_present(data, set);
}

typedef struct cosines {
    double frequency[FEATURES][INPUTS], phase[FEATURES], amplitude[FEATURES];
} cosines;

static double cosine_sum(const cosines *f, const double *x)
{
    double sum = 0.0;
    for (size_t k = 0; k < FEATURES; ++k) {
        double angle = f->phase[k];
        for (size_t j = 0; j < INPUTS; ++j) angle += f->frequency[k][j] * x[j];
        sum += f->amplitude[k] * cos(angle);
    }
    return sum;
}

static void draw_rows(draws *stream, const cosines *f, size_t n, double *x, double *y)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < INPUTS; ++j) x[i * INPUTS + j] = draw_uniform(stream);
        y[i] = cosine_sum(f, x + i * INPUTS) + noise_sd * draw_normal(stream);
    }
}

static void synthetic_rows(size_t rows, uint64_t seed, problem *out)
{
    draws stream = {seed * 0x2545f4914f6cdd1du + 1};
    cosines f;
    for (size_t k = 0; k < FEATURES; ++k) {
        for (size_t j = 0; j < INPUTS; ++j) f.frequency[k][j] = draw_normal(&stream) / lengthscale;
        f.phase[k] = 6.283185307179586 * draw_uniform(&stream);
        f.amplitude[k] = sqrt(2.0 / FEATURES) * draw_normal(&stream);
    }
    *out = problem_create(rows, SYNTHETIC_TEST, INPUTS);
    draw_rows(&stream, &f, out->n, out->x, out->y);
    draw_rows(&stream, &f, out->m, out->tx, out->ty);
    out->unit = sample_sd(out->n, out->y);
}

bool scale_problem(hf_context *ctx, const char *data, const char *set, size_t rows, const char *kind,
                   long split, long offset, problem *out)
{
    if (is_file(set)) {
        const uci_set file = {.name = set, .target = "y", .sample = rows, .test_share = test_share};
        if (!uci_problem(ctx, data, &file, rows == 0, split, offset, HF_CONTAMINATION_NONE, 0.0, out))
            return false;
    } else {
        synthetic_rows(rows ? rows : SYNTHETIC_ROWS, (uint64_t)(offset + 9000 + split), out);
    }
    hf_contamination damage;
    if (strcmp(kind, "none") == 0) return true;
    if (hf_enum_parse(ctx, HF_ENUM_CONTAMINATION, kind, &damage) >= 0 &&
        hf_contaminate(ctx, damage, share, (uint64_t)(offset + 5000 + split), out->n, out->d, out->x, out->d,
                       out->y, out->wrong) >= 0)
        return true;
    fprintf(stderr, "%s: %s\n", set, hf_context_message(ctx));
    return false;
}
