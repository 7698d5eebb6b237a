/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of an envelope, and why readings contradict it. */
#include "envelope/bounded.h"

#include <math.h>
#include <stdlib.h>

/* ---- the kernel -------------------------------------------------------------------------------------------- */

/* Faults that no norm bound can stand for: a wrong lengthscale is another space of functions, a wrong
 * amplitude the same one in other units. */
static bool shapes(const hf_kernel *kernel, const hf_parameter *p)
{
    return hf_kernel_coregions(kernel) > 0 ||
           (p->unit != HF_UNIT_OUTPUT2 && p->unit != HF_UNIT_OUTPUT && p->unit != HF_UNIT_OUTPUT2_INPUT2);
}

const char *bounded_free_parameter(const hf_kernel *kernel)
{
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) >= 0 && !p.fixed && shapes(kernel, &p)) return p.name;
    }
    return NULL;
}

/* --cv: the parameters that shape the kernel and are not held, by leaving readings out. */
static hf_status search_kernel_parameters(bounded *run)
{
    const hf_bounded_readings readings = bounded_readings(run);
    hf_kernel_search found;
    hf_status status = hf_envelope_kernel_search(run->session.ctx, run->kernel, &readings, &found);
    if (status >= 0)
        note(&run->session, "cross-validation: %zu parameters, %zu evaluations, root mean square error %.4g",
             found.parameters, found.evaluations, found.error);
    return status;
}

hf_status bounded_kernel(bounded *run)
{
    const char *expression = argument(run->arguments, "kernel");
    const bool cross = has_argument(run->arguments, "cv");
    if (expression == NULL && !cross)
        return MISUSE(run,
                      "--kernel is missing: for example 'se(lengthscale=5)', or --cv to find lengthscales");
    hf_status status = hf_kernel_parse(run->session.ctx, expression, run->feature, run->d, &run->kernel);
    if (status < 0) return status;
    const char *name = bounded_free_parameter(run->kernel);
    if (name != NULL && !cross)
        return REFUSE(run,
                      "--kernel: %s has no written value, and the bounds hang on it; write one, as in "
                      "se(lengthscale=5), or add --cv",
                      name);
    if (name == NULL && cross)
        return MISUSE(run, "--cv has nothing to find: every parameter that shapes the kernel is written");
    return cross ? search_kernel_parameters(run) : HF_OK;
}

json_t *bounded_json_kernel(const hf_kernel *kernel)
{
    return JSON_OF({"expression", json_text(hf_kernel_expression(kernel))},
                   {"parameters", json_parameters(kernel)});
}

void bounded_print_kernel(const hf_kernel *kernel)
{
    say(stdout, "kernel           %s\n", hf_kernel_expression(kernel));
    size_t printed = 0;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) < 0) continue;
        say(stdout, "%s%s %.6g", printed == 0 ? "                 " : ", ", p.name, p.value);
        printed++;
    }
    if (printed > 0) putchar('\n');
}

/* ---- readings that cannot all be true ------------------------------------------------------------------------ */

/* Four digits that are not too small, so that whoever types them in gets what was promised. */
static double rounded_up(double value)
{
    if (!(value > 0.0) || !isfinite(value)) return value;
    const double unit = pow(10.0, floor(log10(value)) - 3.0);
    return ceil(value / unit * (1.0 - 1e-12)) * unit;
}

/* "lines 3, 17 and 40"; the first of them if there are many. */
static void print_lines(char *out, size_t room, const bounded *run, const size_t *row, size_t count)
{
    enum {
        SHOWN = 12
    };
    const size_t shown = count > SHOWN ? SHOWN : count;
    tool_line line = {.text = out, .bytes = room};
    put(&line, "line%s", plural(count));
    for (size_t k = 0; k < shown; k++)
        put(&line, "%s%zu",
            k == 0           ? " "
            : k + 1 == count ? " and "
                             : ", ",
            hf_table_line(run->table, run->row[row[k]]));
    if (shown < count) put(&line, " and %zu more", count - shown);
}

/* Other values that would do, in words. */
static void print_ways_out(char *out, size_t room, const bounded *run, double norm,
                           const hf_consistency *found)
{
    const double factor = found->noise_factor, least = found->minimum_norm;
    /* A norm that rounding leaves open is told as a lower limit. */
    const bool open = found->norm_open > 1e-3;
    char noise[96] = "", longer[64] = "", least_text[80] = "";
    if (isfinite(factor) && run->below == NULL)
        (void)snprintf(noise, sizeof noise, "a noise bound of %.4g", rounded_up(factor * run->noise));
    else if (isfinite(factor))
        (void)snprintf(noise, sizeof noise, "noise bounds %.4g times as large", rounded_up(factor));
    if (isfinite(norm) && isfinite(least) && !open)
        (void)snprintf(longer, sizeof longer, "a norm of %.4g", rounded_up(least));
    if (isfinite(norm) && isfinite(least) && open)
        (void)snprintf(least_text, sizeof least_text, "%sthe norm would have to be %.4g at least",
                       *noise != '\0' ? "; or " : "", least);
    if (*least_text != '\0' && *noise == '\0') {
        (void)snprintf(out, room, "%s", least_text);
        return;
    }
    (void)snprintf(out, room, "%s%s%s%s%s%s", noise, *noise != '\0' && *longer != '\0' ? ", or " : "", longer,
                   *noise != '\0' || *longer != '\0' ? " would do" : "no norm would do",
                   isfinite(norm) && !isfinite(least) && *noise != '\0' ? "; a larger norm would not" : "",
                   least_text);
}

static hf_status refuse_contradiction(bounded *run, double norm, const hf_consistency *found,
                                      const size_t *row)
{
    char lines[512] = "", ways[320] = "", limit[64] = "";
    print_lines(lines, sizeof lines, run, row, found->conflicting);
    print_ways_out(ways, sizeof ways, run, norm, found);
    if (isfinite(norm)) (void)snprintf(limit, sizeof limit, " of norm %g or less", norm);
    const char *contradiction = found->conflicting == 1 ? "alone contradicts that" : "cannot all be true";
    return REFUSE(run, "%s: no function%s meets all readings: %s %s; %s", hf_table_source(run->table), limit,
                  lines, contradiction, ways);
}

hf_status bounded_explain(bounded *run, double norm)
{
    const hf_bounded_readings readings = bounded_readings(run);
    hf_consistency found;
    size_t *row = calloc(run->n + 1, sizeof *row);
    hf_status status =
        row != NULL ? hf_envelope_consistency(run->session.ctx, run->kernel, &readings, norm, &found, row)
                    : HF_ERR_MEMORY;
    /* Readings that were found inconsistent a moment ago stay so; if rounding says otherwise, the library's
     * own words have to do. */
    if (status >= 0 && found.conflicting > 0)
        status = refuse_contradiction(run, norm, &found, row);
    else if (status >= 0)
        status = REFUSE(run, "%s: %s", hf_table_source(run->table), hf_status_text(HF_ERR_INCONSISTENT));
    free(row);
    return status;
}
