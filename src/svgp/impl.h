/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file impl.h
 * @brief Parts of variational inference by minibatches; only files of this room and their tests
 * include this.
 */
#ifndef HFI_SVGP_IMPL_H
#define HFI_SVGP_IMPL_H

#include "linalg/linalg.h"
#include "sites/student.h"
#include "svgp/svgp.h"

/* ---- rows (svgp_rows.c) ---------------------------------------------------------------------- */

/** Minibatches, epoch after epoch. Blocks of neighbouring rows are read in a shuffled order into a
 * buffer of many batches, which is shuffled again: every row once an epoch, and no reading of
 * single rows. */
typedef struct hfi_batches {
    hf_context *ctx;
    const hfi_row_source *rows;
    size_t count;          /* batches in an epoch; their sizes differ by at most one row */
    size_t epoch, batch;   /* the next one */
    size_t per_group;      /* batches that the buffer holds */
    size_t blocks, *order; /* of blocks, this epoch */
    size_t block, offset;  /* the next row to read, within the order */
    size_t held, *within;  /* rows in the buffer; their order */
    size_t taken;
    bool resident; /* all rows are in the buffer, to stay */
    double *buffer_x, *buffer_y, *buffer_extra;
    double *x, *y, *extra; /* the batch */
} hfi_batches;

/** Batches of about `size` rows (0 or more than there are: all). */
hf_status hfi_batches_init(hf_context *ctx, const hfi_row_source *rows, size_t size,
                           hfi_batches *out);
void hfi_batches_free(hfi_batches *batches);
/** The next batch into x, y and extra of `batches`. */
hf_status hfi_batches_next(hfi_batches *batches, size_t *count);
/** Puts new batches where others were that had `epoch` and `batch`; reads what is left of a
 * buffer. */
hf_status hfi_batches_seek(hfi_batches *batches, size_t epoch, size_t batch);

/* ---- noise (svgp_noise.c) -------------------------------------------------------------------- */

/** E[log p(y | f)] for f ~ N(mean, variance) under q, and its derivatives; all 0 where there is no
 * reading. */
typedef struct hfi_svgp_term {
    double value;
    double mean, variance; /* d value / d mean, d value / d variance */
    double white;          /* in the variance that white noise of the kernel adds to the reading */
    double noise, nu;      /* in log sigma^2, in log(nu - 1) */
    bool far;              /* the reading has lost three quarters of its weight */
} hfi_svgp_term;

struct hfi_svgp_noise;

/** A kind of noise that minibatches can have. */
typedef struct hfi_svgp_kind {
    /** As hfi_svgp_expected(), of a reading that is there. */
    hfi_svgp_term (*expected)(const struct hfi_svgp_noise *noise, double y, double extra,
                              double white, double mean, double variance, double centre);
    bool weighed; /* sites follow q by robust weights, about a threshold */
    bool shape;   /* it has degrees of freedom */
    /* q has no closed form, and gets near the readings by noise of this kind; NULL: it has one */
    const struct hfi_svgp_kind *approach;
    double rho; /* natural-gradient step where a batch is all rows */
} hfi_svgp_kind;

/** NULL: minibatches have no such noise. */
const hfi_svgp_kind *hfi_svgp_kind_of(hf_likelihood sites);

/** Whether every reading counts as it is. */
static inline bool hfi_svgp_is_plain(const hfi_svgp_kind *kind)
{
    return !kind->weighed && !kind->approach;
}

/** Noise of a reading, given its latent value. */
typedef struct hfi_svgp_noise {
    const hfi_svgp_kind *kind;
    double noise;     /* sigma^2 */
    double threshold; /* c of robust sites */
    hfi_student student;
} hfi_svgp_noise;

/** `centre` is what a robust weight is centred on; it is held fixed. */
hfi_svgp_term hfi_svgp_expected(const hfi_svgp_noise *noise, double y, double extra, double white,
                                double mean, double variance, double centre);

/* ---- the model (svgp_model.c) ---------------------------------------------------------------- */

/** Prior, q(v) and the buffers for passes over rows. Matrices are m x m, lower triangle,
 * column-major. */
