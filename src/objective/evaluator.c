/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of an objective: one factorisation, exact gradient. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include "objective/kronecker.h"
#include <math.h>
#include <string.h>

double hfi_evaluator_bytes(size_t rows, size_t d, bool leave_one_out)
{
    const double n = (double)rows;
    return 8.0 * ((leave_one_out ? 3.0 : 1.0) * n * n + n * ((double)d + HFI_EV_COUNT + 1.0));
}

static hf_status refuse_bytes(hf_context *ctx, size_t rows, double bytes)
{
    size_t available;
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    return hfi_fail(
        ctx, HF_ERR_TOO_LARGE,
        "an exact fit of %zu readings needs %.3g GB of memory, %.3g GB are available; use fewer rows", rows,
        bytes / 1e9, (double)available / 1e9);
}

/* What an evaluator has whoever holds its matrices. */
static bool allocate_rows(hf_context *ctx, hfi_evaluator *e, size_t rows, size_t d, const double *x,
                          size_t ldx)
{
    *e = (hfi_evaluator){.ctx = ctx, .rows = rows, .d = d, .x = x, .ldx = ldx};
    e->row = hfi_alloc(ctx, rows, sizeof *e->row);
    e->inputs = hfi_alloc(ctx, rows, d * sizeof *e->inputs);
    e->vectors = hfi_alloc(ctx, rows, HFI_EV_COUNT * sizeof *e->vectors);
    return e->row && e->inputs && e->vectors;
}

hf_status hfi_evaluator_init(hf_context *ctx, hfi_evaluator *e, bool leave_one_out, size_t rows, size_t d,
                             const double *x, size_t ldx)
{
    memset(e, 0, sizeof *e);
    const hf_status refused = refuse_bytes(ctx, rows, hfi_evaluator_bytes(rows, d, leave_one_out));
    if (refused < 0) return refused;
    size_t square;
    if (!hfi_size_mul(rows, rows, &square)) return hfi_out_of_memory(ctx);
    bool ok = allocate_rows(ctx, e, rows, d, x, ldx);
    if (ok) ok = (e->a = hfi_alloc(ctx, square, sizeof *e->a)) != NULL;
    if (ok && leave_one_out) {
        e->b = hfi_alloc(ctx, square, sizeof *e->b);
        e->c = hfi_alloc(ctx, square, sizeof *e->c);
        ok = e->b && e->c;
    }
    if (ok) return HF_OK;
    hfi_evaluator_free(e);
    return HF_ERR_MEMORY;
}

hf_status hfi_evaluator_init_group(hf_context *ctx, hfi_evaluator *e, bool leave_one_out, size_t rows,
                                   size_t d, const double *x, size_t ldx)
{
    memset(e, 0, sizeof *e);
    const double parts = leave_one_out ? 3.0 : 1.0;
    hf_status s = refuse_bytes(ctx, rows, parts * hfi_exact_grid_part_bytes(ctx, rows));
    if (s >= 0 && !allocate_rows(ctx, e, rows, d, x, ldx)) s = HF_ERR_MEMORY;
    s = hfi_group_agree(ctx, s);
    if (s >= 0) s = hfi_group_evaluator_init(e, leave_one_out);
    if (s < 0) hfi_evaluator_free(e);
    return s;
}

/* The context may be NULL, in a zeroed struct as in one made without a context. */
void hfi_evaluator_free(hfi_evaluator *e)
{
    hfi_free(e->ctx, e->row);
    hfi_free(e->ctx, e->inputs);
    hfi_free(e->ctx, e->a);
    hfi_free(e->ctx, e->b);
    hfi_free(e->ctx, e->c);
    hfi_free(e->ctx, e->vectors);
    if (e->inducing) hfi_inducing_free(e->inducing);
    hfi_free(e->ctx, e->inducing);
    hfi_projected_evaluator_free(e);
    hfi_group_evaluator_free(e);
    hfi_kronecker_free(e);
    hfi_kept_free(e);
    memset(e, 0, sizeof *e);
}

hf_status hfi_evaluator_select(hfi_evaluator *e)
{
    if (e->inducing || e->projected) {
        e->n = hf_sites_present(e->sites);
        return e->n > 0 ? HF_OK : hfi_fail(e->ctx, HF_ERR_NO_DATA, "no reading is left to fit");
    }
    size_t n = 0;
    for (size_t i = 0; i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i)) continue;
        e->row[n] = i;
        memcpy(e->inputs + n * e->d, e->x + i * e->ldx, e->d * sizeof *e->inputs);
        n++;
    }
    e->n = n;
    if (n == 0) return hfi_fail(e->ctx, HF_ERR_NO_DATA, "no reading is left to fit");
    return e->group ? hfi_exact_grid_select(&e->group->system, n, e->inputs) : HF_OK;
}

