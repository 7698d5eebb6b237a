/* SPDX-License-Identifier: Apache-2.0 */
/* The matrices of the order of classes, and which classifiers they serve (classes_order.h). */
#include "softmax/classes_order.h"

#include "classify/classify.h"
#include "kernel/kernel.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST = 1 << 23 /* numbers of all matrices */
};

/* ---- what all boxes have in common ------------------------------------------------------------------------------- */

/* Anchors stand class after class, the same rows of each. */
static bool anchors_are_alike(const hfi_solution *s, size_t classes)
{
    const size_t d = s->d, n = s->n / classes;
    if (n == 0 || n * classes != s->n) return false;
    for (size_t i = 0; i < s->n; i++) {
        const double *z = s->z + i * d;
        const size_t class = i / n;
        if (z[d - 1] != (double)class || memcmp(z, s->z + i % n * d, (d - 1) * sizeof *z) != 0) return false;
    }
    return true;
}

static bool find_ratios(const hf_posterior *posterior, hfi_order *o)
{
    const hfi_solution *s = &posterior->solution;
    const double first = hfi_kernel_value(posterior->kernel, s->z, s->z, false);
    for (size_t a = 0; a < o->classes; a++) {
        const double *z = s->z + a * o->n * s->d;
        o->ratio[a] = hfi_kernel_value(posterior->kernel, z, z, false) / first;
        if (!(o->ratio[a] > 0.0) || !isfinite(o->ratio[a])) return false;
    }
    return true;
}

/* M_ab = E'E, E (rank x n) of the rows of R, in units of class 0. */
static void fill_matrix(const hfi_solution *s, const hfi_order *o, size_t a, size_t b, double *e)
{
    const size_t n = o->n, pair = hfi_order_pair(a, b);
    double *out = o->matrix + pair * n * n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < o->rank; k++)
            e[k + i * o->rank] =
                o->ratio[a] * s->r[a * n + i + k * s->n] - o->ratio[b] * s->r[b * n + i + k * s->n];
    hfi_gemm_tn(n, n, o->rank, 1.0, e, o->rank, e, o->rank, 0.0, out, n);
    for (size_t i = 0; i < n; i++) o->trace[pair] += out[i * (n + 1)];
}

static hf_status fill_matrices(hf_context *ctx, hfi_watch *watch, const hfi_solution *s, const hfi_order *o)
{
    double *e = hfi_alloc(ctx, o->n * o->rank, sizeof *e);
    hf_status status = e ? HF_OK : HF_ERR_MEMORY;
    for (size_t a = 1; status >= 0 && a < o->classes; a++)
        for (size_t b = 0; status >= 0 && b < a; b++) {
            fill_matrix(s, o, a, b, e);
            if (!hfi_watch_glance(watch)) status = HF_ERR_CANCELLED;
        }
    hfi_free(ctx, e);
    return status;
}

/* Whether each decision costs another one's more where one of the two is the class, and as much in both cases: all
 * wrong ones alike. */
static bool asks_for_order(const hfi_quantity *of, size_t classes)
{
    if (!of->of_margin) return false;
    for (size_t w = 0; w < classes; w++)
        for (size_t j = 0; j < classes; j++) {
            const double more = hfi_decision_excess(classes, of->loss, j, w, w);
            if (j == w) continue;
            if (!(more > 0.0) || hfi_decision_excess(classes, of->loss, j, w, j) != -more) return false;
            for (size_t b = 0; b < classes; b++)
                if (b != w && b != j && hfi_decision_excess(classes, of->loss, j, w, b) != 0.0) return false;
        }
    return true;
}

hf_status hfi_order_create(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                           const hfi_quantity *quantity, hfi_order **out)
{
    const hfi_solution *s = &posterior->solution;
    const size_t classes = posterior->scaling.outputs, pairs = classes * (classes - 1) / 2;
    *out = NULL;
    if (!asks_for_order(quantity, classes) || s->form != HFI_FORM_DENSE || s->n / classes > MOST ||
        !anchors_are_alike(s, classes))
        return HF_OK;
    const size_t n = s->n / classes;
    if ((double)pairs * (double)n * (double)n > MOST) return HF_OK;
    hfi_order *o = hfi_alloc(ctx, 1, sizeof *o);
    if (!o) return HF_ERR_MEMORY;
    *o = (hfi_order){.memory = hfi_context_memory(ctx), .classes = classes, .n = n, .rank = s->rank};
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(o->ratio, classes), HFI_ROOMS(o->matrix, pairs * n, n),
                                 HFI_ROOM(o->trace, pairs));
    const bool alike = status >= 0 && find_ratios(posterior, o);
    if (alike) status = fill_matrices(ctx, watch, s, o);
    if (alike && status >= 0)
        *out = o;
    else
        hfi_order_free(o);
    return status;
}

void hfi_order_free(hfi_order *o)
{
    if (!o) return;
    const hfi_memory memory = o->memory;
    HFI_MEMORY_FREE(&memory, o->ratio, o->matrix, o->trace, o);
}

/* Whether a term of class a is that of class 0 times the ratio. */
static bool terms_are_alike(const hfi_order *o, size_t a, const hfi_term *own, const hfi_term *first)
{
    const size_t n = o->n;
    if (own->kind != first->kind || own->axes != first->axes || !own->offset != !first->offset) return false;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(own->factor[i] - o->ratio[a] * first->factor[i]) <= 1e-13 * fabs(own->factor[i])))
            return false;
    if (own->kind == HFI_TERM_CONSTANT) return true;
    return own->form == first->form && own->alpha == first->alpha &&
           memcmp(own->axis, first->axis, own->axes * sizeof *own->axis) == 0 &&
           memcmp(own->scale, first->scale, own->axes * sizeof *own->scale) == 0 &&
           memcmp(own->z, first->z, n * own->axes * sizeof *own->z) == 0 &&
           (!own->offset || memcmp(own->offset, first->offset, n * sizeof *own->offset) == 0);
}

double hfi_order_prior(const hfi_classes *c, const double *point)
{
    double variance;
    hfi_kernel_diagonal(c->posterior->kernel, 1, point, c->d, true, &variance);
    return variance;
}

bool hfi_order_serves(const hfi_order *o, const hfi_classes *c)
{
    const hfi_terms *first = c->side[0].taylor.terms;
    for (size_t a = 0; a < c->classes; a++) {
        const hfi_class *side = &c->side[a];
        const hfi_terms *own = side->taylor.terms;
        if (side->taylor.n != o->n || own->count != first->count || !own->smooth_radial ||
            !hfi_taylor_has_third(&side->taylor))
            return false;
        for (size_t k = 0; k < own->count; k++)
            if (!terms_are_alike(o, a, &own->term[k], &first->term[k])) return false;
        /* White variance that depends on the inputs. */
        if (hfi_order_prior(c, side->subject.middle) != hfi_order_prior(c, side->subject.lower) ||
            hfi_order_prior(c, side->subject.middle) != hfi_order_prior(c, side->subject.upper))
            return false;
    }
    return true;
}
