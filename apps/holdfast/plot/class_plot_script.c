/* SPDX-License-Identifier: Apache-2.0 */
/* The gnuplot script of a classifier's picture. */
#include "plot/plot.h"

#include <math.h>

enum {
    COLOURS = 8,
    MOST_POINTS = 4000 /* rows drawn of a class; more only make the file large */
};

/* Told apart by people who see few colours too (Okabe and Ito). */
static const unsigned char colours[COLOURS][3] = {{47, 102, 144},  {213, 94, 0},  {0, 158, 115},
                                                  {204, 121, 167}, {230, 159, 0}, {86, 180, 233},
                                                  {90, 80, 70},    {160, 150, 30}};

static const unsigned char *colour_of(size_t c)
{
    return colours[c % COLOURS];
}

static void print_colour(FILE *out, size_t c)
{
    const unsigned char *rgb = colour_of(c);
    fprintf(out, "'#%02x%02x%02x'", rgb[0], rgb[1], rgb[2]);
}

static void print_name(FILE *out, const char *before, const char *name, const char *after)
{
    fputs(before, out);
    plot_quoted(out, name);
    fputs(after, out);
}

/* ---- readings ------------------------------------------------------------------------------------------ */

static size_t count_rows(const plot_classes *data, size_t c)
{
    size_t count = 0;
    for (size_t i = 0; i < data->n; i++) count += data->label[i] == c ? 1 : 0;
    return count;
}

/* Where along a slice the rows of a class are drawn: of two classes at the probability that they stand for,
 * else below the curves. */
static double height_of(const plot_classes *data, size_t c)
{
    return data->classes == 2 ? (double)c : -0.05 - 0.035 * (double)c;
}

static void print_rows(FILE *out, const plot_classes *data, size_t c)
{
    const size_t count = count_rows(data, c),
                 step = count > MOST_POINTS ? (count + MOST_POINTS - 1) / MOST_POINTS : 1;
    size_t seen = 0;
    fprintf(out, "$class%zu << EOD\n", c);
    for (size_t i = 0; i < data->n; i++) {
        if (data->label[i] != c || seen++ % step != 0) continue;
        PLOT_ROW(out, data->inputs[data->maps ? 0 : data->column][i],
                 data->maps ? data->inputs[1][i] : height_of(data, c));
    }
    fputs("EOD\n", out);
}

static void plot_rows(FILE *out, const plot_classes *data)
{
    const double size = data->n <= 200 ? 1.0 : data->n <= 1000 ? 0.7 : 0.45;
    for (size_t c = 0; c < data->classes; c++) {
        /* White behind, so that a point shows on a map of its own colour. */
        if (data->maps)
            fprintf(
                out,
                ", $class%zu using 1:2 with points pointtype 7 pointsize %g linecolor rgb 'white' notitle", c,
                1.45 * size);
        fprintf(out, ", $class%zu using 1:2 with points pointtype %d pointsize %g linecolor rgb ", c,
                data->maps ? 7 : 6, size);
        print_colour(out, c);
        print_name(out, " title \"", hf_model_class(data->model, c), "\"");
    }
}

/* ---- a slice ------------------------------------------------------------------------------------------- */

/* The probability of class 1 where the latent function is `steps` standard deviations from its mean. */
static double shifted(const plot_classes *data, size_t k, double steps)
{
    double p = NAN;
    const double f = data->mean[k] + steps * sqrt(data->mean[data->m + k]);
    hf_class_probability(hf_classifier_link(hf_model_classifier(data->model)), f, 0.0, &p, NULL);
    return p;
}

