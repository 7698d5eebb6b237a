/* SPDX-License-Identifier: Apache-2.0 */
/* kernel-draws: covariances of every kernel, and draws from the prior that it makes; the pictures of
 * docs/kernels.md. */
#include <math.h>
#include <stdlib.h>

#include "common/draws.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/words.h"

#include <holdfast/holdfast.h>

enum {
    ALONG = 101, /* places along x, from -5 to 5 */
    CURVES = 3,
    PANELS = 3,
    SIDE = 41, /* places along each side of a map */
    INPUTS = 2
};
static const double from = -5.0, to = 5.0, reference = 1.0;
static const char *const columns[INPUTS] = {"x", "kind"}, *const sides[INPUTS] = {"a", "b"};
static const char *const colours[CURVES] = {"#1f7a8c", "#d1495b", "#e0a030"};

/* Kernels of x alone show three draws; kernels of x and a kind one draw, a curve for each kind. */
typedef struct row {
    const char *name;
    size_t kinds;
    const char *expression[PANELS];
    const char *title[PANELS]; /* NULL: the expression */
} row;

static const row rows[] = {
    {.name = "se",
     .kinds = 1,
     .expression = {"se(lengthscale=0.5)", "se(lengthscale=1.5)", "se(lengthscale=4)"}},
    {.name = "matern12",
     .kinds = 1,
     .expression = {"matern12(lengthscale=0.5)", "matern12(lengthscale=1.5)", "matern12(lengthscale=4)"}},
    {.name = "matern32",
     .kinds = 1,
     .expression = {"matern32(lengthscale=0.5)", "matern32(lengthscale=1.5)", "matern32(lengthscale=4)"}},
    {.name = "matern52",
     .kinds = 1,
     .expression = {"matern52(lengthscale=0.5)", "matern52(lengthscale=1.5)", "matern52(lengthscale=4)"}},
    {.name = "rq",
     .kinds = 1,
     .expression = {"rq(lengthscale=1.5, alpha=0.1)", "rq(lengthscale=1.5, alpha=1)",
                    "rq(lengthscale=1.5, alpha=10)"}},
    {.name = "periodic",
     .kinds = 1,
     .expression = {"periodic(period=3, lengthscale=2)", "periodic(period=3, lengthscale=0.6)",
                    "periodic(period=3)*se(lengthscale=3)"}},
    {.name = "linear",
     .kinds = 1,
     .expression = {"linear(variance=0.2)", "linear(variance=0.2) + constant",
                    "linear(variance=0.2)*linear"}},
    {.name = "constant",
     .kinds = 1,
     .expression = {"constant", "constant + se(lengthscale=1)", "constant + linear"}},
    {.name = "white",
     .kinds = 1,
     .expression = {"white", "se(lengthscale=1.5) + 0.03*white", "linear + white"}},
    {.name = "sm",
     .kinds = 1,
     .expression = {"sm(components=1, mean=0.5, variance=0.001)", "sm(components=1, mean=0.5, variance=0.02)",
                    "sm(mean[0,0]=0.15, mean[1,0]=0.8, variance=0.001)"},
     .title = {"mean=0.5, variance=0.001", "mean=0.5, variance=0.02", "means 0.15 and 0.8"}},
    {.name = "coregion",
     .kinds = 2,
     .expression =
         {"coregion(kind, outputs=2, factor[0,0]=1, factor[1,0]=0.95, factor[1,1]=0.31)*se(lengthscale=1.5)",
          "coregion(kind, outputs=2, factor[0,0]=1, factor[1,0]=0, factor[1,1]=1)*se(lengthscale=1.5)",
          "coregion(kind, outputs=2, factor[0,0]=1, factor[1,0]=-0.8, factor[1,1]=0.6)*se(lengthscale=1.5)"},
     .title = {"two outputs, correlation 0.95", "two outputs, correlation 0",
               "two outputs, correlation -0.8"}},
    {.name = "category",
     .kinds = 3,
     .expression = {"matern52(lengthscale=1.5)*category(kind, lengthscale=0.3)",
                    "matern52(lengthscale=1.5)*category(kind, lengthscale=1)",
                    "matern52(lengthscale=1.5)*category(kind, lengthscale=10)"},
     .title = {"three kinds, lengthscale=0.3", "three kinds, lengthscale=1", "three kinds, lengthscale=10"}},
    {.name = "wave",
     .kinds = 1,
     .expression = {"wave(frequency=0.5)", "se(lengthscale=2)*wave(frequency=0.5)",
                    "se(lengthscale=2)*wave(frequency=0.5) + se(lengthscale=4)*wave(frequency=0.1)"},
     .title = {"wave(frequency=0.5)", "se * wave", "two bands"}},
    {.name = "swell",
     .kinds = 1,
     .expression = {"swell(frequency=0.1)", "swell(frequency=0.1)*wave(frequency=0.8)",
                    "swell(frequency=0.1)*se(lengthscale=0.5)"},
     .title = {"swell(frequency=0.1)", "swell * wave: 0.9 and 0.7", "swell * se"}},
    {.name = "tilt",
     .kinds = 1,
     .expression = {"tilt(rate=0.3)", "tilt(rate=0.3)*wave(frequency=0.5)",
                    "tilt(rate=-0.3)*se(lengthscale=0.7)"},
     .title = {"tilt(rate=0.3)", "tilt * wave", "tilt(rate=-0.3) * se"}},
    {.name = "sums",
     .kinds = 1,
     .expression = {"se(lengthscale=4) + 0.1*se(lengthscale=0.3)",
                    "linear(variance=0.2) + periodic(period=2)",
                    "matern12(lengthscale=8) + 0.2*periodic(period=2)"},
     .title = {"long se + 0.1 * short se", "linear + periodic", "matern12 + 0.2 * periodic"}},
    {.name = "products",
     .kinds = 1,
     .expression = {"se(lengthscale=3)*periodic(period=2)", "linear(variance=0.2)*periodic(period=2)",
                    "linear(variance=0.2)*se(lengthscale=1)"},
     .title = {"se * periodic", "linear * periodic", "linear * se"}},
};
static const char *const maps[PANELS] = {"se(ard, lengthscale[0]=0.7, lengthscale[1]=4)",
                                         "se(a, lengthscale=1) + se(b, lengthscale=1)",
                                         "se(a, lengthscale=1)*se(b, lengthscale=1)"};

