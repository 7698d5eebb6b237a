/* SPDX-License-Identifier: Apache-2.0 */
/* The factor in 16 bits. Rounding of L changes K + D by E = dL L' + L dL', and a variance by w'E w with the weights w of the
 * prediction, |w|^2 <= variance / site variance. Only the first columns of L are large, as they have what all readings
 * share, so that they alone need more than 16 bits. */
#include "export/export_c.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST = 32767
};

/* Steps may change K + D by this share of the least squared pivot. */
static const double felt = 2e-3;

size_t hfi_compact_lead(size_t n, const double *l, size_t ld)
{
    double least = INFINITY;
    size_t lead = 0;
    for (size_t j = 0; j < n; j++) least = fmin(least, l[j + j * ld] * l[j + j * ld]);
    for (size_t j = 0; j < n; j++) {
        double most = 0.0;
        for (size_t i = j + 1; i < n; i++) most = fmax(most, fabs(l[i + j * ld]));
        if (most * most > felt * least * MOST) lead = j + 1;
    }
    return lead;
}

double hfi_compact_step(const double *l, size_t ld, size_t row, size_t lead)
{
    double most = 0.0;
    for (size_t j = lead; j < row; j++) most = fmax(most, fabs(l[row + j * ld]));
    return most / MOST;
}

double hfi_compact_entry(double value, double step)
{
    return step > 0.0 ? fmin(fmax(nearbyint(value / step), -MOST), MOST) : 0.0;
}

/* Rows one after the other: of the first columns, and of the others. */
static void write_entries(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld, size_t lead)
{
    char text[48];
    size_t first = 0, rest = 0, done = 0;
    for (size_t i = 0; i < n; i++) {
        first += i < lead ? i : lead;
        rest += i > lead ? i - lead : 0;
    }
    double *work = hfi_alloc(e->ctx, first + 1, sizeof *work);
    if (work == NULL) {
        e->status = HF_ERR_MEMORY;
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i && j < lead; j++) work[done++] = l[i + j * ld];
    snprintf(text, sizeof text, "%s_lead", name);
    if (lead > 0) hfi_emit_table(e, text, first, work, 1);
    hfi_free(e->ctx, work);
    hfi_emit_open(e, "short", name, rest);
    for (size_t i = lead + 1; i < n && e->status >= 0; i++) {
        const double step = hfi_compact_step(l, ld, i, lead);
        for (size_t j = lead; j < i; j++) {
            snprintf(text, sizeof text, "%d", (int)hfi_compact_entry(l[i + j * ld], step));
            hfi_emit_entry(e, text, i + 1 == n && j + 1 == i);
        }
    }
    hfi_emit_close(e, 2 * rest);
}

static void write_steps(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld, size_t lead)
{
    char title[48];
    double *work = hfi_alloc(e->ctx, n, sizeof *work);
    if (work == NULL) {
        e->status = HF_ERR_MEMORY;
        return;
    }
    for (size_t i = 0; i < n; i++) work[i] = hfi_compact_step(l, ld, i, lead);
    snprintf(title, sizeof title, "%s_step", name);
    hfi_emit_table(e, title, n, work, 1);
    hfi_free(e->ctx, work);
}

void hfi_emit_compact(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld)
{
    const size_t lead = hfi_compact_lead(n, l, ld);
    write_entries(e, name, n, l, ld, lead);
    hfi_emit_diagonal(e, name, n, l, ld);
    write_steps(e, name, n, l, ld, lead);
    hfi_emit(
        e,
        "\n/* L v = v, row by row: %zu columns in float, the others in 16 bits with a step for each row. */\n"
        "static void solve_%s(`_real v[%zu])\n{\n    unsigned long at = 0UL%s;\n    unsigned i;\n"
        "    for (i = 0U; i < %zuU; i++) {\n        `_real sum = 0.0@, steps = 0.0@;\n        unsigned j = "
        "0U;\n",
        lead, name, n, lead > 0 ? ", lead = 0UL" : "", n);
    if (lead > 0)
        hfi_emit(
            e,
            "        for (; (j < i) && (j < %zuU); j++) {\n            sum += %s_lead[lead + j] * v[j];\n"
            "        }\n        lead += j;\n",
            lead, name);
    hfi_emit(e,
             "        for (; j < i; j++) {\n            steps += (float)%s[at] * v[j];\n            at++;\n  "
             "      }\n"
             "        v[i] = (v[i] - (sum + (%s_step[i] * steps))) * %s_inverse[i];\n    }\n}\n",
             name, name, name);
}
