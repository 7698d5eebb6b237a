/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax at many points, and sums over them. */
#include "softmax/classes_moments.h"

#include "kernel/vector.h"

HFI_CLONES
void hfi_add_multiple(size_t count, double factor, const double *restrict z, double *restrict out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] += factor * z[i];
}

HFI_CLONES
void hfi_softmax_columns(size_t classes, size_t count, double *restrict p, double *restrict work)
{
    double *restrict most = work, *restrict sum = work + count;
    for (size_t i = 0; i < count; i++) {
        most[i] = p[i];
        sum[i] = 0.0;
    }
    for (size_t c = 1; c < classes; c++) {
        const double *restrict f = p + c * count;
        HFI_SIMD
        for (size_t i = 0; i < count; i++) most[i] = f[i] > most[i] ? f[i] : most[i];
    }
    for (size_t c = 0; c < classes; c++) {
        double *restrict f = p + c * count;
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            f[i] = decay(most[i] - f[i]);
            sum[i] += f[i];
        }
    }
    for (size_t c = 0; c < classes; c++) {
        double *restrict f = p + c * count;
        HFI_SIMD
        for (size_t i = 0; i < count; i++) f[i] /= sum[i];
    }
}

HFI_CLONES
void hfi_softmax_line(size_t classes, size_t count, const double *base, const double *along,
                      const double *restrict z, double *restrict p, double *restrict work)
{
    for (size_t c = 0; c < classes; c++) {
        double *restrict f = p + c * count;
        const double b = base[c], a = along[c];
        HFI_SIMD
        for (size_t i = 0; i < count; i++) f[i] = b + a * z[i];
    }
    hfi_softmax_columns(classes, count, p, work);
}

HFI_CLONES
static double sum_of_products(size_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
    HFI_SIMD_SUM(sum)
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

HFI_CLONES
static void multiply_elements(size_t count, const double *restrict a, const double *restrict b,
                              double *restrict out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] = a[i] * b[i];
}

/* Sums of the products that go on from `have`, of the last class `from` on. */
static double *add_products(size_t classes, size_t count, const double *p, const double *have, size_t from,
                            int left, double *out, double *work)
{
    for (size_t k = from; k < classes; k++) {
        if (left == 1) {
            *out++ += sum_of_products(count, have, p + k * count);
            continue;
        }
        multiply_elements(count, have, p + k * count, work);
        out = add_products(classes, count, p, work, k, left - 1, out, work + count);
    }
    return out;
}

void hfi_softmax_fifths(size_t classes, size_t count, const double *p, const double *weight, double *fifth,
                        double *work)
{
    (void)add_products(classes, count, p, weight, 0, 5, fifth, work);
}

void hfi_softmax_sums(size_t classes, size_t count, const double *p, const double *weight, double *mean,
                      double *third, double *work)
{
    double *one = work, *two = work + count;
    for (size_t i = 0; i < classes; i++) {
        mean[i] += sum_of_products(count, p + i * count, weight);
        if (!third) continue;
        multiply_elements(count, p + i * count, weight, one);
        for (size_t j = i; j < classes; j++) {
            multiply_elements(count, one, p + j * count, two);
            for (size_t k = j; k < classes; k++) *third++ += sum_of_products(count, two, p + k * count);
        }
    }
}
