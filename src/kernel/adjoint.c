/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of sums of covariances: in the parameters (over a whole Gram matrix) and in one input. */
#include "kernel/kernel.h"
#include "kernel/tile.h"

#include <string.h>

typedef struct lower {
    const double *w;
    size_t ldw;
} lower;

/* Entries below the diagonal stand for two; those above are left to their mirror images. */
static void load_weights(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    const lower *given = of;
    double *weights = hfi_tile_weights(tile);
    const size_t width = tile->points.width;
    for (size_t r = 0; r < tile->points.rows; r++) {
        const size_t j = slow + r;
        const double *column = given->w + j * given->ldw + fast;
        double *row = weights + r * width;
        const size_t from = j > fast ? hfi_smaller(j - fast, tile->count) : 0;
        for (size_t c = 0; c < from; c++) row[c] = 0.0;
        for (size_t c = from; c < tile->count; c++) row[c] = 2.0 * column[c];
        for (size_t c = tile->count; c < width; c++) row[c] = 0.0;
        if (j >= fast && j - fast < tile->count) row[j - fast] = column[j - fast];
    }
}

hf_status hfi_kernel_gram_adjoint(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                  size_t ldx, const double *w, size_t ldw, double *grad)
{
    lower given = {w, ldw};
    const hfi_sweep pairs = {
        kernel, n, n, x, x, ldx, ldx, .same = true, .lower = true, .visit = load_weights, .of = &given};
    return n == 0 ? HF_OK : hfi_sweep_adjoint(ctx, &pairs, grad);
}

typedef struct pulled {
    const double *weights;
    double *grad;
} pulled;

static void backward(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    const pulled *at = of;
    (void)slow;
    hfi_tile_weigh(tile, 0, at->weights + fast);
    hfi_tile_backward(tile, at->grad);
}

void hfi_kernel_input_gradient(const hf_kernel *kernel, const double *x, size_t n, const double *z,
                               size_t ldz, const double *weights, double *grad, double *scratch)
{
    pulled at = {weights, grad};
    const hfi_sweep pairs = {kernel, 1, n, x, z, kernel->d, ldz, .visit = backward, .of = &at};
    hfi_sweep_part(&pairs, 0, 1, scratch);
}

/* ---- products with derivatives of the Gram matrix --------------------------------------------------------- */

typedef struct slopes {
    const double *a;
    double *v; /* parameters x n */
} slopes;

static void add_slopes(void *of, hfi_tile *tile, size_t row, size_t fast)
{
    const slopes *at = of;
    hfi_tile_weigh(tile, 0, at->a + fast);
    hfi_tile_adjoint(tile, at->v + row * tile->kernel->parameters);
}

hf_status hfi_kernel_gram_slopes(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                                 size_t ldx, const double *a, double *v)
{
    slopes at = {a, v};
    const hfi_sweep pairs = {kernel,   n, n, x, x, ldx, ldx, .same = true, .rows = true, .visit = add_slopes,
                             .of = &at};
    if (n == 0) return HF_OK;
    memset(v, 0, n * kernel->parameters * sizeof *v);
    return hfi_sweep_run(ctx, &pairs);
}