typedef struct hfi_svgp {
    hf_context *ctx;
    hf_kernel *kernel; /* the caller's */
    hf_mean *mean;     /* the caller's */
    hfi_svgp_noise noise;
    size_t m, d;
    double *z;         /* m x d */
    double *lu;        /* factor of Kuu */
    double *precision; /* P = S^-1 */
    double *lp;        /* its factor */
    double *shift;     /* P mu */
    double *mu;
    double norm; /* 1-norm of Kuu */
    double jitter;
    bool strained;           /* Kuu needed more than the jitter every Kuu gets */
    double *spare, *another; /* m x m */
    size_t capacity;         /* rows that are looked at together */
    double *a, *t, *w;       /* m x capacity: Lu^-1 K; its adjoint; weighted a */
    double *row;             /* HFI_SVGP_ROW x capacity */
    hfi_svgp_term *term;     /* capacity */
    double *x, *y, *extra;   /* capacity rows of a pass */
    double *scratch;
    size_t scratch_each;
} hfi_svgp;

/** q is the prior. `capacity` is cut to what is sensible. Copies z. */
hf_status hfi_svgp_init(hf_context *ctx, hf_kernel *kernel, hf_mean *mean,
                        const hfi_svgp_noise *noise, size_t m, size_t d, const double *z,
                        size_t capacity, hfi_svgp *out);
void hfi_svgp_free(hfi_svgp *q);
/** Factors Kuu for the present kernel and z. HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_NOT_FINITE
 * without a message of its own. */
hf_status hfi_svgp_prior(hfi_svgp *q);

/* ---- sums over rows (sums.c, pass.c, gradient.c) --------------------------------------------- */

/** Sums over readings. NULL where one is not wanted. */
typedef struct hfi_svgp_sums {
    double value; /* of E[log p] */
    size_t readings, far;
    double *square; /* lower of sum -2 h a a' */
    double *linear; /* sum (g - 2 h a'mu) a */
    /* of the value: kernel, mean, log noise, coordinates of z if z_trained, log(nu - 1) */
    double *gradient;
    bool z_trained;
    double *corner; /* m x m, wanted with the gradient: what reaches Kuu */
} hfi_svgp_sums;

/** Buffers; the parts are wanted as the flags say. */
hf_status hfi_svgp_sums_init(const hfi_svgp *q, bool natural, bool gradient, bool z_trained,
                             hfi_svgp_sums *out);
void hfi_svgp_sums_free(const hfi_svgp *q, hfi_svgp_sums *sums);
void hfi_svgp_sums_clear(const hfi_svgp *q, hfi_svgp_sums *sums);
/** Adds `count` rows (x count x d). `centre` NULL: robust weights are centred on the present mean
 * of q. */
hf_status hfi_svgp_add(hfi_svgp *q, size_t count, const double *x, const double *y,
                       const double *extra, const double *centre, hfi_svgp_sums *sums);
/** Adds all rows of a source, in order. */
hf_status hfi_svgp_add_all(hfi_svgp *q, const hfi_row_source *rows, hfi_svgp_sums *sums);
/** The part of the gradient that goes through `corner`; once, after the last rows. */
hf_status hfi_svgp_close(hfi_svgp *q, hfi_svgp_sums *sums);
/** The gradient's share of `count` rows, whose terms and adjoints of a (in t) are at hand. */
hf_status hfi_svgp_add_gradient(hfi_svgp *q, size_t count, const double *x, hfi_svgp_sums *sums);
size_t hfi_svgp_gradient_length(const hfi_svgp *q, bool z_trained);
/** Means of q at `count` rows, without variances. O(count m d). */
hf_status hfi_svgp_means(hfi_svgp *q, size_t count, const double *x, double *mean);

/* ---- q (svgp_natural.c) ---------------------------------------------------------------------- */

/** One natural-gradient step with `scale` times the sums. Halved until the precision is positive
 * definite; HF_ERR_NOT_POSITIVE_DEFINITE and an untouched q when that does not help. */
