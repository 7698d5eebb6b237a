/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a page: axes with the numbers of their ends and middle, lines, bands, dots. */
#include "page/page.h"

#include <math.h>

enum {
    WIDTH = 420,
    HEIGHT = 240,
    LEFT = 58,
    RIGHT = 12,
    TOP = 10,
    BOTTOM = 40
};

static double across(const hfi_plot *p, double x)
{
    const double share = p->x_high > p->x_low ? (x - p->x_low) / (p->x_high - p->x_low) : 0.5;
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double down(const hfi_plot *p, double y)
{
    const double share = p->y_high > p->y_low ? (y - p->y_low) / (p->y_high - p->y_low) : 0.5;
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

void hfi_plot_reach(double value, double *low, double *high)
{
    if (!isfinite(value)) return;
    if (!(*low <= value)) *low = value;
    if (!(*high >= value)) *high = value;
}

static void tick(hfi_page *page, double x, double y, const char *anchor, double value)
{
    hfi_page_put(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.3g</text>", x, y, anchor, value);
}

void hfi_plot_begin(hfi_page *page, const hfi_plot *p)
{
    hfi_page_put(page, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", (int)WIDTH,
                 (int)HEIGHT);
    hfi_page_words(page, p->title);
    hfi_page_put(page, "\"><path class=\"axis\" d=\"M%d %dV%dH%d\"/>", (int)LEFT, (int)TOP, HEIGHT - BOTTOM,
                 WIDTH - RIGHT);
    for (int k = 0; k <= 2; k++) {
        const double x = p->x_low + 0.5 * k * (p->x_high - p->x_low),
                     y = p->y_low + 0.5 * k * (p->y_high - p->y_low);
        tick(page, across(p, x), HEIGHT - BOTTOM + 16, k == 0 ? "start" : k == 1 ? "middle" : "end", x);
        tick(page, LEFT - 6, down(p, y) + 4, "end", y);
    }
    hfi_page_put(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                 HEIGHT - 6);
    hfi_page_words(page, p->x_name);
    hfi_page_put(page, "</text>\n");
}

static void path(hfi_page *page, const hfi_plot *p, size_t n, const double *x, const double *y, bool back,
                 bool begin)
{
    for (size_t k = 0; k < n; k++) {
        const size_t i = back ? n - 1 - k : k;
        hfi_page_put(page, "%s%.1f %.1f", k == 0 && begin ? "M" : "L", across(p, x[i]), down(p, y[i]));
    }
}

void hfi_plot_line(hfi_page *page, const hfi_plot *p, const char *kind, size_t n, const double *x,
                   const double *y)
{
    hfi_page_put(page, "<path class=\"%s\" d=\"", kind);
    path(page, p, n, x, y, false, true);
    hfi_page_put(page, "\"/>\n");
}

void hfi_plot_band(hfi_page *page, const hfi_plot *p, size_t n, const double *x, const double *low,
                   const double *high)
{
    hfi_page_put(page, "<path class=\"band\" d=\"");
    path(page, p, n, x, low, false, true);
    path(page, p, n, x, high, true, false);
    hfi_page_put(page, "Z\"/>\n");
}

void hfi_plot_point(hfi_page *page, const hfi_plot *p, double x, double y, bool aside)
{
    if (!isfinite(x) || !isfinite(y)) return;
    const double a = across(p, x), b = down(p, y);
    if (aside)
        hfi_page_put(page, "<path class=\"cross\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>", a - 4.0, b - 4.0);
    else
        hfi_page_put(page, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", a, b);
}

void hfi_plot_end(hfi_page *page)
{
    hfi_page_put(page, "</svg>");
}
