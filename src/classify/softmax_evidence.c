/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of more than two classes at given hyperparameters: the evidence, the posterior, and the kernel that
 * makes classes independent. */
#include "classify/softmax.h"
#include <stdio.h>
#include <string.h>

hf_status hfi_softmax_settled(const hfi_softmax_problem *p)
{
    if (p->converged) return HF_OK;
    return hfi_fail(p->ctx, HF_WARN_NOT_CONVERGED,
                    "laplace inference stopped after %zu steps before it settled", p->rounds);
}

hf_status hfi_softmax_evidence(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean, size_t n,
                               const double *x, size_t ldx, const size_t *label, size_t classes,
                               double *value, double *gradient)
{
    hfi_softmax_problem p;
    hf_status s = hfi_softmax_init(ctx, kernel, mean, n, x, ldx, label, classes, &p);
    if (s < 0) return s;
    s = hfi_softmax_check_kernel(&p);
    if (s >= 0) s = hfi_softmax_evaluate(&p, value, gradient);
    if (s >= 0) s = hfi_softmax_settled(&p);
    hfi_softmax_free(&p);
    return s;
}

hf_status hfi_softmax_give(hfi_softmax_problem *p, const hfi_scaling *scaling, hf_posterior **out)
{
    hfi_solution solution;
    double *noises = hfi_alloc(p->ctx, p->classes, sizeof *noises);
    hf_posterior *made = NULL;
    hf_status s = noises ? hfi_softmax_solution(p, &solution) : HF_ERR_MEMORY;
    if (s >= 0) {
        s = hfi_posterior_create(p->ctx, p->kernel, p->mean, &solution, scaling, 0.0, 1.0, &made);
        if (s >= 0) s = hfi_posterior_set_noises(p->ctx, made, noises);
        hfi_solution_free(&solution);
    }
    hfi_free(p->ctx, noises);
    if (s < 0)
        hf_posterior_free(made);
    else
        *out = made;
    return s;
}

/* In the user's own units. */
static hf_status give(hfi_softmax_problem *p, hf_posterior **out)
{
    hfi_scaling scaling = {0};
    double *units = hfi_alloc(p->ctx, p->classes, 2 * sizeof *units);
    if (!units) return HF_ERR_MEMORY;
    for (size_t c = 0; c < p->classes; c++) units[p->classes + c] = 1.0;
    hf_status s = hfi_scaling_identity(p->ctx, p->d, &scaling);
    if (s >= 0) s = hfi_scaling_set_outputs(p->ctx, &scaling, p->classes, units, units + p->classes);
    if (s >= 0) s = hfi_softmax_give(p, &scaling, out);
    hfi_scaling_free(&scaling);
    hfi_free(p->ctx, units);
    return s;
}

hf_status hfi_softmax_posterior(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean, size_t n,
                                const double *x, size_t ldx, const size_t *label, size_t classes,
                                bool correct, hf_posterior **out, double *value)
{
    hfi_softmax_problem p;
    double found = 0.0;
    hf_status s = hfi_softmax_init(ctx, kernel, mean, n, x, ldx, label, classes, &p);
    if (s < 0) return s;
    s = hfi_softmax_check_kernel(&p);
    if (s >= 0) s = hfi_softmax_evaluate(&p, &found, NULL);
    if (s >= 0 && correct) s = hfi_softmax_correct(&p);
    if (s >= 0) s = give(&p, out);
    if (s >= 0 && value) *value = found;
    if (s >= 0) s = hfi_softmax_settled(&p);
    hfi_softmax_free(&p);
    return s;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t used, bytes;
} writer;

static void add(writer *w, const char *text)
{
    const size_t length = strlen(text);
    memcpy(w->text + w->used, text, length + 1);
    w->used += length;
}

/* The column, a quote in its name written twice. */
static void add_column(writer *w, const char *column, size_t d)
{
    if (!column) {
        w->used += (size_t)snprintf(w->text + w->used, w->bytes - w->used, "x%zu", d);
        return;
    }
    add(w, "'");
    for (const char *c = column; *c; c++) add(w, *c == '\'' ? "''" : (char[]){*c, '\0'});
    add(w, "'");
}

/* Adds a coregion of one class alone: all of W is held at 0 but one entry of its diagonal, which is trained. */
static void add_own(writer *w, const char *column, size_t d, size_t classes, size_t own)
{
    add(w, "coregion(");
    add_column(w, column, d);
    w->used += (size_t)snprintf(w->text + w->used, w->bytes - w->used, ", outputs=%zu", classes);
    for (size_t a = 0; a < classes; a++)
        for (size_t b = 0; b <= a; b++)
            w->used += (size_t)snprintf(w->text + w->used, w->bytes - w->used, ", factor[%zu,%zu]%s", a, b,
                                        a == b && a == own ? "~1" : "=0");
    add(w, ")*(");
}

/* The identity between classes, and a variance that they share. */
static void add_shared(writer *w, const char *column, size_t d, size_t classes)
{
    add(w, "coregion(");
    add_column(w, column, d);
    w->used += (size_t)snprintf(w->text + w->used, w->bytes - w->used,
                                ", outputs=%zu, rank=1, factor=0, own=1)*constant*(", classes);
}

char *hfi_softmax_expression(hf_context *ctx, const char *expression, const char *column, size_t d,
                             size_t classes, bool shared)
{
    const size_t terms = shared ? 1 : classes, entries = shared ? 0 : terms * classes * (classes + 1) / 2;
    const size_t name = column ? 2 * strlen(column) : 0;
    writer w = {.bytes = terms * (strlen(expression) + name + 128) + 64 * entries};
    w.text = hfi_alloc(ctx, w.bytes, 1);
    if (!w.text) return NULL;
    for (size_t t = 0; t < terms; t++) {
        if (t > 0) add(&w, " + ");
        if (shared)
            add_shared(&w, column, d, classes);
        else
            add_own(&w, column, d, classes, t);
        add(&w, expression);
        add(&w, ")");
    }
    return w.text;
}
