/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-example2.c
 * @brief Example 2: the cheapest point of which readings prove that it is feasible.
 *
 *     min (z1 - 1)^2 + (z2 - 5)^2     subject to C(z) <= -10,     C the optimal upper bound of the forced Henon map
 *
 * from 64, 81 and 100 readings with uniform noise 1, on a grid or at random. Solved in three ways. As the
 * authors did: by a grid of 10 x 10 points that is refined three times around its best one (each side a fifth of the
 * one before). It has the 1e-8 that their program adds to the diagonal of the kernel matrix with the query
 * (common/env_henon.h). Then by a grid refined four times with the exact kernel; and by SLSQP with the gradient of C,
 * from the best points of a mesh. The authors' 10 random draws are Python's, from seed 1; the grids are read with noise
 * from the same seed.
 */
#include "common/env_bounds.h"
#include "common/env_henon.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZES = 3,
    RUNS = 10,
    MESH = 51, /* where SLSQP looks for starting points */
    PICTURE = 81,
    STARTS = 8,
    WAYS = 3 /* to solve it */
};

static const size_t sizes[SIZES] = {8, 9, 10};
static const double printed[2][SIZES] = {{10.67, 8.48, 7.67}, {13.21, 11.36, 10.96}};
static const double limit = -10.0, noise = 1.0, edge = 10.0;

typedef enum column {
    PUBLISHED,
    REFINED,
    REFINED_Z1,
    REFINED_Z2,
    BEST,
    BEST_Z1,
    BEST_Z2,
    COLUMNS
} column;

static const char *const columns[COLUMNS] = {"published", "refined", "refined_z1", "refined_z2",
                                             "best",      "best_z1", "best_z2"};

/* The constraint: the map itself where there is no envelope. */
typedef struct bound {
    const hf_envelope *envelope;
    hf_envelope_workspace *work;
    bool failed;
} bound;

static double cost(const double *z)
{
    return (z[0] - 1.0) * (z[0] - 1.0) + (z[1] - 5.0) * (z[1] - 5.0);
}

static double upper(bound *b, const double *z, double *gradient)
{
    hf_bound found;
    const double at[3] = {z[0], z[1], ENV_HENON_QUERY};
    double unused[2], slope[2];
    if (!b->envelope) {
        if (gradient) {
            gradient[0] = -1.6 * z[0];
            gradient[1] = 1.0 + 6.4 * cos(0.8 * z[1]);
        }
        return env_henon(z);
    }
    if (hf_envelope_bounds(b->envelope, b->work, at, NULL, &found, gradient ? unused : NULL,
                           gradient ? slope : NULL) < 0) {
        b->failed = true;
        return INFINITY;
    }
    if (gradient) memcpy(gradient, slope, sizeof slope);
    return found.upper;
}

/* ---- as the authors solve it --------------------------------------------------------------------------- */

static bool refine(bound *b, size_t refinements, double best[2])
{
    enum {
        SIDE = 10
    };
    double middle[2] = {0.0, 0.0}, half = edge, least = INFINITY;
    for (size_t level = 0; level <= refinements; ++level) {
        for (size_t i = 0; i < (size_t)SIDE * SIDE; ++i) {
            const size_t row = i / SIDE, place = i % SIDE;
            const double step = 2.0 * half / (SIDE - 1);
            const double z[2] = {middle[0] - half + step * (double)row,
                                 middle[1] - half + step * (double)place};
            if (fmax(fabs(z[0]), fabs(z[1])) > edge || cost(z) >= least || upper(b, z, NULL) > limit)
                continue;
            least = cost(z);
            memcpy(best, z, sizeof z);
        }
        if (isinf(least)) return false;
        memcpy(middle, best, sizeof middle);
        half *= 0.2;
    }
    return true;
}

/* ---- with gradients ------------------------------------------------------------------------------------ */

static double objective(unsigned n, const double *z, double *gradient, void *user)
{
    (void)n;
    (void)user;
    if (gradient) {
        gradient[0] = 2.0 * (z[0] - 1.0);
        gradient[1] = 2.0 * (z[1] - 5.0);
    }
    return cost(z);
}

