/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernel.h
 * @brief Internal face of the kernel room: what solvers, training and prediction call.
 *
 * theta is the vector of ALL parameters of a kernel on the training scale (log of positive ones;
 * real ones, the factors of coregion, as they are), in the order of hf_kernel_parameter().
 * Gradients are with respect to theta; entries of fixed parameters are computed too (cheap) and
 * ignored by training. Matrices as in linalg.h: symmetric ones by the lower triangle, column-major.
 * "Scratch" is caller's memory, so that nothing here allocates.
 */
#ifndef HFI_KERNEL_H
#define HFI_KERNEL_H

#include "core/core.h"
#include <holdfast/kernel.h>
#include <math.h>

void hfi_kernel_theta(const hf_kernel *kernel, double *theta);
/** An optimiser may go beyond the box, but what exp(log()) alone would carry over a bound stays on
 * the bound. */
void hfi_kernel_set_theta(hf_kernel *kernel, const double *theta);
/** Whether a positive value differs from a positive bound by no more than exp(log(bound)) may. */
bool hfi_kernel_on_bound(double value, double bound);
/** Box of theta on the training scale. */
void hfi_kernel_theta_bounds(const hf_kernel *kernel, double *lower, double *upper);
/** Sets value, box and the held flag of parameter i directly (used to rescale, to restore, and by
 * the trainer). */
hf_status hfi_kernel_set_parameter(hf_kernel *kernel, size_t i, double value, double lower,
                                   double upper, bool fixed);
/** Holds it at a value, its box growing to hold that. */
hf_status hfi_kernel_hold_parameter(hf_kernel *kernel, size_t i, double value);
/** Indices of the parameters a (possibly abbreviated) name stands for: `matches` (capacity = number
 * of parameters), *count, 0 for an unknown name. No message. @return false when the name is
 * ambiguous: the matches belong to several kernels. */
bool hfi_kernel_match(const hf_kernel *kernel, const char *name, size_t *matches, size_t *count);
/** True where parameter i's value was written in the expression with = or ~ (or as a number in
 * front of a term). */
bool hfi_kernel_parameter_given(const hf_kernel *kernel, size_t i);
/** From now on it has. */
void hfi_kernel_give_parameter(hf_kernel *kernel, size_t i);
/** Counts the kernels of the expression that are of the same form and see the same columns as
 * that of parameter i, itself among them. Also counts how many of these stand before it. */
void hfi_kernel_twins(const hf_kernel *kernel, size_t i, size_t *before, size_t *all);
/** Whether parameter i is a period; then of which input (where its kernel sees several with one
 * period, of the first), and which parameter is the lengthscale that goes with it. */
bool hfi_kernel_is_period(const hf_kernel *kernel, size_t i, size_t *column, size_t *lengthscale);

/** k(x, x), white included, when it is the same for all x (stationary kernels). Else the value at x
 * = 0, or if that is 0 (linear alone) the value at x = (1, ..., 1). Each coregion counts by its
 * mean over the outputs; positive unless some B is 0; used as jitter scale. */
double hfi_kernel_typical_variance(const hf_kernel *kernel);
/** theta[p] += weight times the slope of that in parameter p. O(parameters). */
void hfi_kernel_typical_adjoint(const hf_kernel *kernel, double weight, double *theta);

/** The output that a number stands for: the nearest, the first or last for those beyond. NaN is the
 * first. Inline, so that loops over tiles and scalar code agree. */
static inline int hfi_output_of(double number, size_t outputs)
{
    const double last = (double)(outputs - 1), from_zero = number > 0.0 ? number : 0.0;
    return (int)((from_zero > last ? last : from_zero) + 0.5);
}

/** The category that a number stands for: the nearest whole number. Inline for the reason above. */
static inline double hfi_code_of(double number)
{
    return floor(number + 0.5);
}
/** Sets code[j], j < d, for the inputs that a kernel of the expression takes for codes of
 * categories, and clears the others. Returns how many there are. */
size_t hfi_kernel_codes(const hf_kernel *kernel, bool *code);
bool hfi_kernel_has_codes(const hf_kernel *kernel);
/** Whether one of its kernels is a wave, a swell or a tilt. */
bool hfi_kernel_has_planes(const hf_kernel *kernel);
/** Whether parameter i is the lengthscale of such a kernel. */
bool hfi_kernel_is_of_codes(const hf_kernel *kernel, size_t i);

