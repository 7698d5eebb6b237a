/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of kernel expressions: any bytes parse or are refused with a message that has a caret; what parses
 * can be set, copied, evaluated and differentiated. The first bytes choose parameters and points, the rest is
 * the expression. */
#include "kernel/gram_reference.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS     5u
#define INPUTS     3u
#define CHOICES    8u
#define PARAMETERS 4096u /* larger kernels are parsed and freed only, to keep runs short */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_kernel: %s\n", what);
    abort();
}

/* Parameters from 1e-6 to 1e6, points from -2 to 2. */
static void choose(hf_kernel *kernel, const uint8_t *choice, double *x)
{
    for (size_t p = 0; p < hf_kernel_parameters(kernel); p++) {
        const double value = exp(((double)choice[p % CHOICES] - 127.5) / 10.0);
        require(hfi_kernel_set_parameter(kernel, p, value, value, value, false) == HF_OK,
                "a value was refused");
    }
    for (size_t i = 0; i < POINTS * INPUTS; i++)
        x[i] = ((double)choice[(3 * i) % CHOICES] - 128.0 + (double)i) / 64.0;
}

static void evaluate(hf_context *ctx, const hf_kernel *kernel, const double *x)
{
    double k[POINTS * POINTS], reference[POINTS * POINTS], diagonal = 0.0;
    double *grad = calloc(hf_kernel_parameters(kernel), sizeof *grad);
    require(grad != NULL, "out of memory");
    require(hf_kernel_gram(ctx, kernel, POINTS, x, INPUTS, k, POINTS) == HF_OK, "the Gram matrix failed");
    gram_reference(kernel, POINTS, x, INPUTS, reference, POINTS);
    for (size_t j = 0; j < POINTS; j++) diagonal = fmax(diagonal, fabs(k[j * POINTS + j]));
    for (size_t j = 0; j < POINTS; j++) {
        for (size_t i = j; i < POINTS; i++) {
            const double value = k[i + j * POINTS], expected = reference[i + j * POINTS];
            require(!isfinite(expected) || isfinite(value), "a covariance is not finite");
            require(!isfinite(diagonal) || fabs(value - expected) <= 1e-8 * diagonal,
                    "tile and reference differ");
        }
    }
    require(hfi_kernel_gram_adjoint(ctx, kernel, POINTS, x, INPUTS, k, POINTS, grad) == HF_OK,
            "the adjoint failed");
    free(grad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[INPUTS] = {"temp", "wind speed", "x1"};
    if (size < CHOICES) return 0;
    const size_t length = size - CHOICES;
    char *text = malloc(length + 1);
    hf_context *ctx = hf_context_create();
    require(text && ctx, "out of memory");
    require(hf_context_set_threads(ctx, 1) == HF_OK, "one thread was refused");
    memcpy(text, data + CHOICES, length);
    text[length] = '\0';
    hf_kernel *kernel = NULL, *copy = NULL;
    const hf_status s = hf_kernel_parse(ctx, text, names, INPUTS, &kernel);
    if (s < 0) {
        require(s == HF_ERR_PARSE && !kernel, "an error other than HF_ERR_PARSE");
        require(strlen(text) > 16384 || strchr(hf_context_message(ctx), '^'), "a message without a caret");
    } else if (hf_kernel_parameters(kernel) <= PARAMETERS) {
        double x[POINTS * INPUTS];
        choose(kernel, data, x);
        require(hf_kernel_copy(ctx, kernel, &copy) == HF_OK, "the copy failed");
        evaluate(ctx, copy, x);
        (void)hf_kernel_set(ctx, copy, text, 1.0);
    }
    hf_kernel_free(copy);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    free(text);
    return 0;
}
