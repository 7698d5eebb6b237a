/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cert_data.h
 * @brief Data of the experiments with certified probabilities: Synthetic2D, SPAM with 11 features, and the digits 3 and 8 at 14 x 14 pixels.
 */
#ifndef EXPERIMENTS_CERT_DATA_H
#define EXPERIMENTS_CERT_DATA_H

#include <holdfast/holdfast.h>

enum {
    CERT_SETS = 3
};

/** What a set is called and how far its points are moved. */
typedef struct cert_kind {
    const char *name;
    size_t d, free;   /**< inputs, and how many of them move (of images: the most salient pixels) */
    size_t point;     /**< test point of figure 2, from 1, as the authors numbered theirs */
    double most;      /**< largest gamma of figure 2 */
    double low, high; /**< values an input can have */
    double accuracy;  /**< printed */
    const char *file; /**< below the folder of data; NULL: drawn */
} cert_kind;

extern const cert_kind cert_kinds[CERT_SETS];

/** Training and test points of one set; labels 0 and 1. */
typedef struct cert_set {
    const cert_kind *kind;
    size_t n, m, d;
    double *x, *at;
    size_t *label, *truth;
} cert_set;

/** The set of that name or NULL. */
const cert_kind *cert_find(const char *name);
bool cert_known(const char *name);
/** n training points and up to m test points by a split of that seed. False, with a message on standard output where the file is absent. */
bool cert_load(hf_context *ctx, const cert_kind *kind, const char *data, size_t n, size_t m, uint64_t seed,
               cert_set *out);
void cert_free(cert_set *set);

/** A squared exponential kernel with a lengthscale per input, mean 0, trained by the evidence from 1, 1, ... with about so many evaluations; its accuracy on the test points. NULL with a
 * message on standard error. */
hf_classifier *cert_fit(hf_context *ctx, const cert_set *set, hf_inference inference, long evaluations,
                        double *accuracy, size_t *used);
/** Which inputs move at a point (d entries, 0 or 1): all that may, of images the pixels where gradient times input is largest. */
void cert_salient(const cert_set *set, hf_context *ctx, const hf_classifier *classifier, const double *x,
                  double *moves);
/** The box of that radius about a point, within what inputs can be. */
void cert_box(const cert_set *set, const double *x, const double *moves, double gamma, double *lower,
              double *upper);

#endif