/** Real parameters may have any sign and are on the training scale as they are: theta = value. */
bool hfi_kernel_parameter_real(const hf_kernel *kernel, size_t i);
/** Describes coregion i (hf_kernel_coregions()): its first parameter, the numbers of parameters of
 * its arrays, and the input with the number of the output. The array `factor` comes first, row by
 * row without the entries above the diagonal, then `own` (*own is 0 at full rank). False, and
 * nothing written, if i is out of range. Any of the places may be NULL. */
bool hfi_kernel_coregion(const hf_kernel *kernel, size_t i, size_t *first, size_t *factors,
                         size_t *own, size_t *column);

/** Whether K((x,s), (x',t)) = B_st k(x,x'): one term with one coregion, whose column no other
 * kernel of it sees, and no white. */
bool hfi_kernel_is_separable(const hf_kernel *kernel);

/** Doubles of scratch one thread needs for any function below. */
size_t hfi_kernel_scratch(const hf_kernel *kernel);
/** That for every thread of the context, *each doubles apart; hfi_free() gives it back. NULL with a
 * message. */
double *hfi_kernel_scratch_alloc(hf_context *ctx, const hf_kernel *kernel, size_t *each);

/** `expression`, a kernel of the other inputs, as one of several outputs, whose number is the input
 * `column` (NULL: x<d>): one coregion, of which `shared` is what stands from behind the number of
 * outputs to the expression; or with NULL a term for each output alone, "coregion('column',
 * ...)*(...)". Freed with hfi_free(); NULL with a message when out of memory. */
char *hfi_kernel_of_outputs(hf_context *ctx, const char *expression, const char *column, size_t d,
                            size_t outputs, const char *shared);

/** Lower triangle of the Gram matrix, K + 0 on the diagonal (white included). All threads; `k`
 * column-major n x n. */
hf_status hfi_kernel_gram_lower(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                size_t ldx, double *k, size_t ldk);
/** Puts output s of every coregion into row order[s] of its factor (NULL: row s), with the
 * covariances as they were, but that a factor which is what it starts as stays; coregions with an
 * entry that somebody has given or held stay. While a
 * fit trains, so that what it finds does not depend on how outputs are numbered: names,
 * expressions and files know row s only. HF_ERR_MEMORY. */
hf_status hfi_kernel_order_outputs(hf_context *ctx, hf_kernel *kernel, const size_t *order);
/** The parameter of coregion i that is what output s has beyond those in the rows before it: the
 * last entry of its row, or (*squared) its variance of its own; SIZE_MAX if it is held. Shared
 * with them: parameters *first to *end. */
size_t hfi_kernel_coregion_own(const hf_kernel *kernel, size_t i, size_t s, bool *squared,
                               size_t *first, size_t *end);

/** k(x, z) for one pair, scalar code, libm only. `same` says both are the same row (white). */
double hfi_kernel_value(const hf_kernel *kernel, const double *x, const double *z, bool same);

/** K[j + q*ldk] = k(x_q, z_j): column q (n long) is the covariance of query q with the n anchors.
 * Serial: no allocation, no threads; `scratch` as above. White contributes nothing. */
void hfi_kernel_cross_block(const hf_kernel *kernel, size_t m, const double *x, size_t ldx,
                            size_t n, const double *z, size_t ldz, double *k, size_t ldk,
                            double *scratch);
/** diag[q] = k(x_q, x_q), white included only if with_white. */
void hfi_kernel_diagonal(const hf_kernel *kernel, size_t m, const double *x, size_t ldx,
                         bool with_white, double *diag);

/** grad[p] += sum over ALL i, j of W_ij dK_ij/dtheta_p, for the symmetric W given by its lower
 * triangle (each off-diagonal entry counts twice). Threads; the sum is done per tile and reduced in
 * a fixed order, so it does not depend on the thread count. */
hf_status hfi_kernel_gram_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n,
                                  const double *x, size_t ldx, const double *w, size_t ldw,
                                  double *grad);

/** v[p + i*parameters] = sum_j dK_ij/dtheta_p a_j, white included: the products of all derivatives
 * of the Gram matrix with one vector. Every covariance is evaluated twice. Threads; the same result
 * for any number of them. O(n^2 d). */
hf_status hfi_kernel_gram_slopes(hf_context *ctx, const hf_kernel *kernel, size_t n,
                                 const double *x, size_t ldx, const double *a, double *v);

/* ---- adjoints of cross-covariances (cross_adjoint.c): what inducing solvers differentiate with
 * ---- */

