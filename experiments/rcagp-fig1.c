/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-fig1: Figure 1 of the RCaGP paper (2025): four surrogates of one input with wrong readings, and where
 * they would ask next. */
#include <math.h>

#include "common/bo_surrogate.h"
#include "common/draws.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/words.h"

/* The paper does not say which function, readings and sizes it shows. These are ours: two hills, the higher one at
 * 0.72; 60 readings with noise of sd 0.1, of which those below 0.25 are larger by 2 to 4 with probability 0.4. */
enum {
    READINGS = 60,
    GRID = 201,
    MODELS = 4
};
static const double edge = 0.25, share = 0.4, noise = 0.1;
static const char *const names[MODELS] = {"SVGP", "RCSVGP", "CaGP", "RCaGP"};

typedef struct toy {
    double x[READINGS], y[READINGS];
    bool wrong[READINGS];
} toy;

/* Predictions of a model from the readings. */
typedef struct curve {
    double mean[GRID], sd[GRID], promise[GRID]; /* latent; expected improvement */
    double best;
} curve;

/* Mean and sum of squares of deviations over the seeds, of what is measured. */
enum {
    ERROR,     /* root mean square of mean - f */
    COVERED,   /* share of f within 1.96 sd, percent */
    AMONG,     /* mean sd below the edge */
    ELSEWHERE, /* and beyond it */
    TOP,       /* expected improvement largest within 0.05 of the top, percent */
    MEASURES
};
typedef struct tally {
    size_t count;
    double mean[MEASURES], squares[MEASURES];
} tally;

static double hill(double x, double top, double width)
{
    return exp(-(x - top) * (x - top) / (2.0 * width * width));
}

static double truth(double x)
{
    return 2.0 * hill(x, 0.72, 0.06) + 1.2 * hill(x, 0.42, 0.08) - 0.6;
}

static double grid(size_t i)
{
    return (double)i / (double)(GRID - 1);
}

static toy make(long seed)
{
    draws d = {(uint64_t)seed * 0x9e3779b97f4a7c15u + 17};
    toy t;
    for (size_t i = 0; i < READINGS; ++i) {
        t.x[i] = draw_uniform(&d);
        t.y[i] = truth(t.x[i]) + noise * draw_normal(&d);
        const double luck = draw_uniform(&d), off = 2.0 + 2.0 * draw_uniform(&d);
        t.wrong[i] = t.x[i] < edge && luck < share;
        if (t.wrong[i]) t.y[i] += off;
    }
    return t;
}

static bool fit(const toy *t, const char *model, size_t size, curve *out)
{
    const bo_manner manner = {.size = size};
    bo_search s = {.manner = &manner, .model = model, .n = READINGS, .d = 1, .window = READINGS};
    double x[GRID], means[READINGS];
    s.ctx = hf_context_create();
    s.u = t->x;
    s.y = t->y;
    for (size_t i = 0; i < GRID; ++i) x[i] = grid(i);
    bool ok = s.ctx && bo_search_fit(&s) &&
              hf_predict(s.ctx, s.posterior, GRID, x, 1, out->mean, out->sd, NULL) >= 0 &&
              hf_predict(s.ctx, s.posterior, READINGS, t->x, 1, means, NULL, NULL) >= 0;
    if (ok) {
        out->best = means[0];
        for (size_t i = 1; i < READINGS; ++i) out->best = fmax(out->best, means[i]);
        for (size_t i = 0; i < GRID; ++i) {
            out->sd[i] = sqrt(fmax(out->sd[i], 0.0));
            out->promise[i] =
                hf_acquisition_value(HF_ACQUIRE_EI, out->mean[i], out->sd[i], out->best, 0.0, NULL, NULL);
        }
    } else if (s.ctx)
        fprintf(stderr, "%s: %s\n", model, hf_context_message(s.ctx));
    hf_posterior_free(s.posterior);
    hf_context_free(s.ctx);
    return ok;
}

static void add(tally *t, const curve *c)
{
    double m[MEASURES] = {0.0}, below = 0.0;
    size_t top = 0, asked = 0;
    for (size_t i = 0; i < GRID; ++i) {
        const double off = c->mean[i] - truth(grid(i));
        m[ERROR] += off * off / GRID;
        m[COVERED] += fabs(off) <= 1.96 * c->sd[i] ? 100.0 / GRID : 0.0;
        m[grid(i) < edge ? AMONG : ELSEWHERE] += c->sd[i];
        below += grid(i) < edge;
        if (truth(grid(i)) > truth(grid(top))) top = i;
        if (c->promise[i] > c->promise[asked]) asked = i;
    }
    m[ERROR] = sqrt(m[ERROR]);
    m[AMONG] /= below;
    m[ELSEWHERE] /= GRID - below;
    m[TOP] = fabs(grid(asked) - grid(top)) <= 0.05 ? 100.0 : 0.0;
    t->count += 1;
    for (size_t k = 0; k < MEASURES; ++k) {
        const double off = m[k] - t->mean[k];
        t->mean[k] += off / (double)t->count;
        t->squares[k] += off * (m[k] - t->mean[k]);
    }
}

