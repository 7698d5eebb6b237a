/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_pictures.h"
#include "common/picture.h"

#include <math.h>

enum {
    LINES = 8
};

typedef struct curve {
    const char *name, *colour, *label;
} curve;

typedef struct panel {
    const char *title, *group;
    curve lines[LINES];
} panel;

#define EVERY_METHOD                                                                                         \
    {                                                                                                        \
        {"sparq", "#d1495b", "SparQ"}, {"tv-gp-ucb", "#1f7a8c", "TV"}, {"ui-gp-ucb", "#8d6a9f", "UI"},       \
            {"gp-ucb", "#606060", "GP-UCB"}, {"w-gp-ucb", "#e0a030", "W"}, {"sw-gp-ucb", "#5a8f3c", "SW"},   \
        {                                                                                                    \
            "r-gp-ucb", "#0b2545", "R"                                                                       \
        }                                                                                                    \
    }

static const panel panels[] = {
    {"beta = 2, baselines tuned", "practical", EVERY_METHOD},
    {"the theorem''s beta", "theory", EVERY_METHOD},
    {"recommended windows (dashed: change 1)",
     "recommended",
     {{"tv-gp-ucb", "#1f7a8c", "TV"},
      {"w-gp-ucb", "#e0a030", "W"},
      {"sw-gp-ucb", "#5a8f3c", "SW"},
      {"r-gp-ucb", "#0b2545", "R"},
      {"w-gp-ucb, change 1", "#e0a030", NULL},
      {"sw-gp-ucb, change 1", "#5a8f3c", NULL},
      {"r-gp-ucb, change 1", "#0b2545", NULL}}},
    {"one in ten wrong",
     "outliers",
     {{"sparq", "#d1495b", "SparQ, robust"},
      {"sparq, Gaussian sites", "#0b2545", "SparQ, Gaussian"},
      {"tv-gp-ucb", "#1f7a8c", "TV"},
      {"gp-ucb", "#606060", "GP-UCB"}}},
    {"few answers",
     "few",
     {{"sparq, 1 a step", "#d1495b", "1 a step, discarded"},
      {"sparq-reuse, 1 a step", "#1f7a8c", "1 a step, re-used"},
      {"sparq, every 10 steps", "#e0a030", "every 10 steps, discarded"},
      {"sparq-reuse, every 10 steps", "#5a8f3c", "every 10 steps, re-used"}}},
};

static void print_data(FILE *out, const env_rows *rows, const char *prefix, const sparq_case *c, size_t which)
{
    fprintf(out, "$line%zu << EOD\n", which);
    size_t lines = 0;
    for (size_t k = 0; k < SPARQ_CHECKS; ++k) {
        const sparq_summary s = sparq_case_summary(rows, prefix, c, k);
        if (!s.count) continue;
        fprintf(out, "%zu %.5g %.5g %.5g\n", sparq_checks[k], s.mean, fmax(s.mean - s.sd, 1e-3),
                s.mean + s.sd);
        lines += 1;
    }
    if (!lines) fputs("1 NaN NaN NaN\n", out);
    fputs("EOD\n", out);
}

static void print_panel(FILE *out, const env_rows *rows, const panel *p)
{
    size_t count = 0;
    for (; count < LINES && p->lines[count].name; ++count)
        print_data(out, rows, "", sparq_case_find(p->group, p->lines[count].name), count);
    fprintf(out, "set title '%s'\nplot", p->title);
    for (size_t i = 0; i < count; ++i)
        fprintf(out,
                "%s $line%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.12 notitle",
                i ? "," : "", i, p->lines[i].colour);
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, ", $line%zu using 1:2 with lines lw 2 %s lc rgb '%s' ", i,
                p->lines[i].label ? "" : "dt 2", p->lines[i].colour);
        if (p->lines[i].label)
            fprintf(out, "title '%s'", p->lines[i].label);
        else
            fputs("notitle", out);
    }
    fputc('\n', out);
}

static void print_requests(FILE *out, const env_rows *rows, const char *prefix)
{
    print_data(out, rows, prefix, sparq_case_find("practical", "sparq"), 0);
    fputs(
        "unset logscale y\nset yrange [0:*]\nset ylabel 'requests'\nset key top left\nset title 'requests at "
        "step t'\n"
        "plot $line0 using 1:2 with points pt 7 lc rgb '#d1495b' title 'SparQ', ceil(6*log(x)) with lines "
        "lc rgb '#606060' "
        "title 'ceil(6 log t)'\n",
        out);
}

bool sparq_picture_synthetic(const env_rows *rows, const char *requests_prefix, const char *stem)
{
    picture p;
    picture_begin(&p);
    fputs("set multiplot layout 2,3\nset xlabel 'step t'\nset ylabel 'average regret R_t / t'\nset logscale "
          "x\nset logscale y\n"
          "set xrange [2:500]\nset yrange [0.01:2]\nset key bottom left samplen 1.5 font ',10'\n",
          p.script);
    for (size_t i = 0; i < sizeof panels / sizeof *panels; ++i) print_panel(p.script, rows, &panels[i]);
    print_requests(p.script, rows, requests_prefix);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1300, 850);
}
