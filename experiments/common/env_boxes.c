/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_boxes.h"
#include "common/picture.h"

#include <stdio.h>

const double box_starts[BOX_STARTS][REACTOR_STATES] = {
    {2.7, 0.544}, {1.23, 0.81}, {1.365, 1.68}, {2.64, 1.33}};
const char *const box_columns[BOX_COLUMNS] = {"feed",
                                              "cA",
                                              "cB",
                                              "cA_low",
                                              "cA_high",
                                              "cB_low",
                                              "cB_high",
                                              "cA_closed_low",
                                              "cA_closed_high",
                                              "cB_closed_low",
                                              "cB_closed_high",
                                              "cA_lengthscale",
                                              "cB_lengthscale",
                                              "cA_norm",
                                              "cB_norm"};

const double *boxes_find(const env_rows *rows, size_t start, size_t step, char name[64])
{
    snprintf(name, 64, "start %zu, step %zu", start + 1, step);
    return env_rows_find(rows, name);
}

static double area(const double *box)
{
    return (box[1] - box[0]) * (box[3] - box[2]);
}

static bool holds(const double *box, const double *v)
{
    return box[0] <= v[BOX_STATE] && v[BOX_STATE] <= box[1] && box[2] <= v[BOX_STATE + 1] &&
           v[BOX_STATE + 1] <= box[3];
}

static bool safe(const double *box)
{
    return box[0] >= reactor_low[0] && box[1] <= reactor_high[0] && box[2] >= reactor_low[1] &&
           box[3] <= reactor_high[1];
}

/* Totals of the boxes from one start, or from all. */
typedef struct tally {
    size_t boxes, hold, safe[2];
    double area[2]; /* sums: optimal, closed form */
} tally;

static void report_boxes(size_t k, const double *v, tally *t)
{
    const double *const box[2] = {v + BOX_OPTIMAL, v + BOX_CLOSED};
    printf("| %zu | %.2f | %.4f | %.4f", k, v[BOX_FEED], v[BOX_STATE], v[BOX_STATE + 1]);
    for (int i = 0; i < 2; ++i) {
        printf(" | %.3f to %.3f | %.3f to %.3f | %.4f", box[i][0], box[i][1], box[i][2], box[i][3],
               area(box[i]));
        t->area[i] += area(box[i]);
        t->safe[i] += safe(box[i]);
    }
    printf(" | %.1f, %.1f | %.0f, %.0f |\n", v[BOX_LENGTHSCALE], v[BOX_LENGTHSCALE + 1], v[BOX_NORM],
           v[BOX_NORM + 1]);
    t->boxes += 1;
    t->hold += holds(box[0], v) && holds(box[1], v);
}

static tally report_start(const env_rows *rows, size_t steps, size_t start)
{
    tally t = {0};
    for (size_t k = 1; k <= steps; ++k) {
        char name[64];
        const double *v = boxes_find(rows, start, k, name);
        if (!v) continue;
        if (t.boxes == 0)
            printf("\nFrom (%g, %g):\n\n"
                   "| step | feed | cA | cB | optimal: cA | cB | area | closed form: cA | cB | area | "
                   "lengthscales | norms |\n"
                   "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
                   box_starts[start][0], box_starts[start][1]);
        report_boxes(k, v, &t);
    }
    return t;
}

static void report_tally(const char *name, const tally *t)
{
    const double count = (double)t->boxes;
    printf("| %s | %.4f | %.4f | %zu of %zu | %zu | %zu |\n", name, t->area[0] / count, t->area[1] / count,
           t->hold, t->boxes, t->safe[0], t->safe[1]);
}

void boxes_report(const env_rows *rows, size_t steps)
{
    tally each[BOX_STARTS], all = {0};
    for (size_t i = 0; i < BOX_STARTS; ++i) {
        each[i] = report_start(rows, steps, i);
        all.boxes += each[i].boxes;
        all.hold += each[i].hold;
        for (int kind = 0; kind < 2; ++kind) {
            all.area[kind] += each[i].area[kind];
            all.safe[kind] += each[i].safe[kind];
        }
    }
    if (!all.boxes) return;
    puts("\n| from | mean area: optimal | closed form | the reactor is in both | within the constraints: "
         "optimal | closed form |\n"
         "|---|---|---|---|---|---|\n"
         "| printed | 0.0741 | 0.1780 | | all | all but one |");
    for (size_t i = 0; i < BOX_STARTS; ++i) {
        char name[64];
        snprintf(name, sizeof name, "(%g, %g)", box_starts[i][0], box_starts[i][1]);
        if (each[i].boxes) report_tally(name, &each[i]);
    }
    report_tally("all", &all);
}