static void print(const tally tallies[MODELS])
{
    puts("\nmean ± sd over seeds, but for the last column\n\n| model | RMSE of the mean | f within 95 %, % | "
         "sd "
         "below 0.25 | sd beyond | asks at the top, % |\n|---|---|---|---|---|---|");
    for (size_t m = 0; m < MODELS; ++m) {
        printf("| %s |", names[m]);
        for (size_t k = 0; k < TOP; ++k) {
            const size_t n = tallies[m].count;
            const double sd = n > 1 ? sqrt(tallies[m].squares[k] / (double)(n - 1)) : 0.0;
            printf(" %.3g ± %.2g |", tallies[m].mean[k], sd);
        }
        printf(" %.0f |\n", tallies[m].mean[TOP]);
    }
}

static void write_model(FILE *out, const curve *c, size_t m)
{
    fprintf(out, "$m%zu << EOD\n", m);
    for (size_t i = 0; i < GRID; ++i)
        fprintf(out, "%g %g %g %g %g %g\n", grid(i), c->mean[i], c->mean[i] - 1.96 * c->sd[i],
                c->mean[i] + 1.96 * c->sd[i], truth(grid(i)), c->promise[i]);
    fputs("EOD\n", out);
}

static bool draw(const toy *t, const curve curves[MODELS], const char *stem)
{
    static const char *const colours[MODELS] = {"#e0a030", "#8d6a9f", "#1f7a8c", "#d1495b"};
    picture p;
    picture_begin(&p);
    FILE *out = p.script;
    fputs("$readings << EOD\n", out);
    for (size_t i = 0; i < READINGS; ++i) fprintf(out, "%g %g %d\n", t->x[i], t->y[i], t->wrong[i]);
    fputs("EOD\n", out);
    for (size_t m = 0; m < MODELS; ++m) write_model(out, &curves[m], m);
    fputs(
        "set multiplot layout 1,5 margins 0.03,0.99,0.14,0.9 spacing 0.03,0.1\nset xlabel 'x' offset 0,0.5\n"
        "set xrange [0:1]\nset yrange [-2.5:4.5]\nset key top right samplen 1.5\n",
        out);
    for (size_t m = 0; m < MODELS; ++m) {
        fprintf(
            out,
            "set title '%s' offset 0,-0.5\nplot $m%zu using 1:3:4 with filledcurves fc rgb '%s' fs "
            "transparent solid 0.2 notitle, $m%zu using 1:5 with lines lw 1.5 dt 2 lc rgb '#404040' title "
            "'f', $m%zu using 1:2 with lines lw 2 lc rgb '%s' title 'mean', $readings using 1:($3 == 0 ? $2 "
            ": "
            "NaN) with points pt 7 ps 0.35 lc rgb '#909090' title 'readings', $readings using 1:($3 == 1 ? "
            "$2 : NaN) with points pt 2 ps 0.6 lc rgb '#d73027' title 'wrong'\nunset key\n",
            names[m], m, colours[m], m, m, colours[m]);
    }
    fputs("set title 'expected improvement / its largest' offset 0,-0.5\nset yrange [0:1.35]\nset key top "
          "left\n"
          "set arrow from 0.72, graph 0 to 0.72, graph 0.75 nohead dt 2 lc rgb '#404040'\nplot ",
          out);
    for (size_t m = 0; m < MODELS; ++m) {
        double most = 0.0;
        for (size_t i = 0; i < GRID; ++i) most = fmax(most, curves[m].promise[i]);
        fprintf(out, "%s$m%zu using 1:($6 / %g) with lines lw 2 lc rgb '%s' title '%s'", m ? ", " : "", m,
                most > 0.0 ? most : 1.0, colours[m], names[m]);
    }
    fputs("\nunset multiplot\n", out);
    return picture_draw(&p, stem, 1750, 380);
}

int main(int argc, char **argv)
{
    const char *stem = NULL;
    long first = 0, last = 19, size = 8;
    tally tallies[MODELS] = {{0}};
    curve curves[MODELS];
    bool good = true;
    const option_row rows[] = {
        option_range("seeds", "tables of readings (default 0..19)", &first, &last),
        option_number("size", "N", "inducing inputs, or actions (default 8)", &size, 2, 50),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png: the first seed", &stem)};
    options_read(
        argc, argv,
        "usage: rcagp-fig1 [option]...\nFour surrogates of a function of one input, with wrong readings "
        "where it is low.\n",
        "rcagp-fig1 --picture /tmp/fig1", sizeof rows / sizeof *rows, rows);
    for (long seed = last; good && seed >= first; --seed) {
        const toy t = make(seed);
        for (size_t m = 0; good && m < MODELS; ++m) {
            good = fit(&t, names[m], (size_t)size, &curves[m]);
            if (good) add(&tallies[m], &curves[m]);
        }
    }
    if (!good) return 1;
    printf("Figure 1, with seeds %ld..%ld, %d readings and %ld inducing inputs or actions. holdfast %s.\n",
           first, last, READINGS, size, hf_version());
    print(tallies);
    if (stem) {
        const toy t = make(first);
        good = draw(&t, curves, stem);
    }
    return good ? 0 : 1;
}