enum {
    ROWS = sizeof rows / sizeof *rows
};

static double along(size_t i)
{
    return from + (to - from) * (double)i / (double)(ALONG - 1);
}

static void complain(hf_context *ctx, const char *expression)
{
    fprintf(stderr, "%s: %s\n", expression, hf_context_message(ctx));
}

/* The factor L of K = L L' in the lower triangle, after a billionth of the largest variance was added to each: many of
 * these kernels are singular to rounding, and a wiggle of 3e-5 is below what a picture shows. */
static void factor(size_t n, double *k)
{
    double most = 0.0;
    for (size_t j = 0; j < n; ++j) most = fmax(most, k[j * n + j]);
    for (size_t j = 0; j < n; ++j) {
        double left = k[j * n + j] + 1e-9 * most;
        for (size_t p = 0; p < j; ++p) left -= k[j * n + p] * k[j * n + p];
        const double pivot = sqrt(left);
        k[j * n + j] = pivot;
        for (size_t i = j + 1; i < n; ++i) {
            double sum = k[i * n + j];
            for (size_t p = 0; p < j; ++p) sum -= k[i * n + p] * k[j * n + p];
            k[i * n + j] = sum / pivot;
        }
    }
}

/* One draw of N(0, K), f = L u. */
static void draw(size_t n, const double *l, draws *d, double *u, double *f)
{
    for (size_t i = 0; i < n; ++i) u[i] = draw_normal(d);
    for (size_t i = 0; i < n; ++i) {
        f[i] = 0.0;
        for (size_t j = 0; j <= i; ++j) f[i] += l[i * n + j] * u[j];
    }
}

