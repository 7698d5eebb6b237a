/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_curves.h"
#include "common/picture.h"

#include <math.h>

static const char *const colours[] = {"#e0a030", "#1f4e79", "#4dac6e", "#a05fb0", "#c05050", "#707070"};

enum {
    COLOURS = sizeof colours / sizeof *colours
};

static void print_readings(FILE *out, const mo_curves *what, size_t t)
{
    const problem *p = what->data;
    const size_t outputs = mo_outputs(p);
    fprintf(out, "$readings%zu << EOD\n", t);
    for (size_t i = t; i < p->n; i += outputs) {
        const double x = p->x[i * p->d];
        if (!isnan(p->y[i])) fprintf(out, "%.8g %.8g %d\n", x, p->y[i], p->wrong[i] ? 1 : 0);
        if (what->hidden && !isnan(what->hidden[i])) fprintf(out, "%.8g %.8g 2\n", x, what->hidden[i]);
    }
    fputs("EOD\n", out);
}

/* Columns: x, function, then mean and half width of the 95 % band of each model. */
static void print_curves(FILE *out, const mo_curves *what, size_t t, size_t count, const mo_result *results)
{
    const problem *p = what->data;
    fprintf(out, "$curves%zu << EOD\n", t);
    for (size_t i = t; i < p->m; i += mo_outputs(p)) {
        fprintf(out, "%.8g %.8g", p->tx[i * p->d], what->latent ? what->latent[i] : NAN);
        for (size_t m = 0; m < count; ++m)
            fprintf(out, " %.8g %.8g", results[m].mean[i],
                    HF_HALF_WIDTH_95 * (what->latent_bands ? results[m].latent_sd[i] : results[m].sd[i]));
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}

/* Room above and below the readings; bands may leave it. */
static void print_range(FILE *out, const mo_curves *what, size_t t)
{
    const problem *p = what->data;
    double least = INFINITY, most = -INFINITY;
    for (size_t i = t; i < p->n; i += mo_outputs(p)) {
        const double y = !isnan(p->y[i]) ? p->y[i] : what->hidden ? what->hidden[i] : NAN;
        least = fmin(least, y);
        most = fmax(most, y);
    }
    const double room = 0.2 * (most - least);
    fprintf(out, "set yrange [%.8g:%.8g]\n", least - room, most + room);
}

static void print_panel(FILE *out, const mo_curves *what, size_t t, const words *models)
{
    const bool keyed = t == 0;
    print_range(out, what, t);
    fprintf(out, "set title '%s'\n%s\nplot ", what->outputs[t],
            keyed ? "set key at screen 0.5,0.115 center top vertical maxrows 2" : "unset key");
    for (size_t m = 0; m < models->count && m < 3; ++m)
        fprintf(out,
                "$curves%zu using 1:($%zu-$%zu):($%zu+$%zu) with filledcurves fs transparent solid 0.15 "
                "noborder lc rgb '%s' notitle, \\\n ",
                t, 3 + 2 * m, 4 + 2 * m, 3 + 2 * m, 4 + 2 * m, colours[m]);
    if (what->latent)
        fprintf(out,
                "$curves%zu using 1:2 with lines lw 1.5 dt (4,3) lc rgb '#303030' title 'function', \\\n ",
                t);
    for (size_t m = 0; m < models->count; ++m)
        fprintf(out, "$curves%zu using 1:%zu with lines lw 2 lc rgb '%s' title '%s%s', \\\n ", t, 3 + 2 * m,
                colours[m % COLOURS], mo_method_is_ours(models->items[m]) ? "Holdfast: " : "",
                models->items[m]);
    if (what->hidden)
        fprintf(out,
                "$readings%zu using 1:($3 == 2 ? $2 : NaN) with points pt 6 ps 0.5 lc rgb '#606060' title "
                "'not given', \\\n ",
                t);
    fprintf(out,
            "$readings%zu using 1:($3 == 0 ? $2 : NaN) with points pt 7 ps 0.4 lc rgb '#404040' title "
            "'readings', \\\n $readings%zu using 1:($3 == 1 ? $2 : NaN) with points pt 2 ps 0.9 lw 2 lc rgb "
            "'#c0392b' title 'wrong'\n",
            t, t);
}

bool mo_curves_draw(hf_context *ctx, const mo_curves *what, const mo_terms *terms, const words *models,
                    const char *stem)
{
    const size_t outputs = mo_outputs(what->data);
    mo_result results[WORDS_MOST] = {{0}};
    bool ok = true;
    for (size_t m = 0; m < models->count; ++m) {
        results[m] = mo_result_create(what->data);
        ok = ok && mo_run(ctx, models->items[m], terms, what->data, &results[m], NULL);
    }
    if (ok) {
        picture p;
        picture_begin(&p);
        for (size_t t = 0; t < outputs; ++t) {
            print_readings(p.script, what, t);
            print_curves(p.script, what, t, models->count, results);
        }
        fprintf(p.script,
                "set multiplot layout 1,%zu margins 0.06,0.985,0.29,0.89 spacing 0.05\nset xlabel '%s'\n%s\n",
                outputs, what->axis, what->settings ? what->settings : "");
        for (size_t t = 0; t < outputs; ++t) print_panel(p.script, what, t, models);
        fputs("unset multiplot\n", p.script);
        ok = picture_draw(&p, stem, 1200, 440);
    }
    for (size_t m = 0; m < models->count; ++m) mo_result_free(&results[m]);
    return ok;
}