/* Lower triangle of K + D of the present readings. */
static hf_status fill(void *arg, double *a, size_t lda)
{
    hfi_evaluator *e = arg;
    const hf_status s = hfi_kernel_gram_lower(e->ctx, e->kernel, e->n, e->inputs, e->d, a, lda);
    if (s < 0) return s;
    const double *variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    for (size_t i = 0; i < e->n; i++) a[i + i * lda] += variance[i];
    return s;
}

void hfi_evaluator_residuals(hfi_evaluator *e)
{
    double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL),
           *variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    const double *z = hf_sites_targets(e->sites), *d = hf_sites_variances(e->sites);
    hf_mean_evaluate(e->mean, e->n, e->inputs, e->d, r);
    for (size_t i = 0; i < e->n; i++) {
        r[i] = z[e->row[i]] - r[i];
        variance[i] = d[e->row[i]];
    }
}

hf_status hfi_evaluator_factor(hfi_evaluator *e)
{
    double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL), *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA);
    hfi_evaluator_residuals(e);
    if (e->kept) e->kept->whole = false;
    const hf_status s = hfi_chol_jitter(e->ctx, e->n, e->a, e->n, hfi_kernel_typical_variance(e->kernel),
                                        fill, e, &e->jitter);
    if (s < 0) return s;
    memcpy(alpha, r, e->n * sizeof *alpha);
    hfi_chol_solve(e->n, e->a, e->n, alpha);
    return s;
}

typedef struct outer_job {
    hfi_evaluator *e;
    bool leave_one_out;
} outer_job;

enum {
    COLUMNS = 32
}; /* of the weight matrix in one task */

/* Some columns of the weight matrix W with d objective = sum_ij W_ij d(K + D)_ij, lower triangle, in place of G
 * (evidence) or of G diag(g_bar) G (leave-one-out). */
static void weight_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const outer_job *job = arg;
    const hfi_evaluator *e = job->e;
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA), *p = hfi_evaluator_vector(e, HFI_EV_PRODUCT);
    const size_t first = task * COLUMNS, end = first + COLUMNS < e->n ? first + COLUMNS : e->n;
    for (size_t j = first; j < end; j++) {
        double *w = (job->leave_one_out ? e->c : e->a) + j * e->n;
        if (job->leave_one_out)
            for (size_t i = j; i < e->n; i++) w[i] = -0.5 * (p[i] * alpha[j] + alpha[i] * p[j]) - w[i];
        else
            for (size_t i = j; i < e->n; i++) w[i] = 0.5 * (alpha[i] * alpha[j] - w[i]);
    }
}

void hfi_evaluator_collect(hfi_evaluator *e, const double *w, size_t step, const double *v_bar,
                           double *gradient)
{
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    double *noise = gradient + kernel_count + mean_count;
    memset(gradient + kernel_count, 0, (mean_count + hf_sites_channels(e->sites)) * sizeof *gradient);
    hfi_mean_adjoint(e->mean, e->n, e->inputs, e->d, hfi_evaluator_vector(e, HFI_EV_MEAN_BAR),
                     gradient + kernel_count);
    const double *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
    for (size_t i = 0; i < e->n; i++) {
        const size_t row = e->row[i];
        const double slope = hfi_sites_variance_slope(e->sites, row);
        double bar = w[i * step] * slope + z_bar[i] * e->sites->shift[row];
        if (v_bar) bar += v_bar[i] * (1.0 - slope);
        noise[hfi_sites_channel(e->sites, row)] += bar;
    }
    for (size_t c = 0; c < hf_sites_channels(e->sites); c++) noise[c] *= hf_sites_channel_noise(e->sites, c);
}

/* From the derivatives in K + D, m, z and v to the gradient in the parameters. `v_bar` may be NULL
 * (evidence). */
static hf_status collect_gradient(hfi_evaluator *e, const double *w, const double *v_bar, double *gradient)
{
    memset(gradient, 0, hf_kernel_parameters(e->kernel) * sizeof *gradient);
    const hf_status s = hfi_kernel_gram_adjoint(e->ctx, e->kernel, e->n, e->inputs, e->d, w, e->n, gradient);
    if (s >= 0) hfi_evaluator_collect(e, w, e->n + 1, v_bar, gradient);
    return s;
}

/* From the factor in `a` to the inverse. */
static void invert(hfi_evaluator *e)
{
    if (!e->kept) {
        hfi_chol_inverse(e->ctx, e->n, e->a, e->n);
        return;
    }
    hfi_kept_take_factor(e);
    hfi_chol_inverse_diagonal(e->ctx, e->n, e->a, e->n, e->a, e->kept->diagonal);
    hfi_triangle_square(e->ctx, e->n, e->a, e->n);
    e->kept->valid = true;
}

