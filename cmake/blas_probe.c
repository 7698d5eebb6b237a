/* SPDX-License-Identifier: Apache-2.0 */
/* Run at configure time: says in one line which BLAS this is and where it lives; fails when it is of no use
 * to us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double ddot_(const void *n, const double *x, const void *incx, const double *y, const void *incy);
void dpotrf_(const char *uplo, const void *n, double *a, const void *lda, int *info, size_t uplo_length);

/* Present in one vendor's library each. */
__attribute__((weak)) char *openblas_get_config(void);
__attribute__((weak)) int openblas_get_parallel(void);
__attribute__((weak)) void mkl_get_version_string(char *buffer, int length);
__attribute__((weak)) const char *bli_info_get_version_str(void);

static void where_it_lives(char *path, size_t size)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "ddot_");
    char *real = symbol != NULL && dladdr(symbol, &info) != 0 ? realpath(info.dli_fname, NULL) : NULL;
    snprintf(path, size, "%s", real != NULL ? real : "linked statically");
    free(real);
}

int main(void)
{
    /* Read as 32-bit integers these are 2 and 1; a library that reads 64 bits sees a negative count and
     * returns 0. */
    const int32_t two[2] = {2, -1}, one[2] = {1, 0};
    const double x[2] = {3.0, 4.0};
    double a[4] = {4.0, 2.0, 0.0, 5.0};
    int info[2] = {0, 0};
    char path[PATH_MAX];

    if (ddot_(two, x, one, x, one) != 25.0) {
        puts("it takes 64-bit integers (ILP64) or returns wrong products; holdfast needs the 32-bit (LP64) "
             "flavour");
        return 1;
    }
    const int32_t order[2] = {2, 0};
    dpotrf_("L", order, a, order, info, 1);
    if (info[0] != 0 || a[0] != 2.0 || a[1] != 1.0 || a[3] != 2.0) {
        puts("its dpotrf_ does not factor a 2 x 2 matrix");
        return 1;
    }

    where_it_lives(path, sizeof path);
    if (openblas_get_config) {
        const char *config = openblas_get_config();
        int parallel = openblas_get_parallel ? openblas_get_parallel() : 0;
        const char *flavours[] = {"serial", "pthreads", "OpenMP"};
        const char *flavour = parallel >= 0 && parallel <= 2 ? flavours[parallel] : "unknown";
        const char *version = strstr(config, "OpenBLAS ");
        version = version != NULL ? version + strlen("OpenBLAS ") : config;
        printf("OpenBLAS %.*s, %s (%s)\n", (int)strcspn(version, " "), version, flavour, path);
    } else if (mkl_get_version_string) {
        char text[200] = "";
        mkl_get_version_string(text, (int)sizeof text - 1);
        printf("%s (%s)\n", text, path);
    } else if (bli_info_get_version_str) {
        printf("BLIS %s (%s)\n", bli_info_get_version_str(), path);
    } else if (strstr(path, "/blas/libblas") != NULL || strstr(path, "/librefblas") != NULL) {
        printf("reference BLAS (%s)\n", path);
    } else {
        printf("unknown BLAS (%s)\n", path);
    }
    return 0;
}
