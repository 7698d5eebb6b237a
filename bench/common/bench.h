/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench.h
 * @brief Shared by the benchmarks: a clock, medians, made-up data, the peer's timings, bare
 * LAPACK.
 *
 * Ours and what it is compared with are timed in turns, so that a busy moment of the machine hits
 * both; the medians are divided. Every program takes --repeats K and prints one table in Markdown.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <holdfast/holdfast.h>

enum {
    BENCH_MOST = 99
};

typedef struct timings {
    size_t count;
    double seconds[BENCH_MOST];
} timings;

double bench_now(void);
/** Seconds of the processor, all threads: what other work does hardly matters. */
double bench_processor(void);
void bench_add(timings *t, double seconds);
double bench_median(const timings *t);

/** --repeats K from the command line, else `usual`; ends the program with status 2 for anything
 * else. */
size_t bench_repeats(int argc, char **argv, size_t usual);

/** malloc and free with the end of the program instead of NULL. */
double *bench_doubles(size_t count);
void bench_must(hf_context *ctx, hf_status status, const char *what);

/** n x d inputs in [0, 1] (the same for the same seed everywhere; the peer makes the same) and a
 * wavy target. */
void bench_inputs(size_t n, size_t d, uint64_t seed, double *x);
void bench_targets(size_t n, size_t d, const double *x, double *y);

/** A kernel of ARD Matern-5/2 with lengthscales 0.5, 0.6, ... and outputscale 1.5. */
hf_kernel *bench_kernel(hf_context *ctx, size_t d);

/** Median seconds of scikit-learn for a job ("evaluation", "prediction"), run by
 * bench/peer_sklearn.py as a process of its
 *  own on one thread; NaN with the reason on standard error when it is not installed. */
double bench_peer(const char *job, size_t n, size_t d, size_t rows, size_t repeats);

/** Threads for the bare calls: as many as asked for if the BLAS can, else 1. Returns how many they
 * are. The library puts its
 *  own calls on one thread of the BLAS and gives the host's number back, so that this does not
 *  touch ours. */
int bench_bare_threads(int threads);

/** "0.123", or "-" for NaN. */
const char *bench_text(double value, char buffer[32]);

/** Fortran LAPACK, called bare. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t side_length, size_t uplo_length, size_t trans_length,
            size_t diag_length);

#endif
