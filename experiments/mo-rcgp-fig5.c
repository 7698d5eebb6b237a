/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-fig5.c
 * @brief Figure 5: ten outputs, a tenth of the samples wrong in the first S outputs at once; how errors grow with S.
 *
 * 80 inputs uniform on (0, 1); B_ij = 1 - 0.1 |i - j|, squared exponential kernel with lengthscale 0.1, noise
 * of sd 0.05. Eight samples get a vector added to their first S readings: of uniform entries on (0.5, 1.5),
 * scaled to a Mahalanobis length (of B) uniform on (10, 15), with one sign for all. The models have the true
 * hyperparameters, as in the paper, and the averages of the readings as prior mean; default and independent
 * find their own. Scored in sample as in Table 1.
 */
#include "common/mo_table.h"
#include "common/picture.h"

#include <math.h>
#include <string.h>

enum {
    OUTPUTS = 10,
    SAMPLES = 80
};

static double b[OUTPUTS * OUTPUTS];
static const mo_model model = {OUTPUTS, b, 0.1, 0.05};

/* S, from "0" to "10"; -1 for anything else. */
static long wrong_outputs(const char *kind)
{
    for (long s = 0; s <= OUTPUTS; ++s) {
        char name[8];
        snprintf(name, sizeof name, "%ld", s);
        if (strcmp(name, kind) == 0) return s;
    }
    return -1;
}

static bool data(hf_context *ctx, const char *folder, const char *kind, uint64_t seed, mo_draw_result *out)
{
    (void)ctx;
    (void)folder;
    draws stream = {seed * 0x2545f4914f6cdd1du + 5};
    bool chosen[SAMPLES];
    const size_t wrong = (size_t)wrong_outputs(kind);
    out->data = mo_draw_problem(&stream, &model, SAMPLES, 0.0, 1.0, &out->latent);
    mo_choose(&stream, SAMPLES, SAMPLES / 10, chosen);
    for (size_t i = 0; i < SAMPLES && wrong > 0; ++i) {
        double v[OUTPUTS];
        if (!chosen[i]) continue;
        const double sign = draw_uniform(&stream) < 0.5 ? -1.0 : 1.0,
                     length = 10.0 + 5.0 * draw_uniform(&stream);
        for (size_t t = 0; t < OUTPUTS; ++t) v[t] = 0.5 + draw_uniform(&stream);
        const double scale = length / sqrt(mo_mahalanobis(wrong, v, OUTPUTS, b));
        for (size_t t = 0; t < wrong; ++t) {
            out->data.y[i * OUTPUTS + t] += sign * scale * v[t];
            out->data.wrong[i * OUTPUTS + t] = true;
        }
    }
    return true;
}

static void terms(const char *kind, mo_terms *out)
{
    const long wrong = wrong_outputs(kind);
    out->kernel = out->own_kernel = "se";
    out->average = true;
    out->nu = 3.0;
    for (long t = 0; t < OUTPUTS; ++t) out->eps[t] = t < wrong ? 0.1 : 0.0;
    out->known = &model;
}

/* ---- growth ------------------------------------------------------------------------------------------------ */

static void print_growth(const records *done, const words *kinds, const words *models)
{
    puts("\n### RMSE over RMSE without wrong readings (S = 0)\n");
    printf("| S |");
    for (size_t m = 0; m < models->count; ++m) printf(" %s |", models->items[m]);
    printf("\n|---|");
    for (size_t m = 0; m < models->count; ++m) printf("---|");
    putchar('\n');
    for (size_t k = 0; k < kinds->count; ++k) {
        printf("| %s |", kinds->items[k]);
        for (size_t m = 0; m < models->count; ++m) {
            const summary now =
                              mo_table_sum(done, "readings", kinds->items[k], models->items[m], record_rmse),
                          clean = mo_table_sum(done, "readings", "0", models->items[m], record_rmse);
            if (now.count && clean.count)
                printf(" %.2f |", now.mean / clean.mean);
            else
                printf("  |");
        }
        putchar('\n');
    }
}

static void print_panel(FILE *out, const words *models, size_t first, const char *title, bool bars)
{
    static const char *const colours[] = {"#e0a030", "#1f4e79", "#4dac6e", "#a05fb0", "#c05050", "#707070"};
    fprintf(out, "set ylabel '%s'\nplot ", title);
    for (size_t m = 0; m < models->count; ++m) {
        fprintf(out, "%s$data using 1:%zu", m ? ", \\\n " : "", first + 4 * m);
        if (bars) fprintf(out, ":%zu", first + 1 + 4 * m);
        fprintf(out, " with %s lw 2 pt 7 ps 0.5 lc rgb '%s' title '%s%s'",
                bars ? "yerrorlines" : "linespoints", colours[m % 6],
                mo_method_is_ours(models->items[m]) ? "Holdfast: " : "", models->items[m]);
    }
    fputc('\n', out);
}

static void draw(const records *done, const words *kinds, const words *models, const char *stem)
{
    picture p;
    picture_begin(&p);
    fputs("$data << EOD\n", p.script);
    for (size_t k = 0; k < kinds->count; ++k) {
        fprintf(p.script, "%s", kinds->items[k]);
        for (size_t m = 0; m < models->count; ++m) {
            const summary rmse =
                              mo_table_sum(done, "readings", kinds->items[k], models->items[m], record_rmse),
                          nlpd =
                              mo_table_sum(done, "readings", kinds->items[k], models->items[m], record_nlpd);
            if (rmse.count)
                fprintf(p.script, " %.6g %.6g %.6g %.6g", rmse.mean, rmse.sd, nlpd.mean, nlpd.sd);
            else
                fputs(" NaN NaN NaN NaN", p.script);
        }
        fputc('\n', p.script);
    }
    fputs("EOD\nset multiplot layout 1,2 margins 0.07,0.985,0.13,0.93 spacing 0.08\nset xlabel 'S, wrong "
          "outputs of ten'\nset xrange [-0.5:10.5]\nset key top left Left reverse\nset logscale y\nset "
          "yrange [0.02:20]\n",
          p.script);
    print_panel(p.script, models, 2, "RMSE", true);
    fputs("unset logscale\nset yrange [-2:15]\nunset key\n", p.script);
    print_panel(p.script, models, 4, "NLPD", false);
    fputs("unset multiplot\n", p.script);
    picture_draw(&p, stem, 1200, 460);
}

static void more(const records *done, const words *kinds, const words *models, const char *stem)
{
    print_growth(done, kinds, models);
    if (stem) draw(done, kinds, models, stem);
}

int main(int argc, char **argv)
{
    static const mo_table table = {
        .program = "mo-rcgp-fig5",
        .title = "Figure 5: ten outputs, S of them wrong at once in a tenth of the samples",
        .kinds = "0,1,2,3,4,5,6,7,8,9,10",
        .models = "MOGP,MO-RCGP,morcgp,joint,recentred,default",
        .latent = true,
        .data = data,
        .terms = terms,
        .more = more,
    };
    for (size_t i = 0; i < OUTPUTS; ++i)
        for (size_t j = 0; j < OUTPUTS; ++j) b[i * OUTPUTS + j] = 1.0 - 0.1 * fabs((double)i - (double)j);
    return mo_table_main(argc, argv, &table);
}
