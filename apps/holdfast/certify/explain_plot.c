/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of scores of inputs: a bar each, the strongest first, or a heat map of an image. */
#include "certify/explain_plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    BARS = 30 /* inputs that are drawn; more are not legible */
};

static double middle(const explain_picture *data, size_t j)
{
    return 0.5 * (data->lower[j] + data->upper[j]);
}

static void print_title(FILE *out, const explain_picture *data)
{
    const hf_model *model = data->run->model;
    fputs("set label 1 \"", out);
    if (data->run->classifier != NULL) {
        fputs("What raising an input does to p(", out);
        plot_quoted(out, hf_model_class(model, data->of));
        fputs(")", out);
    } else {
        fputs("What raising an input does to ", out);
        plot_quoted(out,
                    hf_model_outputs(model) > 1 ? hf_model_output(model, data->of) : hf_model_target(model));
    }
    if (data->run->m > 1) fprintf(out, ", average of %zu rows", data->run->m);
    fprintf(out, "\"%s", certified_heading);
}

/* ---- bars ---------------------------------------------------------------------------------------------------- */

/* The inputs that move, the strongest first; how many are drawn. */
static size_t choose_bars(const explain_picture *data, ranked *list)
{
    size_t count = 0;
    for (size_t j = 0; j < data->run->d; j++)
        if (data->run->unit[j] != 0.0) list[count++] = (ranked){fabs(middle(data, j)), j};
    qsort(list, count, sizeof *list, largest_first);
    return count < BARS ? count : BARS;
}

static void print_bars(FILE *out, const explain_picture *data, const ranked *list, size_t count)
{
    fputs("$bars << EOD\n", out);
    for (size_t k = 0; k < count; k++) {
        const size_t j = list[k].index;
        fprintf(out, "%zu", count - k);
        PLOT_ROW(out, middle(data, j), data->lower[j], data->upper[j]);
    }
    fputs("EOD\nset ytics scale 0 (", out);
    for (size_t k = 0; k < count; k++)
        plot_tic(out, k == 0, hf_model_feature(data->run->model, list[k].index), count - k);
    fprintf(out, ")\nset yrange [0.3:%.9g]\nset xlabel 'score, with what it is surely between'\n",
            (double)count + 0.7);
    fputs("set xzeroaxis\nset arrow from 0, graph 0 to 0, graph 1 nohead linecolor rgb '#8a8f98'\n", out);
    fputs("plot $bars using (0.5*$2):1:(abs(0.5*$2)):(0.32):($2 < 0 ? 0xc8372d : 0x2f6690) with boxxyerror "
          "fillstyle solid 0.85 noborder linecolor rgb variable, $bars using 2:1:3:4 with xerrorbars "
          "pointtype 0 linewidth 2 linecolor rgb '#30343b'\n",
          out);
}

/* ---- heat map ------------------------------------------------------------------------------------------------ */

static void print_map(FILE *out, const explain_picture *data)
{
    double most = 0.0;
    fputs("$map << EOD\n", out);
    for (size_t i = 0; i < data->rows; i++) {
        for (size_t k = 0; k < data->columns; k++) {
            const double value = middle(data, i * data->columns + k);
            most = fmax(most, fabs(value));
            plot_number(out, value);
        }
        fputc('\n', out);
    }
    if (!(most > 0.0)) most = 1.0;
    fprintf(out,
            "EOD\nset palette defined (-1 '#c8372d', 0 '#ffffff', 1 '#2f6690')\nset cbrange [%.9g:%.9g]\n",
            -most, most);
    fprintf(out,
            "set size ratio %.9g\nset xrange [-0.5:%.9g]\nset yrange [%.9g:-0.5]\nunset grid\nset border 0\n",
            (double)data->rows / (double)data->columns, (double)data->columns - 0.5,
            (double)data->rows - 0.5);
    fputs("unset tics\nset cbtics scale 0.5\nset cblabel 'score'\nplot $map matrix with image\n", out);
}

static bool script(FILE *out, const void *any, plot_format format, const char *output)
{
    const explain_picture *data = any;
    if (data->rows > 0) {
        plot_begin(out, format, 1000, output);
        print_title(out, data);
        print_map(out, data);
    } else {
        ranked *list = calloc(data->run->d + 1, sizeof *list);
        if (list == NULL) return false;
        const size_t count = choose_bars(data, list);
        plot_begin(out, format, (unsigned)(160 + 32 * count), output);
        print_title(out, data);
        print_bars(out, data, list, count);
        free(list);
    }
    return plot_end(out, "set output\n");
}

hf_status explain_draw(certified *run, const explain_picture *data)
{
    return certified_draw(run, script, data);
}
