/* SPDX-License-Identifier: Apache-2.0 */
/* A sledge that must not hit its stop. At every tick of a loop a controller asks of one push whether readings
 * prove that braking afterwards is early enough. Where they do, that is its plan: the push for 50 ms, then the
 * brake. Where they do not, it goes on with the last plan, which still holds, and asks of a weaker push next.
 *
 * x = (position, speed). Nobody knows how either changes within 50 ms under a push u. Known are
 * readings of these changes that are off by 0.0002 at most, and how rough the changes can be. A tube of
 * four such steps, one of the push and three of braking, holds every run of every sledge of that kind.
 * Everything is made before the loop; in it nothing is allocated and no lock taken. Each bound may change its
 * support four times and no more: then it is looser than it could be, as sure, and in time. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STATES = 2,
    INPUTS = 1,
    D = STATES + INPUTS,
    READINGS = 120,
    AHEAD = 4,
    TICKS = 1800, /* of a millisecond */
    HELD = 50,    /* ticks in a step */
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

typedef struct plan {
    int push, age; /* number of the push, from the strongest to the brake; ticks since the proof */
    double high;   /* how far the sledge may get with it */
} plan;

static double force_of(int push)
{
    return -brake + 2.0 * brake * push / (PUSHES - 1);
}

/* Whether braking after one step of the push surely ends before the stop; then *next is that plan. */
static hf_status ask(hf_reach *reach, const double x[STATES], int push, plan *next, bool *sure)
{
    double u[AHEAD], low[AHEAD * STATES], up[AHEAD * STATES], high = -INFINITY;
    for (int k = 0; k < AHEAD; k++) u[k] = k == 0 ? force_of(push) : brake;
    const hf_envelope_limits in_time = {.size = sizeof in_time, .pivots = 4};
    const hf_status s = hf_reach_tube(reach, AHEAD, x, x, u, NULL, &in_time, low, up);
    for (int k = 0; k < AHEAD && s >= 0; k++) high = fmax(high, up[k * STATES]);
    *sure = s >= 0 && high <= stop;
    if (*sure) *next = (plan){.push = push, .high = high};
    return s;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static hf_status control(hf_reach *reach)
{
    double x[STATES] = {-0.5, 0.0}, farthest = -1.0;
    static double took[TICKS];
    int unproven = 0, push = 0;
    plan now = {.push = PUSHES - 1, .age = AHEAD * HELD, .high = NAN};
    hf_status s = HF_OK;
    for (int tick = 0; tick < TICKS && s >= 0; tick++) {
        bool sure = false;
        const double before = seconds();
        s = ask(reach, x, push, &now, &sure);
        took[tick] = seconds() - before;
        push = sure ? (push > 0 ? push - 1 : 0) : (push < PUSHES - 1 ? push + 1 : push);
        if (now.age >= AHEAD * HELD) unproven++;
        const double u = now.age < HELD ? force_of(now.push) : brake;
        now.age++;
        if (tick % 300 == 0)
            printf("%4d ms: position %6.3f, speed %6.3f, push %5.2f, surely not beyond %.3f\n", tick, x[0],
                   x[1], u, now.high);
        move(0.001, u, x);
        farthest = fmax(farthest, x[0]);
    }
    qsort(took, TICKS, sizeof *took, ascending);
    if (s >= 0)
        printf("farthest %.3f, the stop is at %g; %d of %d ticks without a proof; a tick took %.0f us "
               "(median), 99 of 100 at most %.0f\n",
               farthest, stop, unproven, TICKS, 1e6 * took[TICKS / 2], 1e6 * took[TICKS - TICKS / 100]);
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

    /* Threads would wait for each other longer than a tick takes. */
    hf_status s = hf_context_set_threads(ctx, 1);
    if (s >= 0) s = hf_kernel_parse(ctx, "se(lengthscale=1.5)", NULL, D, &kernel);
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
