/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and curves of bo_paper.h. */
#include <math.h>

#include "common/bo_paper.h"
#include "common/bo_surrogate.h"
#include "common/picture.h"

enum {
    PANELS_MOST = 128
};

/* Mean and sd (n - 1) over the seeds. */
typedef struct cell {
    size_t count;
    double mean, sd;
} cell;

static cell cell_of(const bo_plan *p, const bo_panel *panel, const char *model, size_t column)
{
    cell out = {0};
    double squares = 0.0;
    for (long seed = p->first; seed <= p->last; ++seed) {
        char name[BO_NAME];
        bo_plan_name(p, panel, model, seed, name);
        const double *values = env_rows_find(&p->rows, name);
        if (!values || isnan(values[column])) continue;
        const double off = values[column] - out.mean;
        out.count += 1;
        out.mean += off / (double)out.count;
        squares += off * (values[column] - out.mean);
    }
    out.sd = out.count > 1 ? sqrt(squares / (double)(out.count - 1)) : 0.0;
    return out;
}

static void print_value(cell c)
{
    printf(" %.4g ± %.2g |", c.mean, c.sd);
}

/* The place by the mean of the last column of the largest value, from 1; how many models have a larger one. */
static size_t rank_of(const bo_plan *p, const bo_panel *panel, const char *model)
{
    const double own = cell_of(p, panel, model, BO_TENTHS_SHOWN - 1).mean;
    size_t rank = 1;
    for (size_t m = 0; m < p->models.count; ++m) {
        const cell other = cell_of(p, panel, p->models.items[m], BO_TENTHS_SHOWN - 1);
        rank += other.count > 0 && other.mean > own;
    }
    return rank;
}

void bo_paper_print(const bo_plan *p)
{
    bo_panel panels[PANELS_MOST];
    const size_t count = bo_plan_panels(p, PANELS_MOST, panels);
    puts("\nLargest clean value, and the clean value at the reading with the largest posterior mean: mean ± "
         "sd "
         "over seeds.\n");
    puts("| problem | ask | wrong | model | seeds | start | half | end | place | at the mean | s a step |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < count; ++i)
        for (size_t m = 0; m < p->models.count; ++m) {
            const char *model = p->models.items[m];
            const cell end = cell_of(p, &panels[i], model, BO_TENTHS_SHOWN - 1);
            if (end.count == 0) continue;
            printf("| %s | %s | %s %% | %s | %zu |", panels[i].problem, panels[i].question, panels[i].wrong,
                   model, end.count);
            print_value(cell_of(p, &panels[i], model, 0));
            print_value(cell_of(p, &panels[i], model, BO_TENTHS_SHOWN / 2));
            print_value(end);
            printf(" %zu |", rank_of(p, &panels[i], model));
            print_value(cell_of(p, &panels[i], model, 2 * BO_TENTHS_SHOWN - 1));
            printf(" %.2g |\n", cell_of(p, &panels[i], model, BO_COLUMNS - 1).mean);
        }
}

/* The data of one line; false where there are no runs. */
static bool write_line(const bo_plan *p, FILE *out, const bo_panel *panel, size_t number, size_t model)
{
    const char *name = p->models.items[model];
    if (cell_of(p, panel, name, 0).count == 0) return false;
    fprintf(out, "$p%zu_%zu << EOD\n", number, model);
    for (size_t k = 0; k < BO_TENTHS_SHOWN; ++k) {
        const cell c = cell_of(p, panel, name, k);
        fprintf(out, "%g %.8g %.8g %.8g\n",
                (double)p->evaluations * (double)k / (double)(BO_TENTHS_SHOWN - 1), c.mean, c.mean - c.sd,
                c.mean + c.sd);
    }
    fputs("EOD\n", out);
    return true;
}

static bool draw_panel(const bo_plan *p, FILE *out, const bo_panel *panel, size_t number)
{
    static const char *const colours[] = {"#e0a030", "#8d6a9f", "#1f7a8c", "#d1495b",
                                          "#606060", "#3a7d44", "#b07d62", "#2f4b7c"};
    bool drawn[WORDS_MOST], any = false;
    for (size_t m = 0; m < p->models.count; ++m) {
        drawn[m] = write_line(p, out, panel, number, m);
        any = any || drawn[m];
    }
    if (!any) return false;
    fprintf(out, "set title '%s, %s, %s %% wrong'\nplot ", panel->problem, panel->question, panel->wrong);
    for (size_t m = 0, before = 0; m < p->models.count; ++m) {
        if (!drawn[m]) continue;
        const char *colour = colours[m % (sizeof colours / sizeof *colours)];
        fprintf(out,
                "%s$p%zu_%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.12 notitle, "
                "'' using 1:2 with lines lw 2 lc rgb '%s' title '%s'",
                before++ ? ", " : "", number, m, colour, colour, p->models.items[m]);
    }
    fputs("\nunset key\n", out); /* the first panel's holds for all */
    return true;
}

bool bo_paper_draw(const bo_plan *p)
{
    bo_panel panels[PANELS_MOST];
    const size_t count = bo_plan_panels(p, PANELS_MOST, panels);
    const size_t columns = count < 4 ? count : 4, lines = (count + columns - 1) / columns;
    bool any = false;
    picture pic;
    picture_begin(&pic);
    fprintf(pic.script,
            "set multiplot layout %zu,%zu\nset xlabel 'evaluations after the start'\n"
            "set ylabel 'largest clean value'\nset key bottom right samplen 1.5\n",
            lines, columns);
    for (size_t i = 0; i < count; ++i) any = draw_panel(p, pic.script, &panels[i], i) || any;
    fputs("unset multiplot\n", pic.script);
    if (!any) fprintf(stderr, "%s: there are no runs to draw\n", p->stem);
    return picture_draw(&pic, p->stem, (int)(400 * columns), (int)(330 * lines)) && any;
}
