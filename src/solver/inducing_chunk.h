/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing_chunk.h
 * @brief Some rows of a table as the inducing solver sees them: gathered, whitened, thrown away.
 */
#ifndef HFI_INDUCING_CHUNK_H
#define HFI_INDUCING_CHUNK_H

#include "solver/inducing.h"

/** Rows of a chunk, and columns one job works on. Constants: the order of sums follows from
 * them. */
#define HFI_INDUCING_ROWS    2048u
#define HFI_INDUCING_COLUMNS 128u

/** Readings of a chunk have numbers of their own, 0 .. count - 1; `row` says which row of the table
 * each is. */
typedef struct hfi_inducing_chunk {
    const hfi_inducing *inducing;
    const hf_kernel *kernel;
    const hf_mean *mean;
    const hf_sites *table; /* the sites of all rows */
    const double *inputs;  /* the table */
    size_t ldx;
    size_t capacity;
    size_t count;
    size_t *row;
    /* theirs, borrowed from this chunk: never to be freed or changed in number */
    hf_sites sites;
    double *x;             /* count x d */
    double *offset;        /* m_j: prior mean */
    double *prior;         /* k_jj without white */
    double *white;         /* white_j */
    double *residual;      /* r_j = z_j - m_j; 0 when absent */
    double *precision;     /* p_j */
    double *resolved;      /* q_jj = |v_j|^2 */
    double *mean_part;     /* mu_j = v_j'w */
    double *variance_part; /* h_j = |y_j|^2 */
    double *v;             /* m x count: v_j */
    double *y;             /* m x count: y_j; NULL unless asked for */
    double *numbers;       /* block that the arrays of doubles are cut from */
    double *scratch;       /* the kernel's, per thread */
    size_t scratch_each;
} hfi_inducing_chunk;

/** Buffers for at most `rows` rows at a time (HFI_INDUCING_ROWS at most); `solved` adds y, for what
 * needs the factors. A chunk that failed is zeroed. */
hf_status hfi_inducing_chunk_init(hfi_inducing_chunk *chunk, const hfi_inducing *inducing,
                                  const hf_kernel *kernel, const hf_mean *mean,
                                  const hf_sites *sites, size_t rows, const double *x, size_t ldx,
                                  bool solved);
void hfi_inducing_chunk_free(hfi_inducing_chunk *chunk);
/** Takes rows begin .. end - 1 (at most `capacity`), `absent` ones too if wanted, and computes
 * everything above but mean_part, variance_part and y. Needs Lu. */
void hfi_inducing_chunk_load(hfi_inducing_chunk *chunk, size_t begin, size_t end, bool absent);
/** mean_part, variance_part and y. Needs Lb and w. */
void hfi_inducing_chunk_solve(hfi_inducing_chunk *chunk);
/** Jobs of HFI_INDUCING_COLUMNS readings. */
size_t hfi_inducing_chunk_jobs(const hfi_inducing_chunk *chunk);
/** The readings of a job: *first, and how many as the result. */
size_t hfi_inducing_chunk_job(const hfi_inducing_chunk *chunk, size_t job, size_t *first);

/** Mean (less the prior mean) and variance of what the inducing inputs say about reading j, without
 * its site:
 *
 *     share = 1 - p h        variance = h / share        mean = (mu - p h r) / share
 *
 * share is at least 1 / (1 + p q), which keeps the quotients finite when rounding has used it
 * up. */
typedef struct hfi_inducing_cavity {
    double share, mean, variance;
} hfi_inducing_cavity;

static inline hfi_inducing_cavity hfi_inducing_cavity_make(const hfi_inducing_chunk *c, size_t j)
{
    const double p = c->precision[j], mu = c->mean_part[j], h = c->variance_part[j];
    const double least = 1.0 / (1.0 + p * c->resolved[j]),
                 share = 1.0 - p * h > least ? 1.0 - p * h : least;
    return (hfi_inducing_cavity){share, (mu - p * h * c->residual[j]) / share, h / share};
}

#endif