/** For K[j + q*ldk] = k(x_q, z_j), laid out as hfi_kernel_cross_block() does, and weights W of the
 * same layout:
 *
 *     theta[p] += sum_jq W_jq dK_jq/dtheta_p        z_grad[j*d + c] += sum_q W_jq dk(x_q,
 *     z_j)/dz_jc
 *
 * Either result may be NULL. Threads; fixed order of sums. O(m n d). */
hf_status hfi_kernel_cross_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t m,
                                   const double *x, size_t ldx, size_t n, const double *z,
                                   size_t ldz, const double *w, size_t ldw, double *theta,
                                   double *z_grad);
/** z_grad[i*d + c] += d/dz_ic sum_jk W_jk k(z_j, z_k) for the symmetric W given by its lower
 * triangle (each off-diagonal entry counts twice); the diagonal's own dependence is included. O(n^2
 * d). */
hf_status hfi_kernel_gram_input_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n,
                                        const double *z, size_t ldz, const double *w, size_t ldw,
                                        double *z_grad);
/** theta[p] += sum_q w_latent[q] d k(x_q, x_q)/dtheta_p without white + w_white[q] d
 * white(x_q)/dtheta_p. Either weight array may be NULL (zero). O(m d). */
void hfi_kernel_diagonal_adjoint(const hf_kernel *kernel, size_t m, const double *x, size_t ldx,
                                 const double *w_latent, const double *w_white, double *theta);

/* ---- products with block-sparse actions (block_stream.c): what the projected solver streams
 * ---- */

/** Arithmetic of the tiles; sums are kept in double either way. */
typedef enum hfi_precision {
    HFI_DOUBLE = 0,
    HFI_SINGLE
} hfi_precision;

/** Actions with one non-zero per row, rows sorted by block: rows first[a] .. first[a+1]-1 belong to
 * block a (no block is empty), s[l] is the entry of row l. Inputs x are sorted likewise.
 *
 *     B = K A:  b[l + a*ldb] = sum_{j in block a} k(x_l, x_j) s_j,   white left out
 *
 * n(n+1)/2 kernel evaluations (each pair once), O(n d) memory. Threads; the result does not depend
 * on their number. The processes of a group share the evaluations of this and the next two, and all
 * get the result. Reports progress ("covariances") and can be cancelled; b is spoilt by a call that
 * fails. HFI_SINGLE has an effect on kernels that are one radial leaf (se, matern*) with an
 * outputscale; others stay in double. */
hf_status hfi_kernel_block_product(hf_context *ctx, const hf_kernel *kernel, size_t n,
                                   const double *x, size_t ldx, size_t blocks, const size_t *first,
                                   const double *s, hfi_precision precision, double *b, size_t ldb);
/** The adjoint of that: with b_bar = d objective / d B,
 *
 *     s_bar[j] += sum_l k(x_l, x_j) Bbar[l, a(j)]       theta[p] += sum_lj Bbar[l, a(j)] s_j
 *     dk(x_l, x_j)/dtheta_p
 *
 * Either result may be NULL; both are left alone by a call that fails. Another n(n+1)/2 evaluations
 * with slopes. */
hf_status hfi_kernel_block_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n,
                                   const double *x, size_t ldx, size_t blocks, const size_t *first,
                                   const double *s, hfi_precision precision, const double *b_bar,
                                   size_t ldb, double *s_bar, double *theta);
/** P = K V for c dense columns: p[l + q*ldp] = sum_j k(x_l, x_j) v[j + q*ldv], white left out. Each
 * pair is evaluated once; several columns share the evaluation. O(n^2 (d + c)), O(n c) memory.
 * Threads, same result for any number. p must not overlap v and is spoilt by a call that fails. */
hf_status hfi_kernel_dense_product(hf_context *ctx, const hf_kernel *kernel, size_t n,
                                   const double *x, size_t ldx, size_t c, const double *v,
                                   size_t ldv, hfi_precision precision, double *p, size_t ldp);

/** grad[0..d-1] += d/dx sum_j weights[j] k(x, z_j). Serial, no allocation. */
void hfi_kernel_input_gradient(const hf_kernel *kernel, const double *x, size_t n, const double *z,
                               size_t ldz, const double *weights, double *grad, double *scratch);
/** grad[0..d-1] += d/dx k(x, x). */
void hfi_kernel_diagonal_input_gradient(const hf_kernel *kernel, const double *x, double *grad);

#endif
