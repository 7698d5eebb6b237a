/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cert_data.h
 * @brief Shared by the experiments with certified probabilities: which sets
 * (class_data.h) and how far their points are moved, splits, models, boxes and options.
 */
#ifndef EXPERIMENTS_CERT_DATA_H
#define EXPERIMENTS_CERT_DATA_H

#include "common/options.h"

#include <holdfast/holdfast.h>

enum {
    CERT_SETS = 6,
    CERT_OPTIONS = 5,
    CERT_CLASSES = 3, /* at most */
    CERT_SIDE = 14    /* of pictures, at most */
};

/** The name of a set, its shape and how far its points are moved. */
typedef struct cert_kind {
    const char *name;
    size_t classes;
    size_t free; /**< inputs that move at a point (of images: the most salient pixels) */
    /** pixels of a side where rows are square pictures in [0, 1]; 0: they are not */
    size_t side;
    size_t point;     /**< test point of figure 2, from 1, as the authors numbered theirs */
    double most;      /**< largest gamma of figure 2 */
    double low, high; /**< values an input can have */
    size_t shown[2];  /**< inputs that a map of rows has */
    double accuracy;  /**< printed; NaN: the paper has other data */
    const char *labels[CERT_CLASSES];
} cert_kind;

/** Training and test points of one set. */
typedef struct cert_set {
    const cert_kind *kind;
    size_t n, m, d;
    double *x, *at;
    size_t *label, *truth;
} cert_set;

/** Options that all of the programs have alike. */
typedef struct cert_options {
    const char *data;
    words sets;
    long train, limit, seed;
    /** The training pictures that there are come first, then the same ones moved by one pixel, side
     * for side, in rounds of as many. It ends when there are as many as asked for, or after nine
     * rounds. */
    bool moved;
} cert_options;

/** Writes the defaults, those sets being taken, and the CERT_OPTIONS rows that read the options;
 * the last is --train, for programs whose models all have as many training points. `images`: only
 * sets of images are taken. */
void cert_options_rows(cert_options *options, const char *sets, bool images, option_row *rows);

/** The set of that name or NULL. */
const cert_kind *cert_find(const char *name);
bool cert_known(const char *name);
/** Writes the accuracy that the paper prints, "-" for a set that it has not. */
void cert_printed(const char *name, char out[8]);
/** n training points and up to m test points by a split of the seed of the options. False, with a
 * message on standard output where the file is absent. */
bool cert_load(hf_context *ctx, const cert_options *options, const char *name, size_t n, size_t m,
               cert_set *out);
void cert_free(cert_set *set);
/** study(state, set) for each of the sets asked for that is there, with as many points as
 * cert_load() takes, until one fails: false then. */
bool cert_each(hf_context *ctx, const cert_options *options, size_t n, size_t m,
               bool (*study)(void *state, const cert_set *set), void *state);

/** How a model is made. */
typedef struct cert_model {
    hf_inference inference;
    long evaluations; /**< of the evidence, about */
    size_t inducing;  /**< inputs, training points drawn without a choice; 0: the exact solver */
    hf_inducing_method method;
} cert_model;

/** How a fit went. */
typedef struct cert_fit_report {
    double accuracy, seconds;
    size_t used; /**< evaluations */
} cert_fit_report;

/** A squared exponential kernel with a lengthscale per input, mean 0, trained by the evidence from
 * 1, 1, ... on the first n training points. NULL with a message on standard error. */
hf_classifier *cert_fit(hf_context *ctx, const cert_set *set, size_t n, const cert_model *model,
                        cert_fit_report *report);
/** Which inputs move at a point (d entries, 0 or 1): the first `free`, of images those where
 * |gradient of the winner's latent mean x input| is largest. */
void cert_salient(const cert_set *set, hf_context *ctx, const hf_classifier *classifier,
                  const double *x, double *moves);
/** The box of that radius about a point, within what inputs can be. */
void cert_box(const cert_set *set, const double *x, const double *moves, double gamma,
              double *lower, double *upper);

#endif
