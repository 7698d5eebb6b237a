/* SPDX-License-Identifier: Apache-2.0 */
#include "common/picture.h"

#include <stdlib.h>

static const char style[] = "set encoding utf8\n"
                            "set border 3 lc rgb '#606060'\n"
                            "set tics nomirror textcolor rgb '#404040'\n"
                            "set grid lc rgb '#e8e8e8' lt 1\n"
                            "set key textcolor rgb '#404040'\n";

void picture_begin(picture *p)
{
    *p = (picture){0};
    p->script = open_memstream(&p->text, &p->length);
    if (!p->script || fputs(style, p->script) < 0) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
}

/* Inside single quotes gnuplot expands nothing; a quote is written twice. */
void picture_quote(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; ++text) {
        if (*text == '\'') fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static bool draw(const picture *p, const char *terminal, const char *stem, const char *suffix)
{
    char path[1100];
    FILE *gnuplot = popen("gnuplot", "w");
    if (!gnuplot) return false;
    snprintf(path, sizeof path, "%s%s", stem, suffix);
    fprintf(gnuplot, "%s\nset output ", terminal);
    picture_quote(gnuplot, path);
    fputc('\n', gnuplot);
    const bool written =
        fwrite(p->text, 1, p->length, gnuplot) == p->length && fputs("unset output\n", gnuplot) >= 0;
    return pclose(gnuplot) == 0 && written;
}

bool picture_draw(picture *p, const char *stem, int width, int height)
{
    char svg[200], png[200];
    bool ok = fclose(p->script) == 0;
    snprintf(svg, sizeof svg, "set terminal svg size %d,%d font 'DejaVu Sans,14' background 'white'", width,
             height);
    snprintf(png, sizeof png, "set terminal pngcairo size %d,%d font 'DejaVu Sans,11' background 'white'",
             width, height);
    ok = ok && draw(p, svg, stem, ".svg") && draw(p, png, stem, ".png");
    if (ok)
        printf("\nPictures: %s.svg, %s.png\n", stem, stem);
    else
        fprintf(stderr, "%s.svg, .png: not drawn; is gnuplot installed?\n", stem);
    free(p->text);
    *p = (picture){0};
    return ok;
}