static void print_boxes(FILE *out, const env_rows *rows, size_t steps, int first, const char *colour)
{
    int object = 0;
    for (size_t i = 0; i < BOX_STARTS; ++i)
        for (size_t k = 1; k <= steps; ++k) {
            char name[64];
            const double *v = boxes_find(rows, i, k, name);
            if (!v) continue;
            const double *b = v + first;
            fprintf(
                out,
                "set object %d rectangle from %.6g,%.6g to %.6g,%.6g fc rgb '%s' fs transparent solid 0.1 "
                "border lc rgb '%s'\n",
                ++object, b[0], b[2], b[1], b[3], colour, colour);
        }
}

/* The first of the starts over time. */
static void print_trace(FILE *out, int state)
{
    fprintf(out,
            "unset object\nset xlabel 'step'\nset xrange [-0.3:8.3]\nset ylabel '%s' offset 1\nset yrange "
            "[%s]\nset key top right\nplot %g with lines dt 2 lc rgb "
            "'#a03030' notitle, %g with lines dt 2 lc rgb '#a03030' notitle, $s0 using 1:%d:%d with "
            "filledcurves fc rgb '#cde6d0' title 'closed form', "
            "$s0 using 1:%d:%d with filledcurves fc rgb '#8fb4d9' title 'optimal', $s0 using 1:%d with "
            "linespoints pt 7 ps 0.5 lw 1.5 lc rgb '#202020' title "
            "'reactor'\n",
            state ? "c_B" : "c_A", state ? "0.3:1.7" : "0.8:3.7", reactor_low[state], reactor_high[state],
            8 + 2 * state, 9 + 2 * state, 4 + 2 * state, 5 + 2 * state, 2 + state);
}

static void print_data(FILE *out, const env_rows *rows, size_t steps, size_t start)
{
    const double *x = box_starts[start];
    fprintf(out, "$s%zu << EOD\n0 %g %g %g %g %g %g %g %g %g %g\n", start, x[0], x[1], x[0], x[0], x[1], x[1],
            x[0], x[0], x[1], x[1]);
    for (size_t k = 1; k <= steps; ++k) {
        char name[64];
        const double *v = boxes_find(rows, start, k, name);
        if (!v) continue;
        fprintf(out, "%zu", k);
        for (int i = BOX_STATE; i < BOX_LENGTHSCALE; ++i) fprintf(out, " %.6g", v[i]);
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}

bool boxes_picture(const env_rows *rows, size_t steps, const char *stem)
{
    static const char *const titles[2] = {"optimal", "closed form"};
    static const char *const colours[2] = {"#1f4e79", "#4dac6e"};
    picture p;
    picture_begin(&p);
    for (size_t i = 0; i < BOX_STARTS; ++i) print_data(p.script, rows, steps, i);
    fputs("set multiplot layout 2,2 margins 0.07,0.985,0.09,0.95 spacing 0.08,0.13\nset style fill solid\n",
          p.script);
    for (int i = 0; i < 2; ++i) {
        print_boxes(p.script, rows, steps, i ? BOX_CLOSED : BOX_OPTIMAL, colours[i]);
        fprintf(
            p.script,
            "set title '%s'\nset xlabel 'c_A'\nset ylabel 'c_B' offset 1\nset xrange [0.9:3.1]\nset "
            "yrange [0.3:2.1]\nset object 100 rectangle from 1,0.5 to 3,2 fs empty border rgb "
            "'#a03030' dt 2\nplot for [i=0:%d] '$s'.i using 2:3 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb "
            "'#202020' notitle, "
            "'+' using (%g):(%g) every ::0::0 with points pt 3 ps 1.2 lc "
            "rgb '#c02020' title 'target'\nunset object\n",
            titles[i], BOX_STARTS - 1, reactor_target[0], reactor_target[1]);
    }
    fputs("unset title\n", p.script);
    for (int state = 0; state < REACTOR_STATES; ++state) print_trace(p.script, state);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1100, 820);
}