static double constraint(unsigned n, const double *z, double *gradient, void *user)
{
    (void)n;
    return upper(user, z, gradient) - limit;
}

/* Goes down from z; keeps what is cheapest and feasible. */
static void descend(bound *b, const double *start, double *least, double best[2])
{
    double z[2] = {start[0], start[1]}, value;
    nlopt_opt solver = nlopt_create(NLOPT_LD_SLSQP, 2);
    if (!solver) return;
    nlopt_set_lower_bounds1(solver, -edge);
    nlopt_set_upper_bounds1(solver, edge);
    nlopt_set_min_objective(solver, objective, NULL);
    nlopt_add_inequality_constraint(solver, constraint, b, 1e-9);
    nlopt_set_xtol_rel(solver, 1e-10);
    nlopt_set_maxeval(solver, 200);
    nlopt_optimize(solver, z, &value);
    nlopt_destroy(solver);
    if (cost(z) < *least && upper(b, z, NULL) <= limit + 1e-7) {
        *least = cost(z);
        memcpy(best, z, sizeof z);
    }
}

/* From the cheapest feasible points of a mesh, no two of them neighbours. */
static bool search(hf_context *ctx, bound *b, double best[2])
{
    const size_t m = (size_t)MESH * MESH;
    double *mesh = env_henon_mesh(MESH), chosen[2 * STARTS], least = INFINITY;
    env_bounds on = env_bounds_create(m);
    bool ok = true;
    size_t count = 0;
    if (b->envelope)
        ok = env_optimal(ctx, b->envelope, m, mesh, &on);
    else
        for (size_t i = 0; i < m; ++i) on.upper[i] = env_henon(mesh + 2 * i);
    while (ok && count < STARTS) {
        size_t next = m;
        for (size_t i = 0; i < m; ++i) {
            bool near = on.upper[i] > limit || (next < m && cost(mesh + 2 * i) >= cost(mesh + 2 * next));
            for (size_t k = 0; !near && k < count; ++k)
                near = hypot(mesh[2 * i] - chosen[2 * k], mesh[2 * i + 1] - chosen[2 * k + 1]) < 1.0;
            if (!near) next = i;
        }
        if (next == m) break;
        memcpy(chosen + 2 * count++, mesh + 2 * next, 2 * sizeof *mesh);
        descend(b, mesh + 2 * next, &least, best);
    }
    env_bounds_free(&on);
    free(mesh);
    return ok && isfinite(least);
}

/* Cost by the published program: NAN where its grid finds no feasible point. */
static bool published(hf_context *ctx, const env_set *set, double *value)
{
    double best[2], *x = env_henon_numbered(set->x, set->n, 0.0, 1.0);
    const env_problem p = {ENV_HENON_PUBLISHED,
                           {.n = set->n, .x = x, .ldx = 3, .y = set->y, .noise_bound = noise},
                           ENV_HENON_NORM,
                           0.0};
    hf_envelope *envelope = env_problem_envelope(ctx, &p, "readings, with 1e-8");
    bound b = {.envelope = envelope};
    if (envelope) b.work = hf_envelope_workspace_create(ctx, envelope);
    b.failed = !b.work;
    *value = !b.failed && refine(&b, 3, best) ? cost(best) : NAN;
    hf_envelope_workspace_free(b.work);
    hf_envelope_free(envelope);
    free(x);
    return !b.failed;
}

