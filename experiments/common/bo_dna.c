/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <holdfast/holdfast.h>
#include <math.h>
#include <stdlib.h>

#include "common/room.h"

/*
 * Lasso-DNA of Sehic, Gramfort, Salmon and Nardi (2022): 180 weights of a lasso,
 *     minimise |y - X w|^2 / (2 n) + sum_j a_j |w_j|,
 * judged by the mean squared error of a cross-validation with five folds. A number x_j in [-1, 1] is the
 * logarithm of a_j, from 1e-5 of the weight at which all w are 0 up to that weight. Training rows and folds
 * are those of the published benchmark (scikit-learn's train_test_split and KFold with the seed 42), and
 * there is no intercept. Everything is computed from the folds' matrices X'X and X'y, which are made once.
 */
enum {
    INPUTS = 180,
    ROWS = 2000,
    HELD_OUT = 300, /* rows that the benchmark keeps aside and never uses here */
    TRAINING = ROWS - HELD_OUT,
    FOLDS = 5,
    FOLD = TRAINING / FOLDS,
    SWEEPS = 20000
};

/* Moments of some rows: X'X, X'y and y'y. The numbers are sums of small whole ones, and therefore exact. */
typedef struct moments {
    double gram[INPUTS * INPUTS], cross[INPUTS], square;
} moments;

typedef struct dna {
    moments held[FOLDS], kept[FOLDS]; /* of the rows of a fold, and of all others */
    double log_least, log_most;       /* of the penalties */
} dna;

/* The generator MT19937 of Matsumoto and Nishimura (1998), which NumPy's RandomState draws from. */
typedef struct twister {
    uint32_t state[624];
    size_t used;
} twister;

static void twister_seed(twister *t, uint32_t seed)
{
    t->used = 624;
    t->state[0] = seed;
    for (uint32_t i = 1; i < 624; ++i) {
        const uint32_t before = t->state[i - 1];
        t->state[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
}

static uint32_t twister_draw(twister *t)
{
    if (t->used == 624) {
        for (size_t i = 0; i < 624; ++i) {
            const uint32_t both = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % 624] & 0x7fffffffu);
            t->state[i] = t->state[(i + 397) % 624] ^ (both >> 1) ^ (both & 1u ? 0x9908b0dfu : 0u);
        }
        t->used = 0;
    }
    uint32_t z = t->state[t->used++];
    z ^= z >> 11;
    z ^= (z << 7) & 0x9d2c5680u;
    z ^= (z << 15) & 0xefc60000u;
    return z ^ (z >> 18);
}

/* The numbers 0 to count - 1 in the order of RandomState(42).permutation(count). */
static void shuffle(size_t count, size_t *order)
{
    twister t;
    twister_seed(&t, 42);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    for (size_t i = count - 1; i > 0; --i) {
        uint32_t mask = (uint32_t)i, drawn;
        for (uint32_t shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
        do drawn = twister_draw(&t) & mask;
        while (drawn > i);
        const size_t other = order[drawn];
        order[drawn] = order[i];
        order[i] = other;
    }
}

static void add_row(moments *m, double y, const double *x)
{
    m->square += y * y;
    for (size_t i = 0; i < INPUTS; ++i) {
        if (x[i] == 0.0) continue;
        m->cross[i] += x[i] * y;
        for (size_t j = 0; j < INPUTS; ++j) m->gram[i * INPUTS + j] += x[i] * x[j];
    }
}

static void add_folds(dna *all, const double *y, const double *x)
{
    size_t order[ROWS], fold[TRAINING];
    double most = 0.0, cross[INPUTS] = {0};
    shuffle(ROWS, order);
    shuffle(TRAINING, fold);
    for (size_t k = 0; k < TRAINING; ++k) {
        const size_t row = order[HELD_OUT + fold[k]];
        for (size_t f = 0; f < FOLDS; ++f)
            add_row(f == k / FOLD ? &all->held[f] : &all->kept[f], y[row], x + row * INPUTS);
    }
    for (size_t f = 0; f < FOLDS; ++f)
        for (size_t j = 0; j < INPUTS; ++j) cross[j] += all->held[f].cross[j];
    for (size_t j = 0; j < INPUTS; ++j) most = fmax(most, fabs(cross[j]));
    all->log_most = log(most / TRAINING);
    all->log_least = all->log_most - log(1e5);
}

static hf_status read_rows(hf_context *ctx, const char *path, double *y, double *x)
{
    hf_table *table = NULL;
    const double *column;
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status >= 0 && (hf_table_rows(table) != ROWS || hf_table_columns(table) != INPUTS + 1)) {
        fprintf(stderr, "%s has %zu rows and %zu columns, not %d and %d\n", path, hf_table_rows(table),
                hf_table_columns(table), ROWS, INPUTS + 1);
        status = HF_ERR_ARGUMENT;
    }
    for (size_t j = 0; j <= INPUTS && status >= 0; ++j) {
        status = hf_table_numbers(ctx, table, j, &column);
        for (size_t i = 0; i < ROWS && status >= 0; ++i)
            *(j == 0 ? &y[i] : &x[i * INPUTS + j - 1]) = column[i];
    }
    hf_table_free(table);
    return status;
}

