/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernel.h
 * @brief Covariance functions: parsed from an expression, composed, evaluated, differentiated.
 *
 * ## The expression language
 *
 *     expression := term { "+" term }
 *     term       := factor { "*" factor }
 *     factor     := number | kernel [ "(" [ argument { "," argument } ] ")" ] | "(" expression ")"
 *     argument   := column | "ard" | "iso" | name "=" number (held at that value)
 *                   | name "~" number (starts there, trained)
 *
 * `column` is a column name (quote it with ' or " when it is not a plain identifier) or, when no
 * column has that name, x1, x2, ... for the first, second, ... input; a quote inside a quoted name
 * is written twice. Without columns a kernel sees all inputs. `ard` gives each input its own
 * lengthscale; `iso`, one for all, is the default. The name of an argument is that of a parameter
 * in the table below, with an index where it has several entries (lengthscale[0]=2; without the
 * index all of them), or `outputscale` of the term the kernel stands in. Every parameter is
 * positive but the factor of coregion, which may have any sign and be 0. Numbers have a '.'
 * whatever the locale is.
 *
 * With r^2 = sum_j (x_j - x'_j)^2 / l_j^2 over the columns seen:
 *
 * | name (aliases) | k(x, x') | parameters (start) |
 * |---|---|---|
 * | se (rbf, gaussian) | exp(-r^2 / 2) | lengthscale (1) |
 * | matern12 (exponential) | exp(-r) | lengthscale |
 * | matern32 | (1 + sqrt3 r) exp(-sqrt3 r) | lengthscale |
 * | matern52 | (1 + sqrt5 r + 5 r^2 / 3) exp(-sqrt5 r) | lengthscale |
 * | rq | (1 + r^2 / (2 alpha))^-alpha | lengthscale, alpha (1) |
 * | periodic | exp(-2 sum_j sin^2(pi (x_j - x'_j) / p_j) / l_j^2) | lengthscale, period (1) |
 * | linear | sum_j v_j x_j x'_j | variance (1) |
 * | constant | v | variance (1) |
 * | white | v if x and x' are the same row, else 0 | variance (1) |
 * | sm (components = Q) | spectral mixture, below | weight[q], mean[q,j], variance[q,j] |
 * | coregion(COLUMN, outputs = T) | B[t, t'], below | factor[s,q] (W), own[s] |
 * | category(COLUMN, ...) | exp(-sum_j [c_j != c'_j] / l_j), c_j a code | lengthscale (1) |
 * | wave | cos(2 pi sum_j f_j (x_j - x'_j)) | frequency[j] (0.1), real |
 * | swell | cos(2 pi sum_j f_j x_j) cos(2 pi sum_j f_j x'_j) | frequency[j] (0.1), real |
 * | tilt | exp(sum_j r_j (x_j + x'_j)) | rate[j] (0.1), real |
 *
 * sm, with t = x - x', frequencies m and `components` Q (default 2):
 *
 *     sum_q w_q prod_j exp(-2 pi^2 t_j^2 s_qj) cos(2 pi t_j m_qj)     w weight, m mean, s variance
 *
 * coregion: t is the number in COLUMN, B = W W' + diag(own), W of `rank` columns (default T).
 *
 * The start is where hf_kernel_parse() leaves a parameter. A fit (train.h) looks for a period that
 * is not written, in the spectrum of its readings.
 *
 * With `ard` written, lengthscale, period, variance (of linear) have one entry per column, written
 * name[0], name[1], ...
 *
 * wave, swell and tilt are inner products of functions of one plane. So wave along any direction,
 * and amplitudes that come and go or grow, join others in products. Sums of se(ard)*wave and of
 * tilt*swell*wave are generalised spectral kernels (Samo and Roberts, 2015; Patane et al., 2022,
 * B.7; docs/kernels.md).
 *
 * **Scaling.** Each top-level or parenthesised term gets one trained factor `outputscale`. It is a
 * variance and starts at 1, or at the number written in front, or at the argument `outputscale`. A
 * term gets none if one of its factors carries an amplitude of its own (constant, linear, white,
 * sm, coregion, or a parenthesised sum). So `matern52(ard) + 0.5*periodic(x3, period=12)` is s1
 * matern52 + s2 periodic with s1, s2 trained from 1 and 0.5.
 *
 * A number in front multiplies what the amplitude starts at, also where it is the kernel's own
 * (2*white starts at variance 2; 2*(se + linear) is 2*se + 2*linear), and a term that is only a
 * number is a constant starting there. Parentheses around a single term change nothing. The
 * components of sm start at frequencies 0.1, 0.2, ..., variance 0.01 and weight 1/Q.
 *
 * **Several outputs.** A table of readings of T correlated outputs has a row for each reading and
 * one column with the number of its output: 0, 1, ..., T - 1. `coregion(output, outputs=T)` looks
 * at that column alone and is a table of covariances between outputs; times a kernel of the other
 * inputs it makes the intrinsic coregionalization model, and a sum of such products the linear
 * model of coregionalization:
 *
 *     coregion(output, outputs=3) * matern52(ard)     K((x,t), (x',t')) = B[t,t'] k(x,x')
 *     coregion(output, outputs=3, rank=1) * se(ard)
 *         + coregion(output, outputs=3, rank=1) * matern12(ard)
 *         sum_q B_q[t,t'] k_q(x,x')
 *
 * A kernel for which no column is written sees all inputs but those columns, so `matern52(ard)`
 * here does not see `output`; naming the column shows it to a kernel. B = W W' + diag(own) is
 * positive semi-definite whatever the parameters are. W has T rows and `rank` columns; above the
 * diagonal it is zero and has no parameters, which leaves no rotations of W that make the same B.
 * With rank = T there is no `own`, and W is the Cholesky factor of B up to the signs of its
 * columns; with less, own[s] > 0 is what output s does not share. factor[s,q], q <= s, is in units
 * of the target and trained as it is. The outputs start with variance 1 and correlation 1/2 (rank =
 * T) or 0.3 to 0.5; `factor[1,0]=0` holds an entry, `own~0.1` sets where all of own start, a number
 * in front multiplies what B starts at.
 *
 * A number in COLUMN stands for the nearest output, and for the first or the last where it lies
 * beyond them: the kernel is a step function of that column and does not complain. Whoever fills a
 * table checks the numbers first, and does not standardise the column.
 * Sources: Goovaerts, Geostatistics for Natural Resources Evaluation, 1997; Bonilla, Chai,
 * Williams, Multi-task Gaussian process prediction, 2007; Alvarez, Rosasco, Lawrence, Kernels for
 * vector-valued functions: a review, 2012.
 *
 * **Categories.** A column of codes 0, 1, ... says which of several kinds a row is of, kinds that
 * have no order and no distances. `category(kind)` looks at such columns alone. It is 1 for rows of
 * one kind and rho = exp(-1 / l) for others. So `matern52(ard) * category(kind)` is a function of
 * each kind, with correlation rho between any two. For several columns, `category(a, b, ard)`, it
 * is the product; `ard` gives each column a lengthscale of its own, a pure number. Whatever l > 0
 * is, k is positive definite: in each column (1 - rho) [c = c'] + rho is. A kernel for which no
 * column is written sees no column that a category is told to see. A number stands for the nearest
 * whole number, and the kernel is a step function of it, with slope 0; fits leave such columns as
 * they are. A column of text that a fit takes as an input for each text (`kind=oak`, `kind=fir`)
 * has a name too: `kind` stands for all inputs called `kind=...`, in every kernel. With
 * category(kind) rho is then exp(-2 / l), since two texts differ in two of these inputs. Source:
 * Ru, Alvi, Nguyen, Osborne and Roberts, Bayesian optimisation over multiple continuous and
 * categorical inputs, 2020; there k is the mean over columns.
 *
 * **Limits.** 16384 bytes, parentheses 32 deep, 256 kernels, 10^6 parameters, 1000 outputs, 4 10^6
 * entries in all matrices B together; more is refused.
 *
 * **Extremes.** Differences are taken before scaling: equal rows are at distance exactly 0, and of
 * finite inputs, however far apart, se, matern, rq and sm make 0; no kernel but linear, which grows
 * with them, makes anything but a finite number. An exponential below 1e-304 is 0. The phase of
 * periodic, sm, wave and swell is held at 1e15, beyond which it has no correct digit. The exponent
 * of tilt is held at 100.
 *
 * **Names of parameters.** With one kernel in the expression: outputscale, lengthscale[0], ... With
 * several, the kernel's name and, if it occurs more than once, its number go in front:
 * matern52.lengthscale[0], periodic.period, se2.outputscale. A name given to hf_kernel_set() may
 * leave out what is not needed to be unambiguous; `lengthscale` alone sets every entry of that
 * array.
 *
 * All positive parameters are trained on the logarithmic scale, spectral mixture means too; the
 * factor of coregion as it is.
 *
 * A function that names no cost of its own is O(1), freeing aside. Any number of threads may ask
 * one kernel while nobody changes it.
 */
#ifndef HOLDFAST_KERNEL_H
#define HOLDFAST_KERNEL_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

typedef struct hf_kernel hf_kernel;

/** Unit of a parameter; decides how it changes when inputs or targets are rescaled. */
typedef enum hf_unit {
    /** a pure number (alpha, lengthscale of category) */
    HF_UNIT_NONE = 0,
    /** units of an input (lengthscale of se, matern, rq; period) */
    HF_UNIT_INPUT,
    /** 1 / input (spectral mixture mean) */
    HF_UNIT_FREQUENCY,
    /** 1 / input^2 (spectral mixture variance) */
    HF_UNIT_FREQUENCY2,
    /** target^2 (outputscale, variance of constant and white, spectral mixture weight, own of
     * coregion) */
    HF_UNIT_OUTPUT2,
    /** target^2 / input^2 (variance of linear) */
    HF_UNIT_OUTPUT2_INPUT2,
    /** target (factor of coregion; a mean) */
    HF_UNIT_OUTPUT
} hf_unit;

/** One parameter, as hf_kernel_parameter() tells it. Strings are owned by the kernel. */
typedef struct hf_parameter {
    const char *name;
    double value;
    /** box used in training */
    double lower, upper;
    /** held at its value in training */
    bool fixed;
    hf_unit unit;
    /** the input it belongs to; SIZE_MAX when it belongs to none or to several */
    size_t column;
} hf_parameter;

/**
 * Parses an expression.
 * @param expression see above; NULL means "matern52(ard)"
 * @param names      names of the d inputs, or NULL for x1..xd only. Copied.
 * @param d          number of inputs, at least 1
 * Errors: HF_ERR_PARSE with the expression, a caret under the character and what was expected;
 * HF_ERR_MEMORY. Kernels need a context: without one this is HF_ERR_ARGUMENT. O(length of the
 * expression + names + parameters).
 */
HF_API hf_status hf_kernel_parse(hf_context *ctx, const char *expression, const char *const *names,
                                 size_t d, hf_kernel **out);
HF_API hf_status hf_kernel_copy(hf_context *ctx, const hf_kernel *kernel, hf_kernel **out);
HF_API void hf_kernel_free(hf_kernel *kernel);

/** Number of inputs, d of hf_kernel_parse(). */
HF_API size_t hf_kernel_dimension(const hf_kernel *kernel);
/** Number of parameters, trained or held. */
HF_API size_t hf_kernel_parameters(const hf_kernel *kernel);
/** Parameter i; HF_ERR_ARGUMENT if i is out of range. O(1). */
HF_API hf_status hf_kernel_parameter(const hf_kernel *kernel, size_t i, hf_parameter *out);
/** Sets by name (see "Names of parameters"). HF_ERR_ARGUMENT for an unknown or ambiguous name
 * (listing the candidates), or a value that is not finite and inside (0, inf) where that is
 * required; a factor of coregion is at most 1e100 in size. O(parameters), and O(outputs^2 rank) for
 * a factor of coregion. */
HF_API hf_status hf_kernel_set(hf_context *ctx, hf_kernel *kernel, const char *name, double value);
/** The expression as given. Owned by the kernel. */
HF_API const char *hf_kernel_expression(const hf_kernel *kernel);

/** Number of coregion kernels in the expression. O(leaves^2). */
HF_API size_t hf_kernel_coregions(const hf_kernel *kernel);
/** Number of outputs, T, of coregion i (0, 1, ... from left to right); 0 if i is out of range.
 * O(leaves). */
HF_API size_t hf_kernel_coregion_outputs(const hf_kernel *kernel, size_t i);
/**
 * B of coregion i: the T x T covariances between outputs, row by row, both triangles. Units of
 * target^2, those of the kernel's parameters. `b` is the caller's and written only on success.
 * O(T^2); safe from several threads while nobody changes the kernel.
 * Errors: HF_ERR_ARGUMENT for a NULL or an i out of range.
 */
HF_API hf_status hf_kernel_get_coregion(hf_context *ctx, const hf_kernel *kernel, size_t i,
                                        double *b);
/**
 * Gives coregion i, which must have rank = outputs, a B: T x T, row by row, symmetric and positive
 * semi-definite to rounding. W becomes its lower Cholesky factor, so that hf_kernel_get_coregion()
 * returns B to rounding. B may be of deficient rank: where nothing of a variance is left the column
 * of W is zero, provided that nothing of the covariances below is left either. Held parameters are
 * set too and stay held; boxes grow to hold the values. O(T^3).
 * Errors, which leave the kernel alone: HF_ERR_ARGUMENT for a NULL, an i out of range, a lesser
 * rank (its B is set by its parameters, hf_kernel_set()); for entries that are not finite or beyond
 * 1e200; for a B that is not symmetric or not positive semi-definite, with the entry that fails;
 * HF_ERR_MEMORY.
 */
HF_API hf_status hf_kernel_set_coregion(hf_context *ctx, hf_kernel *kernel, size_t i,
                                        const double *b);

/**
 * K_ij = k(x_i, x_j): full symmetric n x n matrix, K row-major (= column-major) with stride ldk >=
 * n. x: n x d row-major, stride ldx >= d. O(n^2 d), symmetric half only, all threads. White adds to
 * the diagonal. Errors, which leave K alone: HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_MEMORY,
 * HF_ERR_NOT_FINITE (inputs, or a row whose covariance with itself is beyond a quarter of the
 * largest number).
 */
HF_API hf_status hf_kernel_gram(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                size_t ldx, double *k, size_t ldk);
/** K_ij = k(x_i, z_j): m x n, row-major, stride ldk >= n. White contributes nothing. O(m n d).
 * Errors as above, white counted. */
HF_API hf_status hf_kernel_cross(hf_context *ctx, const hf_kernel *kernel, size_t m,
                                 const double *x, size_t ldx, size_t n, const double *z, size_t ldz,
                                 double *k, size_t ldk);

HF_END_DECLS

#endif