static bool solve(hf_context *ctx, const env_set *set, double *values)
{
    bound b = {0};
    double refined[2] = {NAN, NAN}, best[2] = {NAN, NAN};
    hf_envelope *envelope = NULL;
    if (set) {
        const env_problem p = {ENV_HENON_KERNEL, env_set_readings(set, noise), ENV_HENON_NORM, 0.0};
        envelope = env_problem_envelope(ctx, &p, "readings");
        if (!envelope) return false;
        b.envelope = envelope;
        b.work = hf_envelope_workspace_create(ctx, envelope);
        if (!b.work) b.failed = true;
    }
    const bool coarse = !b.failed && refine(&b, 4, refined), fine = !b.failed && search(ctx, &b, best);
    values[PUBLISHED] = NAN;
    if (set && !b.failed) b.failed = !published(ctx, set, &values[PUBLISHED]);
    values[REFINED] = coarse ? cost(refined) : NAN;
    values[REFINED_Z1] = refined[0];
    values[REFINED_Z2] = refined[1];
    values[BEST] = fine ? cost(best) : NAN;
    values[BEST_Z1] = best[0];
    values[BEST_Z2] = best[1];
    hf_envelope_workspace_free(b.work);
    hf_envelope_free(envelope);
    return !b.failed;
}

/* ---- the program --------------------------------------------------------------------------------------- */

typedef struct run {
    hf_context *ctx;
    long runs;
    env_rows rows;
} run;

static env_set draw(bool random, size_t side, long number)
{
    py_random stream;
    env_set set = {0};
    py_seed(&stream, 1);
    for (long k = 0; k <= number; ++k) {
        env_set_free(&set);
        set = random ? env_henon_random(&stream, side * side, noise) : env_henon_grid(&stream, side, noise);
    }
    return set;
}

static void case_name(bool random, size_t side, long number, char *out, size_t size)
{
    snprintf(out, size, "%s, %zu readings, draw %ld", random ? "random" : "grid", side * side, number);
}

static bool work(void *state)
{
    run *r = state;
    double values[COLUMNS];
    bool ok = env_rows_find(&r->rows, "truth") != NULL;
    if (!ok) {
        ok = solve(r->ctx, NULL, values);
        env_rows_add(&r->rows, "truth", values);
    }
    for (int random = 0; random < 2; ++random)
        for (size_t s = 0; s < SIZES; ++s)
            for (long k = 0; ok && k < r->runs; ++k) {
                char name[64];
                case_name(random != 0, sizes[s], k, name, sizeof name);
                if (env_rows_find(&r->rows, name)) continue;
                env_set set = draw(random != 0, sizes[s], k);
                ok = solve(r->ctx, &set, values);
                if (ok) env_rows_add(&r->rows, name, values);
                env_set_free(&set);
            }
    return ok;
}

