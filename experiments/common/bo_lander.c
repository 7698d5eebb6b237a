/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <math.h>
#include <stdbool.h>

#include "common/draws.h"

/*
 * A lander in two dimensions: one rigid body with two feet, above hills with a flat pad in the middle. Sizes, masses,
 * engines, what the controller sees and the rewards are those of the environment LunarLander-v2 of OpenAI Gym; the
 * controller and its twelve numbers in [0, 2] are those of Eriksson et al. (2019), and the start has their harder push
 * (1500 N). Lengths in metres of the environment, 20 wide; gravity 10; 50 frames a second. Differences:
 *   - The legs do not swing: hull and legs are one body, and a foot is a point with a damped spring and
 *   friction against
 *     the ground. Where swinging legs would give way, at an impact above 3 m/s, the lander crashes.
 *   - At rest is a lander with a foot on the ground that for half a second moves by less than 0.02 m/s and
 *   turns by less
 *     than 0.05 rad/s (Box2D puts bodies to sleep by a rule like it).
 *   - Ground, push and the engines' scatter come from streams of their own: 50 terrains, the same for every controller.
 */
enum {
    TERRAINS = 50,
    FRAMES = 1000,
    SUBSTEPS = 8,
    HILLS = 11,
    REST_FRAMES = 25
};

static const double wide = 20.0, high = 40.0 / 3.0, frame = 1.0 / 50.0, gravity = 10.0;
static const double pixel = 1.0 / 30.0; /* lengths of the parts are multiples of it */
static const double mass = 4.958888888888889, inertia = 0.8853890564301449, centre = 0.0869295690492195;
static const double spring = 4000.0, damper = 200.0, friction = 0.14, creep = 0.05, breaking = 3.0;

typedef struct ground {
    double height[HILLS]; /* at even distances */
} ground;

/* The body's origin is where the environment has it; its centre of mass lies `centre` above. */
typedef struct lander {
    double x, y, angle; /* of the centre of mass */
    double vx, vy, spin;
    bool foot[2], crashed;
} lander;

static ground make_ground(draws *d)
{
    double h[HILLS + 1];
    ground out;
    for (size_t i = 0; i <= HILLS; ++i) h[i] = 0.5 * high * draw_uniform(d);
    for (size_t i = HILLS / 2 - 2; i <= HILLS / 2 + 2; ++i) h[i] = 0.25 * high;
    for (size_t i = 0; i < HILLS; ++i) out.height[i] = 0.33 * (h[i == 0 ? HILLS : i - 1] + h[i] + h[i + 1]);
    return out;
}

/* Depth of a point below the ground along its normal, which is written too; negative above. */
static double depth_below(const ground *g, double x, double y, double normal[2])
{
    const double step = wide / (HILLS - 1), at = fmin(fmax(x / step, 0.0), HILLS - 1.0);
    const size_t i = at >= HILLS - 1.0 ? HILLS - 2 : (size_t)at;
    const double slope = (g->height[i + 1] - g->height[i]) / step, scale = 1.0 / sqrt(1.0 + slope * slope);
    normal[0] = -slope * scale;
    normal[1] = scale;
    return (g->height[i] + slope * (x - (double)i * step) - y) * scale;
}

/* A place on the body, in pixels from its origin, seen from the centre of mass. */
static void arm_of(const lander *l, double px, double py, double arm[2])
{
    const double c = cos(l->angle), s = sin(l->angle), bx = px * pixel, by = py * pixel - centre;
    arm[0] = c * bx - s * by;
    arm[1] = s * bx + c * by;
}

static void push(lander *l, const double arm[2], double ix, double iy)
{
    l->vx += ix / mass;
    l->vy += iy / mass;
    l->spin += (arm[0] * iy - arm[1] * ix) / inertia;
}

/* Force of the ground on a foot, for the time h. */
static void press_foot(lander *l, const ground *g, size_t which, double h)
{
    double arm[2], normal[2];
    arm_of(l, which ? 20.0 : -20.0, -18.0, arm);
    const double depth = depth_below(g, l->x + arm[0], l->y + arm[1], normal);
    const bool before = l->foot[which];
    l->foot[which] = depth > 0.0;
    if (depth <= 0.0) return;
    const double vx = l->vx - l->spin * arm[1], vy = l->vy + l->spin * arm[0];
    const double into = -(vx * normal[0] + vy * normal[1]), along = vx * normal[1] - vy * normal[0];
    if (!before && into > breaking) l->crashed = true;
    const double force = fmax(0.0, spring * depth + damper * into);
    const double drag = -friction * force * fmax(-1.0, fmin(along / creep, 1.0));
    push(l, arm, h * (force * normal[0] + drag * normal[1]), h * (force * normal[1] - drag * normal[0]));
}

static bool hull_touches(const lander *l, const ground *g)
{
    static const double corner[6][2] = {{-14, 17}, {-17, 0}, {-17, -10}, {17, -10}, {17, 0}, {14, 17}};
    for (size_t i = 0; i < 6; ++i) {
        double arm[2], normal[2];
        arm_of(l, corner[i][0], corner[i][1], arm);
        if (depth_below(g, l->x + arm[0], l->y + arm[1], normal) > 0.0) return true;
    }
    return false;
}

