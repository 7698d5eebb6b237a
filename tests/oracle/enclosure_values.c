/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file enclosure_values.c
 * @brief Enclosures of covariances and of the functions they are made of, one question per line, one JSON
 * object per answer. Bounds are hexadecimal texts (%La), which lose nothing.
 *
 *     kernel D EXPRESSION        what the following pairs are asked about; the expression is the rest of the line
 *     pair SAME x1..xD z1..zD    {"lower", "upper", "value"}; value is that of the double code
 *     OP LOWER UPPER LOWER UPPER {"lower", "upper"}; OP: add, subtract, multiply, divide, square, sqrt, exp,
 *     log1p, sine2, cosine
 */
#include "kernel/enclosure.h"
#include "kernel/kernel.h"
#include "read_text.h"

#include <string.h>

static json_t *bounds(hfi_interval a)
{
    char lower[64], upper[64];
    (void)snprintf(lower, sizeof lower, "%La", a.lower);
    (void)snprintf(upper, sizeof upper, "%La", a.upper);
    return json_pack("{ss ss}", "lower", lower, "upper", upper);
}

static hf_kernel *read_kernel(hf_context *ctx)
{
    static char text[1 << 16];
    hf_kernel *kernel = NULL;
    const size_t d = (size_t)read_number();
    if (!fgets(text, sizeof text, stdin)) fail("an expression was expected");
    text[strcspn(text, "\n")] = '\0';
    must(ctx, hf_kernel_parse(ctx, text, NULL, d, &kernel), text);
    return kernel;
}

static json_t *pair(const hf_kernel *kernel)
{
    const size_t d = hf_kernel_dimension(kernel);
    const bool same = read_number() != 0.0;
    double *x = read_numbers(d), *z = read_numbers(d);
    hfi_interval value;
    json_t *out = json_object();
    if (hfi_kernel_enclose(kernel, x, z, same, &value.lower, &value.upper)) {
        json_decref(out);
        out = bounds(value);
        json_object_set_new(out, "value", number_json(hfi_kernel_value(kernel, x, z, same)));
    }
    free(x);
    free(z);
    return out;
}

static json_t *operation(const char *name)
{
    double v[4];
    for (int i = 0; i < 4; i++) v[i] = read_number();
    const hfi_interval a = {v[0], v[1]}, b = {v[2], v[3]};
    if (strcmp(name, "add") == 0) return bounds(hfi_interval_add(a, b));
    if (strcmp(name, "subtract") == 0) return bounds(hfi_interval_subtract(a, b));
    if (strcmp(name, "multiply") == 0) return bounds(hfi_interval_multiply(a, b));
    if (strcmp(name, "divide") == 0) return bounds(hfi_interval_divide(a, b));
    if (strcmp(name, "square") == 0) return bounds(hfi_interval_square(a));
    if (strcmp(name, "sqrt") == 0) return bounds(hfi_interval_sqrt(a));
    if (strcmp(name, "exp") == 0) return bounds(hfi_interval_exp(a));
    if (strcmp(name, "log1p") == 0) return bounds(hfi_interval_log1p(a));
    if (strcmp(name, "sine2") == 0) return bounds(hfi_interval_sin_squared(a));
    if (strcmp(name, "cosine") == 0) return bounds(hfi_interval_cos_turns(a));
    fail("unknown question");
    return NULL;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    char word[32];
    if (!ctx) fail("out of memory");
    while (scanf("%31s", word) == 1) {
        if (strcmp(word, "kernel") == 0) {
            hf_kernel_free(kernel);
            kernel = read_kernel(ctx);
        } else if (strcmp(word, "pair") == 0) {
            if (!kernel) fail("a kernel comes first");
            print_json(pair(kernel));
        } else {
            print_json(operation(word));
        }
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    return 0;
}