static void print_case(const run *r, bool random, size_t s)
{
    static const column shown[WAYS] = {PUBLISHED, REFINED, BEST};
    double sum[WAYS] = {0.0}, least[WAYS] = {INFINITY, INFINITY, INFINITY},
           most[WAYS] = {-INFINITY, -INFINITY, -INFINITY}, first[WAYS] = {NAN, NAN, NAN};
    size_t count[WAYS] = {0}, none[WAYS] = {0};
    for (long k = 0; k < r->runs; ++k) {
        char name[64];
        case_name(random, sizes[s], k, name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        for (size_t j = 0; v && j < WAYS; ++j) {
            const double x = v[shown[j]];
            if (k == 0) first[j] = x;
            if (isnan(x)) {
                none[j] += 1;
                continue;
            }
            count[j] += 1;
            sum[j] += x;
            least[j] = fmin(least[j], x);
            most[j] = fmax(most[j], x);
        }
    }
    printf("| %s | %zu | %.2f |", random ? "random" : "grid", sizes[s] * sizes[s], printed[random][s]);
    for (size_t j = 0; j < WAYS; ++j)
        if (count[j])
            printf(" %.2f | %.2f | %.2f to %.2f | %zu |", first[j], sum[j] / (double)count[j], least[j],
                   most[j], none[j]);
        else
            printf(" | | | |");
    putchar('\n');
}

static void report(const void *state)
{
    const run *r = state;
    puts("\n| readings | | printed | as coded, three refinements: first draw | mean | least to most | none "
         "found | "
         "exact, four refinements: first draw | mean | least to most | none found | "
         "gradients: first draw | mean | least to most | none found |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (int random = 0; random < 2; ++random)
        for (size_t s = 0; s < SIZES; ++s) print_case(r, random != 0, s);
    const double *v = env_rows_find(&r->rows, "truth");
    if (v) printf("| the map itself | | 5.69 | | | | | %.2f | | | | %.4f | | | |\n", v[REFINED], v[BEST]);
}

static void print_panel(FILE *out, const char *title, const env_bounds *b, const env_set *set,
                        const double *v)
{
    double *mesh = env_henon_mesh(PICTURE);
    fputs("$feasible << EOD\n", out);
    for (size_t i = 0; i < b->m; ++i) {
        fprintf(out, "%.4g %.4g %d\n", mesh[2 * i], mesh[2 * i + 1], b->upper[i] <= limit);
        if (i % PICTURE == PICTURE - 1) fputc('\n', out);
    }
    fputs("EOD\n$readings << EOD\n", out);
    for (size_t i = 0; set && i < set->n; ++i) fprintf(out, "%.5g %.5g\n", set->x[2 * i], set->x[2 * i + 1]);
    fprintf(out, "%sEOD\n$best << EOD\n%.6g %.6g\nEOD\n", set ? "" : "NaN NaN\n", v ? v[BEST_Z1] : NAN,
            v ? v[BEST_Z2] : NAN);
    fprintf(out,
            "set title '%s: %.2f'\nplot $feasible with image notitle, $readings with points pt 7 ps 0.3 lc "
            "rgb '#404040' notitle, "
            "'+' using (1):(5):(0.25) every ::0::0 with circles fs empty border lc rgb '#1f4e79' lw 2 "
            "notitle, $best with points pt 3 ps 1.4 lw 2 lc rgb '#c02020' notitle\n",
            title, v ? v[BEST] : NAN);
    free(mesh);
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    picture p;
    bool ok = true;
    double *mesh = env_henon_mesh(PICTURE);
    env_bounds b = env_bounds_create((size_t)PICTURE * PICTURE);
    picture_begin(&p);
    fputs("set multiplot layout 2,4 margins 0.04,0.99,0.06,0.94 spacing 0.04,0.1\nunset grid\nunset "
          "colorbox\nset cbrange [0:1]\nset palette defined (0 "
          "'#ffffff', 1 '#bcd9c0')\nset xrange [-10:10]\nset yrange [-10:10]\nset size ratio 1\nset samples "
          "2\n",
          p.script);
    for (int random = 1; random >= 0; --random) {
        for (size_t s = 0; ok && s < SIZES; ++s) {
            char name[64], title[64];
            env_set set = draw(random != 0, sizes[s], 0);
            const env_problem q = {ENV_HENON_KERNEL, env_set_readings(&set, noise), ENV_HENON_NORM, 0.0};
            hf_envelope *envelope = env_problem_envelope(r->ctx, &q, "readings");
            case_name(random != 0, sizes[s], 0, name, sizeof name);
            snprintf(title, sizeof title, "%s, %zu", random ? "random" : "grid", sizes[s] * sizes[s]);
            ok = envelope && env_optimal(r->ctx, envelope, b.m, mesh, &b);
            if (ok) print_panel(p.script, title, &b, &set, env_rows_find(&r->rows, name));
            hf_envelope_free(envelope);
            env_set_free(&set);
        }
        for (size_t i = 0; i < b.m; ++i) b.upper[i] = env_henon(mesh + 2 * i);
        if (random) print_panel(p.script, "the map itself", &b, NULL, env_rows_find(&r->rows, "truth"));
    }
    fputs("unset multiplot\n", p.script);
    env_bounds_free(&b);
    free(mesh);
    return picture_draw(&p, stem, 1300, 680) && ok;
}

int main(int argc, char **argv)
{
    run r = {.runs = RUNS, .rows = {.columns = columns, .width = COLUMNS}};
    const option_row options[] = {option_number(
        "draws", "N", "of the readings, one after the other from seed 1 (default 10)", &r.runs, 1, 1000)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(
        argc, argv, "envelope-example2", "Example 2: the cheapest point that readings prove feasible.",
        "--json example2.jsonl --picture example2", sizeof options / sizeof *options, options, &program);
}