static void move(lander *l, const ground *g)
{
    const double h = frame / SUBSTEPS;
    for (int i = 0; i < SUBSTEPS; ++i) {
        l->vy -= gravity * h;
        press_foot(l, g, 0, h);
        press_foot(l, g, 1, h);
        l->x += h * l->vx;
        l->y += h * l->vy;
        l->angle += h * l->spin;
    }
    l->crashed = l->crashed || hull_touches(l, g);
}

/* Engines: 1 turns to the left, 2 lifts, 3 turns to the right. Each pushes with some scatter. */
static void fire(lander *l, int engine, draws *d)
{
    const double c = cos(l->angle), s = sin(l->angle);
    const double first = (2.0 * draw_uniform(d) - 1.0) * pixel,
                 second = (2.0 * draw_uniform(d) - 1.0) * pixel;
    double arm[2];
    if (engine == 2) { /* along the line from the origin: downwards, and a little aside */
        const double ox = s * (4.0 * pixel + 2.0 * first) - c * second;
        const double oy = -c * (4.0 * pixel + 2.0 * first) - s * second;
        arm_of(l, 0.0, 0.0, arm);
        arm[0] += ox;
        arm[1] += oy;
        push(l, arm, -13.0 * ox, -13.0 * oy);
    } else if (engine == 1 || engine == 3) {
        const double aside = 3.0 * second + (engine - 2) * 12.0 * pixel;
        const double ox = s * first - c * aside, oy = -c * first - s * aside;
        arm_of(l, 0.0, 0.0, arm);
        arm[0] += ox - s * 17.0 * pixel;
        arm[1] += oy + c * 14.0 * pixel;
        push(l, arm, -0.6 * ox, -0.6 * oy);
    }
}

/* The state as the controller sees it: place, speed, angle, spin, feet. */
static void look(const lander *l, double seen[8])
{
    const double x = l->x + centre * sin(l->angle), y = l->y - centre * cos(l->angle);
    const double vx = l->vx + centre * l->spin * cos(l->angle), vy = l->vy + centre * l->spin * sin(l->angle);
    seen[0] = (x - 0.5 * wide) / (0.5 * wide);
    seen[1] = (y - 0.25 * high - 18.0 * pixel) / (0.5 * high);
    seen[2] = vx * 0.5 * wide * frame;
    seen[3] = vy * 0.5 * high * frame;
    seen[4] = l->angle;
    seen[5] = 20.0 * l->spin * frame;
    seen[6] = l->foot[0];
    seen[7] = l->foot[1];
}

static int control(const double s[8], const double *w)
{
    const double aim = fmax(-w[2], fmin(s[0] * w[0] + s[2] * w[1], w[2]));
    double turn = (aim - s[4]) * w[4] - s[5] * w[5];
    double lift = (w[3] * fabs(s[0]) - s[1]) * w[6] - s[3] * w[7];
    if (s[6] > 0.0 || s[7] > 0.0) {
        turn = w[8];
        lift = -s[3] * w[9];
    }
    if (lift > fabs(turn) && lift > w[10]) return 2;
    return turn < -w[11] ? 3 : turn > w[11] ? 1 : 0;
}

static double merit(const double s[8])
{
    return -100.0 * (hypot(s[0], s[1]) + hypot(s[2], s[3]) + fabs(s[4])) + 10.0 * (s[6] + s[7]);
}

static bool is_still(const lander *l)
{
    return (l->foot[0] || l->foot[1]) && hypot(l->vx, l->vy) < 0.02 && fabs(l->spin) < 0.05;
}

/* The rewards of one landing. */
static double land(const ground *g, draws *d, const double *w)
{
    lander l = {.x = 0.5 * wide, .y = high + centre};
    double seen[8], reward = 0.0;
    const double arm[2] = {0.0, 0.0}, fx = 1500.0 * (2.0 * draw_uniform(d) - 1.0);
    push(&l, arm, fx * frame, 1500.0 * (2.0 * draw_uniform(d) - 1.0) * frame);
    move(&l, g);
    look(&l, seen);
    double before = merit(seen);
    int still = 0;
    for (int i = 0; i < FRAMES; ++i) {
        const int engine = control(seen, w);
        fire(&l, engine, d);
        move(&l, g);
        look(&l, seen);
        if (l.crashed || fabs(seen[0]) >= 1.0) return reward - 100.0;
        still = is_still(&l) ? still + 1 : 0;
        if (still >= REST_FRAMES) return reward + 100.0;
        const double now = merit(seen);
        reward += now - before - (engine == 2 ? 0.3 : engine ? 0.03 : 0.0);
        before = now;
    }
    return reward;
}

void bo_lander(const bo_problem *p, const double *x, double *values)
{
    double sum = 0.0;
    (void)p;
    for (uint64_t i = 0; i < TERRAINS; ++i) {
        draws d = {0x6c616e646572u + i * 0xd1342543de82ef95u};
        const ground g = make_ground(&d);
        sum += land(&g, &d, x);
    }
    values[0] = sum / TERRAINS;
}
