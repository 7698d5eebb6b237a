/* SPDX-License-Identifier: Apache-2.0 */
/* A sledge that must not hit its stop: at every tick of a 1 kHz loop a controller takes the strongest
 * push of which readings prove that braking afterwards is early enough. Where they prove it of none, it
 * brakes, and counts that tick. A tube of more steps, and more readings, leave fewer of those.
 *
 * x = (position, speed), and nobody knows how either changes within 50 ms under a push u, but for
 * readings of these changes that are off by 0.0002 at most, and for how rough they can be. A tube of
 * four such steps, one of the push and three of braking, holds every run of every sledge of that kind.
 * Everything is made before the loop; in it nothing is allocated and no lock taken. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

enum {
    STATES = 2,
    INPUTS = 1,
    D = STATES + INPUTS,
    READINGS = 120,
    AHEAD = 4,
    TICKS = 1800,
    PUSHES = 5
};

static const double noise = 0.0002, step = 0.05, stop = 1.0, brake = -1.5;

/* How the sledge moves: a spring, friction, and what the controller pushes. */
static void move(double seconds, double u, double x[STATES])
{
    enum {
        SLICES = 50
    };
    for (int k = 0; k < SLICES; k++) {
        const double force = u - 1.2 * x[1] - 0.8 * sin(2.0 * x[0]);
        x[1] += seconds / SLICES * force;
        x[0] += seconds / SLICES * x[1];
    }
}

/* An envelope for how state i changes in a step. */
static hf_status learn(hf_context *ctx, const hf_kernel *kernel, size_t i, hf_envelope **out)
{
    static double z[READINGS * D], y[READINGS];
    for (int k = 0; k < READINGS; k++) {
        double x[STATES] = {2.4 * fmod(0.7548777 * k, 1.0) - 1.2, 3.0 * fmod(0.5698403 * k, 1.0) - 1.5};
        /* Bounds are loosest at the edge of the readings, so these go beyond the pushes. */
        const double u = 4.0 * fmod(0.4301597 * k, 1.0) - 2.0;
        z[k * D] = x[0];
        z[k * D + 1] = x[1];
        z[k * D + 2] = u;
        y[k] = -x[i];
        move(step, u, x);
        y[k] += x[i] + noise * sin(77.0 * k);
    }
    const hf_bounded_readings readings = {.n = READINGS, .x = z, .ldx = D, .y = y, .noise_bound = noise};
    hf_norm_point asked;
    hf_status s = hf_norm_estimate(ctx, kernel, &readings, 1, &asked);
    /* Half as much again is what the engineer takes these changes for. */
    if (s >= 0) s = hf_envelope_create(ctx, kernel, &readings, 1.5 * asked.norm, NULL, out);
    if (s >= 0) printf("change of state %zu: readings ask for a norm of %.3f\n", i + 1, asked.norm);
    return s;
}

/* The strongest push after which braking surely ends before the stop, or the brake where there is none; *high is
 * how far it may get. */
static hf_status choose(hf_reach *reach, const double x[STATES], double *push, double *high)
{
    double u[AHEAD], low[AHEAD * STATES], up[AHEAD * STATES];
    hf_status s = HF_OK;
    for (int k = 1; k < AHEAD; k++) u[k] = brake;
    for (int tried = 0; tried < PUSHES && s >= 0; tried++) {
        u[0] = 1.5 - 3.0 * tried / (PUSHES - 1);
        s = hf_reach_tube(reach, AHEAD, x, x, u, NULL, NULL, low, up);
        *push = u[0];
        *high = -INFINITY;
        for (int k = 0; k < AHEAD; k++) *high = fmax(*high, up[k * STATES]);
        if (*high <= stop) break;
    }
    return s;
}

static hf_status control(hf_reach *reach)
{
    double x[STATES] = {-0.5, 0.0}, farthest = -1.0, push = 0.0, high = 0.0;
    int unproven = 0;
    hf_status s = HF_OK;
    const clock_t begin = clock();
    for (int tick = 0; tick < TICKS && s >= 0; tick++) {
        s = choose(reach, x, &push, &high);
        if (high > stop) unproven++;
        if (tick % 300 == 0)
            printf("%4d ms: position %6.3f, speed %6.3f, push %5.2f, surely not beyond %.3f\n", tick, x[0],
                   x[1], push, high);
        move(0.001, push, x);
        farthest = fmax(farthest, x[0]);
    }
    const double spent = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (s >= 0)
        printf("farthest %.3f, the stop is at %g; %d of %d ticks braked without a proof; a tick took %.0f us "
               "of processor time on average\n",
               farthest, stop, unproven, TICKS, 1e6 * spent / TICKS);
    return s >= 0 && farthest > stop ? HF_ERR_INTERNAL : s;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_envelope *envelope[STATES] = {NULL};
    hf_reach *reach = NULL;
    hf_reach_settings settings = hf_reach_settings_default();
    settings.increments = true;
    settings.splits = 1;

    hf_status s = hf_kernel_parse(ctx, "se(lengthscale=1.5)", NULL, D, &kernel);
    for (size_t i = 0; i < STATES && s >= 0; i++) s = learn(ctx, kernel, i, &envelope[i]);
    if (s >= 0) {
        const hf_envelope *const known[STATES] = {envelope[0], envelope[1]};
        s = hf_reach_create(ctx, STATES, INPUTS, known, &settings, &reach);
    }
    if (s >= 0) s = control(reach);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_reach_free(reach);
    for (size_t i = 0; i < STATES; i++) hf_envelope_free(envelope[i]);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    return s < 0;
}
