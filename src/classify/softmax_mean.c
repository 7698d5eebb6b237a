/* SPDX-License-Identifier: Apache-2.0 */
/* The mean that goes best with Laplace's covariance under the softmax link. The posterior of latent values
 * that are hardly bounded is long towards the far side, so that its mean lies well beyond its mode; with
 * covariance S at the mode held, the normal q = N(m + g, S) nearest to the posterior in the sense of
 * variational inference has
 *
 *     the largest  sum_i E_q l_i(f_i) - g'K^-1 g / 2,    which is concave in g:    K^-1 g = y - E_q p
 *
 * (van Niekerk and Rue, Low-rank variational Bayes correction to the Laplace method, JMLR 25, 2024). Newton's
 * method as to the mode, with expectations over the C values of a reading in place of values. E_q W_i is not
 * of the form D - P P' that factors cheaply; the nearest of this form takes its place, in the direction of a
 * step only. Expectations are averages over fixed points, pairs z and -z, so that the whole is a smooth
 * concave function, exactly maximised; each expectation is known to some 0.005. */
#include "classify/softmax.h"
#include <string.h>

hf_status hfi_softmax_correct(hfi_softmax_problem *p)
{
    const size_t length = p->classes * p->n, rounds = p->rounds;
    const bool converged = p->converged;
    double *mode = hfi_alloc(p->ctx, length, sizeof *mode);
    hf_status s = mode ? hfi_softmax_spread_make(p) : HF_ERR_MEMORY;
    if (s >= 0) {
        memcpy(mode, p->probability, length * sizeof *mode);
        s = hfi_softmax_newton(p);
        memcpy(p->probability, mode, length * sizeof *mode); /* which the covariance is of */
        p->rounds += rounds;
        p->converged = p->converged && converged;
    }
    hfi_softmax_spread_free(p);
    hfi_free(p->ctx, mode);
    return s;
}
