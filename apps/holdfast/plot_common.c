/* SPDX-License-Identifier: Apache-2.0 */
/* What all gnuplot scripts have in common. */
#include "plot.h"

#include <math.h>

void plot_quoted(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            fputs("''", out);
        else
            fputc((unsigned char)*c < 32 ? ' ' : *c, out);
    }
}

void plot_number(FILE *out, double value)
{
    if (isnan(value))
        fputs(" NaN", out);
    else
        fprintf(out, " %.9g", value);
}

void plot_terminal(FILE *out, plot_format format, unsigned height, const char *output)
{
    fputs("set encoding utf8\nset terminal ", out);
    if (format == PLOT_SVG)
        fprintf(
            out,
            "svg size 1200,%u fixed font 'Helvetica,Arial,sans-serif' fontscale 1.0 noenhanced background "
            "'#ffffff'",
            height);
    else if (format == PLOT_PNG)
        fprintf(out,
                "pngcairo size 1800,%u font 'Sans,11' fontscale 1.45 linewidth 1.5 pointscale 2.2 noenhanced "
                "background '#ffffff'",
                height * 3 / 2);
    else
        fprintf(out, "pdfcairo size 12in,%.4gin font 'Sans,11' fontscale 1.0 noenhanced background '#ffffff'",
                height / 100.0);
    fputs("\nset output '", out);
    plot_quoted(out, output);
    fputs("'\n", out);
}

const char plot_style[] = "set border 3 linecolor '#8a8f98' linewidth 1\n"
                          "set tics nomirror out scale 0.5 textcolor '#4a4f57'\n"
                          "set grid linecolor '#e4e6ea' linetype 1 linewidth 0.7\n"
                          "unset key\n"
                          "set xlabel textcolor '#30343b' offset 0,0.3\n"
                          "set ylabel textcolor '#30343b' offset 0.6,0\n"
                          "blue = '#2f6690'\n"
                          "red = '#c8372d'\n";