static hf_status evidence(hfi_evaluator *e, double *value, double *gradient)
{
    hf_status solved;
    if (hfi_kept_answers(e, &solved, value, gradient)) return solved;
    solved = hfi_evaluator_factor(e);
    if (solved < 0) return solved;
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA);
    const double result = -0.5 * hfi_dot(e->n, hfi_evaluator_vector(e, HFI_EV_RESIDUAL), alpha) -
                          0.5 * hfi_chol_logdet(e->n, e->a, e->n) - (double)e->n * HFI_HALF_LOG_2PI;
    if (gradient) {
        invert(e);
        outer_job job = {e, false};
        hfi_parallel_for(e->ctx, (e->n + COLUMNS - 1) / COLUMNS, weight_columns, &job);
        double *mean_bar = hfi_evaluator_vector(e, HFI_EV_MEAN_BAR),
               *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
        for (size_t i = 0; i < e->n; i++) {
            mean_bar[i] = alpha[i];
            z_bar[i] = -alpha[i];
        }
        const hf_status s = collect_gradient(e, e->a, NULL, gradient);
        if (s < 0) return s;
        if (e->kept) hfi_kept_take_answer(e, solved, result, gradient);
    }
    *value = result;
    return solved;
}

double hfi_evaluator_leave_one_out(hfi_evaluator *e, bool weighted, const double *g, size_t step)
{
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA),
                 *d = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    double *a_bar = hfi_evaluator_vector(e, HFI_EV_A_BAR), *g_bar = hfi_evaluator_vector(e, HFI_EV_G_BAR),
           *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
    double *v_bar = hfi_evaluator_vector(e, HFI_EV_V_BAR);
    double sum = 0.0;
    for (size_t i = 0; i < e->n; i++) {
        const size_t row = e->row[i];
        const double own = g[i * step];
        const double s = hfi_sites_noise(e->sites, row);
        const double omega = weighted ? e->sites->weight[row] : 1.0;
        /* Exactly 1/own >= d; rounding may not know it, and the floor keeps the density finite. */
        const double v = fmax(1.0 / own - d[i], 0.0) + fmax(s, 1e-300);
        const double error = e->sites->y[row] - e->sites->target[row] + alpha[i] / own;
        sum -= omega * (HFI_HALF_LOG_2PI + 0.5 * log(v) + 0.5 * error * error / v);
        const double error_bar = -omega * error / v;
        v_bar[i] = omega * 0.5 * (error * error / v - 1.0) / v;
        a_bar[i] = error_bar / own;
        g_bar[i] = -error_bar * alpha[i] / (own * own) - v_bar[i] / (own * own);
        z_bar[i] = -error_bar;
    }
    return sum;
}

static hf_status leave_one_out(hfi_evaluator *e, bool weighted, double *value, double *gradient)
{
    const hf_status solved = hfi_evaluator_factor(e);
    if (solved < 0) return solved;
    hfi_chol_inverse(e->ctx, e->n, e->a, e->n);
    const double result = hfi_evaluator_leave_one_out(e, weighted, e->a, e->n + 1);
    if (gradient) {
        hfi_symmetrise(e->ctx, e->n, e->a, e->n);
        double *product = hfi_evaluator_vector(e, HFI_EV_PRODUCT),
               *mean_bar = hfi_evaluator_vector(e, HFI_EV_MEAN_BAR),
               *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
        hfi_symv(e->n, e->a, e->n, hfi_evaluator_vector(e, HFI_EV_A_BAR), product);
        for (size_t i = 0; i < e->n; i++) {
            mean_bar[i] = -product[i];
            z_bar[i] += product[i];
        }
        hfi_weighted_square(e->ctx, e->n, e->a, e->n, hfi_evaluator_vector(e, HFI_EV_G_BAR), e->c, e->n,
                            e->b);
        outer_job job = {e, true};
        hfi_parallel_for(e->ctx, (e->n + COLUMNS - 1) / COLUMNS, weight_columns, &job);
        const hf_status s = collect_gradient(e, e->c, hfi_evaluator_vector(e, HFI_EV_V_BAR), gradient);
        if (s < 0) return s;
    }
    *value = result;
    return solved;
}

size_t hfi_evaluator_extras(const hfi_evaluator *e)
{
    if (e->inducing && e->inducing->train_inputs) return e->inducing->m * e->inducing->d;
    return e->projected ? hfi_projected_extras(e->projected) : 0;
}

void hfi_evaluator_get_extras(const hfi_evaluator *e, double *values)
{
    if (e->inducing && e->inducing->train_inputs)
        memcpy(values, e->inducing->z, e->inducing->m * e->inducing->d * sizeof *values);
    if (e->projected) hfi_projected_get_extras(e->projected, values);
}

