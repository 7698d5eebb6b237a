/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a batch of bounds, for people and for machines. */
#include "envelope/bounded.h"

#include <math.h>
#include <string.h>

typedef struct widths {
    double mean, least, most, gap;
} widths;

static widths widths_of(const bound_report *r)
{
    widths w = {.least = INFINITY};
    for (size_t i = 0; i < r->at->m; i++) {
        const double width = r->upper[i] - r->lower[i];
        w.mean += width / (double)r->at->m;
        w.least = fmin(w.least, width);
        w.most = fmax(w.most, width);
        if (r->gap != NULL) w.gap = fmax(w.gap, r->gap[i]);
    }
    return w;
}

/* ---- for machines ------------------------------------------------------------------------------------------- */

static void add_queries(json_t *json, const bound_report *r)
{
    const widths w = widths_of(r);
    const bool optimal = r->gap != NULL;
    JSON_ADD(json, {"method", json_string(r->method)}, {"queries", json_count(r->at->m)},
             {"width", JSON_OF({"mean", json_number(w.mean)}, {"least", json_number(w.least)},
                               {"most", json_number(w.most)})},
             {optimal ? "active" : NULL,
              JSON_OF({"mean", json_number(r->mean_active)}, {"most", json_number(r->most_active)})},
             {optimal ? "pivots" : NULL, json_count(r->pivots)}, {optimal ? "gap" : NULL, json_number(w.gap)},
             {optimal ? "stopped_early" : NULL, json_count(r->early)},
             {optimal ? NULL : "radius", json_number(r->radius)},
             {r->at->extent > 0.0 ? "volume" : NULL, json_number(w.mean * r->at->extent)},
             {"seconds", json_number(r->seconds)});
}

static void print_bound_json(bounded *run, const bound_report *r, const char *output, const char *saved)
{
    const hf_envelope *e = r->envelope;
    json_t *json =
        JSON_OF({"target", json_text(run->target)}, {"kernel", bounded_json_kernel(hf_envelope_kernel(e))},
                {"distinct", json_count(hf_envelope_readings(e))},
                {"offset", json_number(hf_envelope_offset(e))}, {"norm", json_number(hf_envelope_norm(e))},
                {"minimum_norm", json_number(hf_envelope_minimum_norm(e))},
                {run->table != NULL ? "readings" : NULL, json_count(run->n)},
                {run->table != NULL ? "left_out" : NULL, json_count(run->left_out)},
                {output != NULL ? "output" : NULL, json_text(output)});
    if (output != NULL) add_queries(json, r);
    if (saved != NULL) JSON_ADD(json, {"saved", json_text(saved)});
    session_print(&run->session, json);
}

/* ---- for people --------------------------------------------------------------------------------------------- */

static void print_queries(const bound_report *r)
{
    const widths w = widths_of(r);
    printf("method           %s%s\n", r->method,
           strcmp(r->method, "gp") == 0 ? ", holds with 99 % probability, not surely" : "");
    printf("queries          %zu\n", r->at->m);
    printf("width            mean %.6g, from %.6g to %.6g\n", w.mean, w.least, w.most);
    if (r->at->extent > 0.0)
        printf("volume           %.6g, the mean width times the extent of the grid\n",
               w.mean * r->at->extent);
    if (r->gap != NULL) {
        printf("active readings  mean %.1f for each bound, at most %.0f\n", r->mean_active, r->most_active);
        printf("pivots           %zu, %.1f a query\n", r->pivots, (double)r->pivots / (double)r->at->m);
        printf("gap              at most %.2g\n", w.gap);
        if (r->early > 0)
            printf("stopped early    %zu quer%s: looser than need be, not wrong\n", r->early,
                   r->early == 1 ? "y" : "ies");
    } else {
        printf("radius           %.6g\n", r->radius);
    }
    printf("seconds          %.3g\n", r->seconds);
}

static void print_bound_text(const bounded *run, const bound_report *r, const char *output, const char *saved)
{
    const hf_envelope *e = r->envelope;
    const double norm = hf_envelope_norm(e), least = hf_envelope_minimum_norm(e);
    if (run->table != NULL) {
        printf("readings         %zu", run->n);
        if (run->left_out > 0) printf(", %zu rows left out", run->left_out);
        if (hf_envelope_readings(e) < run->n) printf(", at %zu distinct inputs", hf_envelope_readings(e));
        putchar('\n');
    } else {
        printf("readings         %zu distinct ones\n", hf_envelope_readings(e));
    }
    if (run->table != NULL && has_argument(run->arguments, "cv")) bounded_print_kernel(hf_envelope_kernel(e));
    if (hf_envelope_offset(e) != 0.0)
        printf("offset           %.6g: norms are those of the function less that\n", hf_envelope_offset(e));
    printf("norm bound       %.6g; the readings ask for %.6g (%.0f %%)\n", norm, least, 100.0 * least / norm);
    if (output != NULL) print_queries(r);
    if (output != NULL) say(stdout, "Wrote %s\n", output);
    if (saved != NULL) say(stdout, "Wrote %s\n", saved);
}

void bound_print(bounded *run, const bound_report *r, const char *output, const char *saved)
{
    if (run->session.json)
        print_bound_json(run, r, output, saved);
    else
        print_bound_text(run, r, output, saved);
}