/* `count` draws at n places of d inputs, one after the other. */
static bool sample(hf_context *ctx, const char *expression, const char *const *names, size_t d, size_t n,
                   const double *x, size_t count, uint64_t seed, double *f)
{
    hf_kernel *kernel = NULL;
    double *k = malloc(sizeof(double) * n * n), *u = malloc(sizeof(double) * n);
    draws stream = {seed * 0x9e3779b97f4a7c15u + 29};
    const bool good = k && u && hf_kernel_parse(ctx, expression, names, d, &kernel) >= 0 &&
                      hf_kernel_gram(ctx, kernel, n, x, d, k, n) >= 0;
    if (good) {
        factor(n, k);
        for (size_t c = 0; c < count; ++c) draw(n, k, &stream, u, f + c * n);
    } else
        complain(ctx, expression);
    hf_kernel_free(kernel);
    free(u);
    free(k);
    return good;
}

/* Covariances between the reference of the first kind and places of the last one; at the reference itself those of one
 * row, white noise with them. */
static bool covariances(hf_context *ctx, const row *r, size_t panel, size_t n, const double *at, double *out)
{
    const size_t d = r->kinds > 1 ? INPUTS : 1;
    hf_kernel *kernel = NULL;
    double x[2 * INPUTS], k[4];
    bool good = hf_kernel_parse(ctx, r->expression[panel], columns, d, &kernel) >= 0;
    for (size_t i = 0; good && i < n; ++i) {
        x[0] = reference;
        x[1] = 0.0;
        x[d] = at[i];
        x[2 * d - 1] = d > 1 ? (double)(r->kinds - 1) : at[i];
        good = hf_kernel_gram(ctx, kernel, 2, x, d, k, 2) >= 0;
        out[i] = at[i] == reference && d == 1 ? k[0] : k[1]; /* NOLINT(clang-diagnostic-float-equal) */
    }
    if (!good) complain(ctx, r->expression[panel]);
    hf_kernel_free(kernel);
    return good;
}

static bool print(hf_context *ctx)
{
    static const double at[] = {1.0, 1.5, 2.0, 4.0};
    double value[4];
    bool good = true;
    puts("\n| expression | k(1, 1) | k(1, 1.5) | k(1, 2) | k(1, 4) |\n|---|---|---|---|---|");
    for (size_t r = 0; good && r < ROWS; ++r)
        for (size_t p = 0; good && p < PANELS; ++p) {
            good = covariances(ctx, &rows[r], p, 4, at, value);
            printf("| `%s` |", rows[r].expression[p]);
            for (size_t i = 0; i < 4; ++i) printf(" %.4f |", fabs(value[i]) < 5e-5 ? 0.0 : value[i]);
            putchar('\n');
        }
    return good;
}

static bool write_panel(hf_context *ctx, const row *r, size_t p, long seed, FILE *out)
{
    enum {
        MOST = ALONG * CURVES
    };
    double x[MOST * INPUTS], f[MOST], at[ALONG], k[ALONG];
    const size_t kinds = r->kinds, curves = kinds > 1 ? kinds : CURVES, n = ALONG * kinds;
    const size_t d = kinds > 1 ? INPUTS : 1;
    for (size_t i = 0; i < n; ++i) {
        x[i * d + d - 1] = (double)(i / ALONG);
        x[i * d] = along(i % ALONG);
    }
    for (size_t i = 0; i < ALONG; ++i) at[i] = along(i);
    const bool good =
        covariances(ctx, r, p, ALONG, at, k) &&
        sample(ctx, r->expression[p], columns, d, n, x, kinds > 1 ? 1 : CURVES, (uint64_t)seed, f);
    if (!good) return false;
    fprintf(out, "$p%zu << EOD\n", p);
    for (size_t i = 0; i < ALONG; ++i) {
        fprintf(out, "%.3g %.4g", at[i], k[i]);
        for (size_t c = 0; c < curves; ++c) fprintf(out, " %.4g", f[c * ALONG + i]);
        fputc('\n', out);
    }
    fputs("EOD\n", out);
    return true;
}

static void title(FILE *out, const char *text)
{
    fputs("set title ", out);
    picture_quote(out, text);
    fputs(" noenhanced offset 0,-0.5 font ',11'\n", out);
}