static void print_curves(FILE *out, const plot_classes *data)
{
    fputs("$curve << EOD\n", out);
    for (size_t k = 0; k < data->m; k++) {
        plot_number(out, data->x[k * data->d + data->column]);
        for (size_t c = 0; c < data->classes; c++) plot_number(out, data->probability[k * data->classes + c]);
        if (data->banded) {
            plot_number(out, shifted(data, k, -HF_HALF_WIDTH_95));
            plot_number(out, shifted(data, k, HF_HALF_WIDTH_95));
        }
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}

static void print_class_slice(FILE *out, const plot_classes *data)
{
    const double bottom = data->classes == 2 ? -0.06 : height_of(data, data->classes);
    print_curves(out, data);
    fprintf(out, "set xrange [%.9g:%.9g]\nset yrange [%.4g:1.06]\nset ytics 0,0.25,1\n", data->low[0],
            data->high[0], bottom);
    fputs("set key outside right top samplen 1 spacing 1.3\nset ylabel 'probability'\n", out);
    print_name(out, "set xlabel \"", hf_model_feature(data->model, data->column), "\"\n");
    fputs("plot ", out);
    if (data->banded) {
        fputs("$curve using 1:4:5 with filledcurves fillcolor rgb '#e3e8ee' title '95 % of the latent', ",
              out);
        print_name(out, "$curve using 1:3 with lines linewidth 2.5 linecolor rgb '#30343b' title \"p(",
                   hf_model_class(data->model, 1), ")\"");
    } else {
        for (size_t c = 0; c < data->classes; c++) {
            fprintf(out, "%s$curve using 1:%zu with lines linewidth 2.5 linecolor rgb ", c > 0 ? ", " : "",
                    c + 2);
            print_colour(out, c);
            print_name(out, " title \"p(", hf_model_class(data->model, c), ")\"");
        }
    }
    plot_rows(out, data);
    fputc('\n', out);
}

/* ---- a map --------------------------------------------------------------------------------------------- */

/* The colours of the classes, each as strong as the class is probable; paler than the rows. */
static void print_map(FILE *out, const plot_classes *data)
{
    fputs("$map << EOD\n", out);
    for (size_t k = 0; k < data->m; k++) {
        double rgb[3] = {0.0, 0.0, 0.0};
        for (size_t c = 0; c < data->classes; c++) {
            const double p = data->probability[k * data->classes + c];
            for (size_t q = 0; q < 3; q++) rgb[q] += p * (0.6 * colour_of(c)[q] + 0.4 * 255.0);
        }
        plot_number(out, data->x[2 * k]);
        plot_number(out, data->x[2 * k + 1]);
        fprintf(out, " %.0f %.0f %.0f", rgb[0], rgb[1], rgb[2]);
        plot_number(out, data->probability[k * data->classes + 1]);
        fputs((k + 1) % data->side == 0 ? "\n\n" : "\n", out);
    }
    fputs("EOD\n", out);
}

static void print_maps(FILE *out, const plot_classes *data)
{
    const bool two = data->classes == 2;
    print_map(out, data);
    if (two)
        fputs(
            "set contour base\nset cntrparam levels discrete 0.1,0.5,0.9\nunset surface\nset table $levels\n"
            "splot $map using 1:2:6 with lines notitle\nunset table\nset surface\nunset contour\n",
            out);
    fprintf(out, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", data->low[0], data->high[0],
            data->low[1], data->high[1]);
    fputs("set key outside right top samplen 1 spacing 1.3\n", out);
    print_name(out, "set xlabel \"", hf_model_feature(data->model, 0), "\"\n");
    print_name(out, "set ylabel \"", hf_model_feature(data->model, 1), "\"\n");
    fputs("plot $map using 1:2:3:4:5 with rgbimage notitle", out);
    if (two)
        print_name(out, ", $levels using 1:2 with lines linewidth 1.2 linecolor rgb '#30343b' title \"p(",
                   hf_model_class(data->model, 1), ") 0.1, 0.5, 0.9\"");
    plot_rows(out, data);
    fputc('\n', out);
}

bool plot_classes_script(FILE *script, const plot_classes *data, plot_format format, const char *output)
{
    plot_begin(script, format, 700, output);
    print_name(script, "set title \"", hf_model_target(data->model), "");
    if (!data->maps && data->d > 1)
        print_name(script, " along ", hf_model_feature(data->model, data->column),
                   ", the other inputs at their medians");
    fputs("\" font ',14' textcolor '#1d2026'\n", script);
    for (size_t c = 0; c < data->classes; c++) print_rows(script, data, c);
    if (data->maps)
        print_maps(script, data);
    else
        print_class_slice(script, data);
    return plot_end(script, "set output\n");
}