hf_status hfi_svgp_natural(hfi_svgp *q, const hfi_svgp_sums *sums, double scale, double rho);
/** lp and mu of the precision and the shift in place, as a step to these leaves them. */
hf_status hfi_svgp_renew(hfi_svgp *q);
/** KL(q(v) || N(0, I)). O(m^3). */
double hfi_svgp_kl(hfi_svgp *q);
/** The bound at the optimum of q for conjugate noise, from the sums at the present q (which is left
 * alone); q then moves there. */
hf_status hfi_svgp_collapse(hfi_svgp *q, const hfi_svgp_sums *sums, double *bound);
/** The solution of the present q. */
hf_status hfi_svgp_solution(hfi_svgp *q, hfi_solution *out);

/* ---- training (train.c, state.c) ------------------------------------------------------------- */

/** State of training. */
typedef struct hfi_svgp_run {
    hfi_svgp *q;
    const hfi_row_source *rows;
    const hfi_trainer *space;
    const hf_fit_settings *settings;
    bool warm;        /* training starts near an optimum */
    bool trained;     /* q is no longer the prior */
    double threshold; /* given; looked at for HF_THRESHOLD_GIVEN only */
    bool train_nu;
    size_t sample; /* rows kept to measure residuals on (robust) */
    double *sample_x, *sample_y, *sample_mean;
    hfi_svgp_report *report;
} hfi_svgp_run;

/** Rows whose residuals decide the threshold of robust noise. */
hf_status hfi_svgp_take_sample(hfi_svgp_run *run);
/** The threshold for the residuals of the sample at the present q. */
hf_status hfi_svgp_rethreshold(hfi_svgp_run *run);
/** Hyperparameters from L-BFGS on the exact bound of a share of the rows (svgp_warm.c). */
hf_status hfi_svgp_warm_start(hfi_svgp_run *run);
/** Adam on hyperparameters and natural gradients on q, batch after batch. */
hf_status hfi_svgp_train(hfi_svgp_run *run);
/** The optimum of q for the final hyperparameters, from passes over all rows (svgp_finish.c). */
hf_status hfi_svgp_finish(hfi_svgp_run *run);

/* ---- step by step ---------------------------------------------------------------------------- */

/** Everything a step depends on is here, in q and in the batches. */
typedef struct hfi_svgp_climb {
    hfi_svgp_run *run;
    hfi_batches batches;
    hfi_svgp_sums sums;
    size_t length; /* of a state: the space's, and log(nu - 1) */
    double *state, *trial, *first, *second, *average;
    size_t moves, averaged;
    double rate, rho;
    /* where training stands */
    size_t whole;       /* steps of q alone */
    size_t round, most; /* of rounds; the next one, how many there can be */
    size_t stage;       /* of the learning rate */
    bool settled;       /* no more rounds */
    size_t step;        /* of this round: the next one, and what those before have seen */
    size_t readings, rows;
    double value;
    double *bound; /* of each round since the learning rate last changed */
    size_t bounds;
    double *numbers; /* of a snapshot; NULL without a journal */
} hfi_svgp_climb;

/** The state of kernel, mean, noise, nu and inducing inputs; and back, with a new factor of Kuu:
 * hfi_svgp_prior(). */
void hfi_svgp_get_state(const hfi_svgp_run *run, double *state);
hf_status hfi_svgp_set_state(const hfi_svgp_run *run, const double *state);

/* ---- what an interrupted fit goes on from (svgp_checkpoint.c) -------------------------------- */

/** Where the run has a journal: room for snapshots, and the last one of an interrupted training, if
 * there is one. Call when all else of the climb is as a training begins. */
hf_status hfi_svgp_resume(hfi_svgp_climb *c);
/** A snapshot, if it is time for one or if `now`. */
void hfi_svgp_snap(hfi_svgp_climb *c, bool now);
/** Training is over: what the journal keeps next is of passes. */
void hfi_svgp_end_snapshots(hfi_svgp_climb *c);

/** hfi_svgp_add_all() at the present q, sums without a gradient: from the journal as long as it
 * lasts. */
hf_status hfi_svgp_pass(const hfi_svgp_run *run, hfi_svgp_sums *sums);

#endif