static bool draw_row(hf_context *ctx, const row *r, long seed, const char *stem)
{
    char path[1000];
    picture p;
    bool good = true;
    picture_begin(&p);
    for (size_t i = 0; good && i < PANELS; ++i) good = write_panel(ctx, r, i, seed, p.script);
    fputs("set multiplot layout 1,4 margins 0.03,0.99,0.12,0.88 spacing 0.03,0.1\n"
          "set xrange [-5:5]\nset xtics 5\nunset key\nunset grid\n"
          "set title 'covariance with x = 1' offset 0,-0.5 font ',11'\nplot ",
          p.script);
    for (size_t i = 0; i < PANELS; ++i)
        fprintf(p.script, "%s$p%zu using 1:2 with lines lw 1.8 dt %zu lc rgb '#404040'", i ? ", " : "", i,
                i + 1);
    fputc('\n', p.script);
    for (size_t i = 0; i < PANELS; ++i) {
        title(p.script, r->title[i] ? r->title[i] : r->expression[i]);
        fputs("plot ", p.script);
        const size_t curves = r->kinds > 1 ? r->kinds : CURVES;
        for (size_t c = 0; c < curves; ++c)
            fprintf(p.script, "%s$p%zu using 1:%zu with lines lw 1.5 lc rgb '%s'", c ? ", " : "", i, c + 3,
                    colours[c]);
        fputc('\n', p.script);
    }
    fputs("unset multiplot\n", p.script);
    snprintf(path, sizeof path, "%s-%s", stem, r->name);
    return picture_draw(&p, path, 1300, 260) && good;
}

static bool draw_maps(hf_context *ctx, long seed, const char *stem)
{
    enum {
        N = SIDE * SIDE
    };
    char path[1000];
    picture p;
    bool good = true;
    double *x = malloc(sizeof(double) * N * INPUTS), *f = malloc(sizeof(double) * N);
    picture_begin(&p);
    for (size_t i = 0; x && i < N; ++i) {
        x[i * INPUTS] = from + (to - from) * (double)(i % SIDE) / (double)(SIDE - 1);
        x[i * INPUTS + 1] = from + (to - from) * (double)(i / SIDE) / (double)(SIDE - 1);
    }
    for (size_t m = 0; m < PANELS; ++m) {
        good = good && x && f && sample(ctx, maps[m], sides, INPUTS, N, x, 1, (uint64_t)seed, f);
        fprintf(p.script, "$m%zu << EOD\n", m);
        for (size_t i = 0; good && i < N; ++i)
            fprintf(p.script, "%g %g %.3g\n", x[i * INPUTS], x[i * INPUTS + 1], f[i]);
        fputs("EOD\n", p.script);
    }
    fputs("set multiplot layout 1,3 margins 0.04,0.99,0.14,0.9 spacing 0.05,0.1\nset xrange [-5:5]\nset "
          "yrange [-5:5]\n"
          "unset key\nunset colorbox\nset palette defined (0 '#1f4e79', 1 '#f2f2f2', 2 '#a23b3b')\n"
          "set cbrange [-3:3]\nset xlabel 'a' offset 0,0.5\nset ylabel 'b' offset 1,0\n",
          p.script);
    for (size_t m = 0; m < PANELS; ++m) {
        title(p.script, maps[m]);
        fprintf(p.script, "plot $m%zu using 1:2:3 with image\n", m);
    }
    fputs("unset multiplot\n", p.script);
    snprintf(path, sizeof path, "%s-inputs", stem);
    good = picture_draw(&p, path, 1300, 400) && good;
    free(f);
    free(x);
    return good;
}

int main(int argc, char **argv)
{
    const char *stem = NULL;
    long seed = 1;
    const option_row options[] = {
        option_number("seed", "S", "of the draws (default 1)", &seed, 0, 1000000),
        option_text("picture", "STEM",
                    "draw STEM-NAME.svg and .png for each kernel, for sums,\nproducts and inputs", &stem)};
    options_read(argc, argv,
                 "usage: kernel-draws [option]...\nCovariances of every kernel, and draws from the prior "
                 "that it makes.\n",
                 "kernel-draws --picture /tmp/kernel", sizeof options / sizeof *options, options);
    hf_context *ctx = hf_context_create();
    bool good = ctx && print(ctx);
    for (size_t r = 0; stem && good && r < ROWS; ++r) good = draw_row(ctx, &rows[r], seed, stem);
    if (stem && good) good = draw_maps(ctx, seed, stem);
    hf_context_free(ctx);
    return good ? 0 : 1;
}