void *bo_dna_open(const char *path)
{
    hf_context *ctx = hf_context_create();
    dna *all = room(1, sizeof *all);
    double *y = room(ROWS, sizeof *y), *x = room((size_t)ROWS * INPUTS, sizeof *x);
    if (ctx && read_rows(ctx, path, y, x) >= 0) {
        add_folds(all, y, x);
    } else {
        fprintf(stderr, "%s: %s\n", path, ctx ? hf_context_message(ctx) : "out of memory");
        free(all);
        all = NULL;
    }
    free(y);
    free(x);
    hf_context_free(ctx);
    return all;
}

void bo_dna_close(void *context)
{
    free(context);
}

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t j = 0; j < INPUTS; ++j) sum += a[j] * b[j];
    return sum;
}

/* One round of coordinate descent: w_j by soft thresholding, and gw = X'X w with it. Inputs whose weight is 0
 * are passed over where `active` is set. Returns the largest change of a prediction's norm. */
static double sweep(const moments *m, const double *penalty, bool active, double *w, double *gw)
{
    double most = 0.0;
    for (size_t j = 0; j < INPUTS; ++j) {
        const double *column = m->gram + j * INPUTS, diagonal = column[j];
        if (diagonal == 0.0 || (active && w[j] == 0.0)) continue;
        const double pull = m->cross[j] - gw[j] + diagonal * w[j];
        const double next = copysign(fmax(0.0, fabs(pull) - penalty[j]), pull) / diagonal,
                     change = next - w[j];
        if (change == 0.0) continue;
        w[j] = next;
        for (size_t i = 0; i < INPUTS; ++i) gw[i] += change * column[i];
        most = fmax(most, fabs(change) * sqrt(diagonal));
    }
    return most;
}

/* Weights of a lasso; w is where the descent begins, and where it ends. */
static void lasso(const moments *m, const double *penalty, double *w)
{
    double gw[INPUTS];
    const double enough = 1e-9 * sqrt(m->square);
    for (size_t i = 0; i < INPUTS; ++i) gw[i] = dot(m->gram + i * INPUTS, w);
    for (size_t k = 0; k < SWEEPS; ++k) {
        if (sweep(m, penalty, false, w, gw) <= enough) return;
        while (k < SWEEPS && sweep(m, penalty, true, w, gw) > enough) ++k;
    }
}

void bo_dna(const bo_problem *p, const double *x, double *values)
{
    const dna *all = p->context;
    double penalty[INPUTS], w[INPUTS] = {0}, gw[INPUTS], error = 0.0;
    for (size_t j = 0; j < INPUTS; ++j) {
        const double share = 0.5 * (x[j] + 1.0);
        penalty[j] = (TRAINING - FOLD) * exp(all->log_least + share * (all->log_most - all->log_least));
    }
    for (size_t f = 0; f < FOLDS; ++f) { /* each fold begins where the last one ended */
        const moments *held = &all->held[f];
        lasso(&all->kept[f], penalty, w);
        for (size_t i = 0; i < INPUTS; ++i) gw[i] = dot(held->gram + i * INPUTS, w);
        error += (held->square - 2.0 * dot(held->cross, w) + dot(gw, w)) / FOLD;
    }
    values[0] = -error / FOLDS;
}
