/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that all gnuplot scripts have in common. */
#include "plot/plot.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* One byte inside double quotes, where gnuplot runs what stands in backticks and puts in what
 * follows @: all but plain ones by number. */
static void print_byte(FILE *out, unsigned char c)
{
    const bool plain = c >= 0x80 || isalnum(c) || (c != '\0' && strchr(" ()[].,:;/_+-*=<>%'", c) != NULL);
    if (plain)
        fputc(c, out);
    else
        fprintf(out, "\\%03o", (unsigned)c);
}

/* No picture can show the character: control characters, also those of two bytes, and U+FFFE and
 * U+FFFF, which XML has no word for. */
static bool is_hidden(const unsigned char *s)
{
    return s[0] < 0x20 || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0) ||
           (s[0] == 0xEF && s[1] == 0xBF && s[2] >= 0xBE);
}

static void print_quoted_text(FILE *out, const char *text, bool format)
{
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        const size_t length = utf8_character((const char *)s);
        if (length == 0)
            fputs("\xEF\xBF\xBD", out);
        else if (is_hidden(s))
            fputc(' ', out);
        else
            for (size_t k = 0; k < length; k++) print_byte(out, s[k]);
        if (format && *s == '%') fputc('%', out);
        /* "]]>" ends what SVG, being XML, is: a blank without width goes between. */
        if (s[0] == ']' && s[1] == ']' && s[2] == '>') {
            fputs("]\xE2\x80\x8B", out);
            s++;
        }
        s += length > 0 ? length : 1;
    }
}

void plot_quoted(FILE *out, const char *text)
{
    print_quoted_text(out, text, false);
}

/* gnuplot takes the text for a format. */
void plot_tic(FILE *out, bool first, const char *text, size_t at)
{
    fputs(first ? "\"" : ", \"", out);
    print_quoted_text(out, text, true);
    fprintf(out, "\" %zu", at);
}

void plot_number(FILE *out, double value)
{
    if (isnan(value))
        fputs(" NaN", out);
    else
        fprintf(out, " %.9g", value);
}

void plot_row(FILE *out, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++) plot_number(out, values[k]);
    fputc('\n', out);
}

static const char style[] = "set border 3 linecolor '#8a8f98' linewidth 1\n"
                            "set tics nomirror out scale 0.5 textcolor '#4a4f57'\n"
                            "set grid linecolor '#e4e6ea' linetype 1 linewidth 0.7\n"
                            "unset key\n"
                            "set xlabel textcolor '#30343b' offset 0,0.3\n"
                            "set ylabel textcolor '#30343b' offset 0.6,0\n"
                            "blue = '#2f6690'\n"
                            "red = '#c8372d'\n";

static void print_terminal(FILE *out, plot_format format, unsigned height)
{
    fputs("set encoding utf8\nset terminal ", out);
    if (format == PLOT_SVG)
        fprintf(out,
                "svg size 1200,%u fixed font 'Helvetica,Arial,sans-serif' fontscale 1.0 noenhanced "
                "background '#ffffff'",
                height);
    else if (format == PLOT_PNG)
        fprintf(out,
                "pngcairo size 1800,%u font 'Sans,11' fontscale 1.45 linewidth 1.5 pointscale 2.2 noenhanced "
                "background '#ffffff'",
                height * 3 / 2);
    else
        fprintf(out, "pdfcairo size 12in,%.4gin font 'Sans,11' fontscale 0.7 noenhanced background '#ffffff'",
                height / 100.0);
    fputc('\n', out);
}

static void print_output(FILE *out, const char *output)
{
    /* A name that begins with | would be a command, one that begins with ~ a home. */
    fputs(output[0] == '/' ? "set output \"" : "set output \"./", out);
    for (const char *c = output; *c != '\0'; c++) print_byte(out, (unsigned char)*c);
    fputs("\"\n", out);
}

void plot_begin(FILE *out, plot_format format, unsigned height, const char *output)
{
    print_terminal(out, format, height);
    if (output != NULL) print_output(out, output);
    fputs(style, out);
}

bool plot_end(FILE *out, const char *text)
{
    fputs(text, out);
    return fflush(out) == 0 && !ferror(out);
}

const char plot_key_above[] =
    "set key at graph 1, graph 1.1 right top horizontal maxrows 1 samplen 1 font ',10' textcolor '#30343b'\n";

void plot_include(double range[2], double value)
{
    if (!isfinite(value)) return;
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

/* "set yrange" with a little room; one value gets some, and where there is none gnuplot still wants a range. */
void plot_range(FILE *out, const char *axis, const double range[2])
{
    const double size = range[1] - range[0], room = size > 0.0 ? 0.06 * size : 1.0;
    if (range[0] <= range[1])
        fprintf(out, "set %srange [%.9g:%.9g]\n", axis, range[0] - room, range[1] + room);
    else
        fprintf(out, "set %srange [0:1]\n", axis);
}

/* Where a panel stands, in shares of the picture. */
void plot_panel(FILE *out, double left, double right, double bottom, double top)
{
    fprintf(out, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", left, right);
    fprintf(out, "set bmargin at screen %.4f\nset tmargin at screen %.4f\n", bottom, top);
}

void plot_label(FILE *out, const char *axis, const char *text)
{
    fprintf(out, "set %slabel \"", axis);
    plot_quoted(out, text);
    fputs("\"\n", out);
}

size_t plot_longest_tic(const double range[2], double step)
{
    char number[32];
    size_t longest = 1;
    for (double k = ceil(range[0] / step); k * step <= range[1]; k++) {
        const int length = snprintf(number, sizeof number, "%g", k * step);
        if ((size_t)length > longest) longest = (size_t)length;
    }
    return longest;
}

/* The closest tics, 1, 2 or 5 times a power of ten apart, whose numbers have room beside each other; 0: leave
 * it to gnuplot. */
double plot_tic_step(const double range[2], double points)
{
    static const double nice[] = {1.0, 2.0, 5.0};
    const double span = range[1] - range[0];
    if (!(span > 0.0)) return 0.0;
    double power = pow(10.0, floor(log10(span / 12.0)));
    for (size_t k = 0; k < 9; k++) {
        const double step = nice[k % 3] * power;
        if (span / step <= 12.0 && points * step / span >= 8.0 * (double)plot_longest_tic(range, step) + 14.0)
            return step;
        if (k % 3 == 2) power *= 10.0;
    }
    return 0.0;
}