void hfi_evaluator_set_extras(hfi_evaluator *e, const double *values)
{
    if (e->inducing && e->inducing->train_inputs)
        memcpy(e->inducing->z, values, e->inducing->m * e->inducing->d * sizeof *values);
    if (e->projected) hfi_projected_set_extras(e->projected, values);
}

hf_status hfi_evaluator_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    const bool bound = objective != HF_OBJECTIVE_LOO && objective != HF_OBJECTIVE_WLOO;
    if (e->query && !(bound && (e->inducing || e->projected)))
        return hfi_fail(
            e->ctx, HF_ERR_ARGUMENT,
            "points beside the readings go with a bound of the inducing solver or of block actions");
    if (e->inducing) return hfi_inducing_run(e, objective, value, gradient);
    if (e->projected) return hfi_projected_run(e, objective, value, gradient);
    if (objective == HF_OBJECTIVE_WEIGHTED || objective == HF_OBJECTIVE_RCAGP)
        return hfi_fail(e->ctx, HF_ERR_ARGUMENT,
                        "the objective '%s' is a bound for the inducing or the projected solver; the exact "
                        "one has the evidence",
                        hf_enum_name(HF_ENUM_OBJECTIVE, objective));
    if (e->group) return hfi_group_run(e, objective, value, gradient);
    if (objective == HF_OBJECTIVE_EVIDENCE)
        return hfi_kronecker_applies(e) ? hfi_kronecker_run(e, value, gradient)
                                        : evidence(e, value, gradient);
    return leave_one_out(e, objective == HF_OBJECTIVE_WLOO, value, gradient);
}

static hf_status check_objective(hf_context *ctx, hf_objective objective, const hf_kernel *kernel,
                                 const hf_mean *mean, const hf_sites *sites, const double *x, size_t ldx)
{
    const size_t d = hf_kernel_dimension(kernel);
    if ((unsigned)objective > HF_OBJECTIVE_WLOO)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_objective_evaluate: there is no objective %d",
                        (int)objective);
    if (ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "row stride %zu is less than the %zu inputs of the kernel",
                        ldx, d);
    if (hf_mean_get_kind(mean) == HF_MEAN_LINEAR && hf_mean_coefficients(mean) != d + 1)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the linear mean has %zu inputs, but the kernel has %zu",
                        hf_mean_coefficients(mean) - 1, d);
    for (size_t i = 0; i < hf_sites_count(sites); i++)
        for (size_t j = 0; j < d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu (counted from 0) is %g", j, i,
                                x[i * ldx + j]);
    return HF_OK;
}

hf_status hf_objective_evaluate(hf_context *ctx, hf_objective objective, const hf_kernel *kernel,
                                const hf_mean *mean, const hf_sites *sites, const double *x, size_t ldx,
                                double *value, double *gradient)
{
    if (!kernel || !mean || !sites || !x || !value)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "hf_objective_evaluate: kernel, mean, sites, x and value are required");
    hf_status s = check_objective(ctx, objective, kernel, mean, sites, x, ldx);
    if (s < 0) return s;
    hfi_evaluator e;
    const bool leave_one_out = gradient && objective != HF_OBJECTIVE_EVIDENCE;
    const size_t rows = hf_sites_count(sites), d = hf_kernel_dimension(kernel);
    s = hfi_grid_wanted(ctx, rows) ? hfi_evaluator_init_group(ctx, &e, leave_one_out, rows, d, x, ldx)
                                   : hfi_evaluator_init(ctx, &e, leave_one_out, rows, d, x, ldx);
    if (s < 0) return s;
    /* Collected aside: a call that fails leaves the caller's numbers alone. */
    const size_t count = hf_kernel_parameters(kernel) + hf_mean_coefficients(mean) + hf_sites_channels(sites);
    double *found = hfi_alloc(ctx, count, sizeof *found), result = 0.0;
    s = found ? hf_kernel_copy(ctx, kernel, &e.kernel) : HF_ERR_MEMORY;
    if (s >= 0) s = hf_mean_copy(ctx, mean, &e.mean);
    if (s >= 0) s = hf_sites_copy(ctx, sites, &e.sites);
    if (s >= 0) s = hfi_evaluator_select(&e);
    if (s >= 0) s = hfi_evaluator_run(&e, objective, &result, gradient ? found : NULL);
    if (s >= 0 && !isfinite(result))
        s = hfi_fail(ctx, HF_ERR_NOT_FINITE, "the objective overflows; give the target in other units");
    if (s >= 0) {
        *value = result;
        if (gradient) memcpy(gradient, found, count * sizeof *gradient);
    }
    hfi_free(ctx, found);
    hf_kernel_free(e.kernel);
    hf_mean_free(e.mean);
    hf_sites_free(e.sites);
    hfi_evaluator_free(&e);
    return s;
}
