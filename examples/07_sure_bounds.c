/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that must surely hold: a controller that opens a valve as far as it can without the flow ever
 * exceeding what the pipe bears.
 *
 * Nothing is random here. The flow meter is off by 0.3 at most, and how rough the valve's curve can be is
 * bounded by its norm. So the curve can be in the band that follows, and nowhere else. The envelope is const and
 * the workspace is made once: a query allocates nothing, takes no lock, and begins where the last one
 * ended. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>

enum {
    READINGS = 24,
    SPARE = 4 /* readings that may come later without new memory */
};

static const double noise = 0.3; /* how far a reading can be off */

/* The valve, which nobody knows, and what the meter makes of it. */
static double valve(double opening)
{
    return 8.0 / (1.0 + exp(4.0 - opening)) + 0.6 * sin(1.3 * opening);
}

static double meter(double opening, int reading)
{
    return valve(opening) + noise * sin(99.0 * reading);
}

static hf_status measure(hf_context *ctx, hf_envelope **envelope)
{
    static const char *const names[] = {"opening"};
    double opening[READINGS], flow[READINGS];
    size_t n = 0;
    for (int i = 0; i < READINGS; i++) {
        const double at = 10.0 * fmod(0.618034 * i, 1.0);
        if (at > 5.2 && at < 7.2) continue; /* nobody has been there */
        opening[n] = at;
        flow[n++] = meter(at, i);
    }
    const hf_bounded_readings readings = {.n = n, .x = opening, .ldx = 1, .y = flow, .noise_bound = noise};
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.reserve = SPARE;
    hf_kernel *kernel = NULL;
    hf_norm_point curve[1];
    hf_status s = hf_kernel_parse(ctx, "se(lengthscale=1.5)", names, 1, &kernel);
    if (s >= 0) s = hf_norm_estimate(ctx, kernel, &readings, 1, curve);
    /* The readings ask for that much at least. That twice as much is enough is what the engineer knows of
     * valves: no data can. */
    if (s >= 0) printf("%zu readings ask for a norm of %.1f\n", n, curve[0].norm);
    if (s >= 0) s = hf_envelope_create(ctx, kernel, &readings, 2.0 * curve[0].norm, &settings, envelope);
    hf_kernel_free(kernel);
    return s;
}

/* Opens step by step while the upper bound surely stays below the limit: Newton steps on it, halved where
 * they would overshoot. */
static hf_status open_valve(const hf_envelope *envelope, hf_envelope_workspace *workspace, double limit)
{
    /* A tick must end: after so many changes of the active set a bound is taken as it is, looser but never wrong. */
    const hf_envelope_limits limits = {.size = sizeof limits, .pivots = 200};
    double opening = 0.0, slope = 0.0, step = 0.25;
    hf_bound safe = {0}, next;
    size_t pivots = 0, queries = 1;
    hf_status s = hf_envelope_bounds(envelope, workspace, &opening, &limits, &safe, NULL, &slope);
    for (int tick = 0; tick < 60 && s >= 0 && limit - safe.upper > 1e-4; tick++) {
        const double newton = slope > 0.0 ? 0.9 * (limit - safe.upper) / slope : step,
                     tried = opening + fmin(newton, step);
        double slope_there = 0.0;
        s = hf_envelope_bounds(envelope, workspace, &tried, &limits, &next, NULL, &slope_there);
        queries++;
        pivots += next.pivots;
        if (s < 0 || next.upper > limit || tried > 10.0) {
            step *= 0.5;
            continue;
        }
        opening = tried;
        slope = slope_there;
        safe = next;
    }
    if (s >= 0)
        printf("limit %4.1f: open to %.3f, flow surely in [%5.2f, %5.2f], truly %5.2f; %zu queries, %.1f "
               "changes each\n",
               limit, opening, safe.lower, safe.upper, valve(opening), queries,
               (double)pivots / (double)queries);
    return s;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = NULL;
    hf_envelope_workspace *workspace = NULL;

    hf_status s = measure(ctx, &envelope);
    if (s >= 0) {
        workspace = hf_envelope_workspace_create(ctx, envelope);
        if (workspace == NULL) s = HF_ERR_MEMORY;
    }
    for (double limit = 2.0; limit < 9.0 && s >= 0; limit += 2.0) s = open_valve(envelope, workspace, limit);

    /* Where it stopped, one more reading is worth most: no bound gets wider by it. */
    const double there = 5.6;
    if (s >= 0) s = hf_envelope_add(ctx, envelope, &there, meter(there, READINGS), noise, noise);
    if (s >= 0) printf("after a reading at %.1f\n", there);
    if (s >= 0) s = open_valve(envelope, workspace, 8.0);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_envelope_workspace_free(workspace);
    hf_envelope_free(envelope);
    hf_context_free(ctx);
    return s < 0;
}
