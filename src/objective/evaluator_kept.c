/* SPDX-License-Identifier: Apache-2.0 */
/* Results of an evaluation that are kept for whoever asks about the same model and readings next. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <string.h>

static size_t key_room(const hfi_evaluator *e)
{
    return hf_sites_channels(e->sites) + hf_kernel_parameters(e->kernel) + 4 * e->rows;
}

hf_status hfi_kept_begin(hfi_evaluator *e)
{
    hfi_kept *k = hfi_alloc(e->ctx, 1, sizeof *k);
    if (!k) return HF_ERR_MEMORY;
    e->kept = k;
    const hf_status status =
        HFI_ALLOC(e->ctx, HFI_ROOM(k->row, e->rows), HFI_ROOMS(k->key, 2, key_room(e)),
                  HFI_ROOM(k->gradient, hfi_evaluator_parameters(e)), HFI_ROOM(k->alpha, e->rows),
                  HFI_ROOM(k->diagonal, e->rows), HFI_ROOMS(k->factor, e->rows, e->rows));
    if (status < 0) hfi_kept_free(e);
    return status;
}

void hfi_kept_free(hfi_evaluator *e)
{
    if (!e->kept) return;
    HFI_FREE(e->ctx, e->kept->row, e->kept->key, e->kept->gradient, e->kept->alpha, e->kept->diagonal,
             e->kept->factor, e->kept);
    e->kept = NULL;
}

/* All that an answer depends on beside rows and inputs. Returns how many numbers. */
static size_t put_key(hfi_evaluator *e, double *key)
{
    double *q = key;
    for (size_t c = 0; c < hf_sites_channels(e->sites); c++) *q++ = hf_sites_channel_noise(e->sites, c);
    hfi_kernel_theta(e->kernel, q);
    q += hf_kernel_parameters(e->kernel);
    hfi_evaluator_residuals(e);
    const double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL), *d = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    for (size_t i = 0; i < e->n; i++) {
        *q++ = r[i];
        *q++ = d[i];
        *q++ = e->sites->shift[e->row[i]];
        *q++ = hfi_sites_variance_slope(e->sites, e->row[i]);
    }
    return (size_t)(q - key);
}

bool hfi_kept_knows(hfi_evaluator *e)
{
    hfi_kept *k = e->kept;
    if (!k || !k->valid || k->n != e->n || memcmp(k->row, e->row, e->n * sizeof *k->row) != 0) return false;
    double *now = k->key + key_room(e);
    const size_t count = put_key(e, now);
    return memcmp(k->key, now, count * sizeof *now) == 0;
}

void hfi_kept_take_factor(hfi_evaluator *e)
{
    hfi_kept *k = e->kept;
    k->valid = k->whole = false;
    k->n = e->n;
    k->jitter = e->jitter;
    memcpy(k->row, e->row, e->n * sizeof *k->row);
    (void)put_key(e, k->key);
    memcpy(k->alpha, hfi_evaluator_vector(e, HFI_EV_ALPHA), e->n * sizeof *k->alpha);
    for (size_t j = 0; j < e->n; j++)
        memcpy(k->factor + j * (e->n + 1), e->a + j * (e->n + 1), (e->n - j) * sizeof *k->factor);
}

void hfi_kept_take_answer(hfi_evaluator *e, hf_status status, double value, const double *gradient)
{
    hfi_kept *k = e->kept;
    k->whole = k->valid;
    k->status = status;
    k->value = value;
    memcpy(k->gradient, gradient, hfi_evaluator_parameters(e) * sizeof *gradient);
}

bool hfi_kept_answers(hfi_evaluator *e, hf_status *status, double *value, double *gradient)
{
    const hfi_kept *k = e->kept;
    if (!k || !k->whole || !hfi_kept_knows(e)) return false;
    *status = k->status;
    *value = k->value;
    if (gradient) memcpy(gradient, k->gradient, hfi_evaluator_parameters(e) * sizeof *gradient);
    return true;
}
