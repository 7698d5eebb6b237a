/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast certify --what classes: the probabilities of all classes, and which of them remain. */
#include "certify/certify_request.h"

#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 2 /* numbers of each class */
};

/* "p_", the class, an ending; NULL when out of memory or when an input is called so. */
static hf_status add_name(certified *run, const char *before, size_t class, const char *after, char **out)
{
    const char *name = hf_model_class(run->model, class);
    const size_t room = strlen(before) + strlen(name) + strlen(after) + 1;
    *out = malloc(room);
    if (*out == NULL) return HF_ERR_MEMORY;
    (void)snprintf(*out, room, "%s%s%s", before, name, after);
    if (!table_has(run->answers, *out)) return HF_OK;
    return REFUSE(run, "an input is called \"%s\" like a column of the result; rename it", *out);
}

/* Both ends of the probability of a class. */
static hf_status tell_ends(certified *run, size_t class, const hf_class_range *out, double *column)
{
    static const char *const ends[COLUMNS] = {"_lower", "_upper"};
    const size_t classes = hf_model_classes(run->model);
    hf_status status = HF_OK;
    for (size_t e = 0; e < COLUMNS && status >= 0; e++) {
        char *name = NULL;
        for (size_t k = 0; k < run->m; k++) {
            const hf_range *r = &out[k * classes + class].range;
            column[k] = e == 0 ? r->lower : r->upper;
        }
        status = add_name(run, "p_", class, ends[e], &name);
        if (status >= 0) status = hf_table_set_numbers(run->session.ctx, run->answers, name, column);
        free(name);
    }
    return status;
}

static hf_status tell_chance(certified *run, const certify_request *asked, size_t class,
                             const hf_class_range *out, size_t *choice)
{
    const size_t classes = hf_model_classes(run->model), count = HF_CHANCE_OPEN + 1;
    const char *text[HF_CHANCE_OPEN + 1];
    char room[HF_CHANCE_OPEN + 1][CERTIFY_STATUS], *name = NULL;
    for (size_t k = 0; k < count; k++)
        text[k] = certify_status_text(asked, hf_enum_name(HF_ENUM_CHANCE, (unsigned)k), room[k]);
    for (size_t k = 0; k < run->m; k++) choice[k] = (size_t)out[k * classes + class].chance;
    hf_status status = add_name(run, "class_", class, "", &name);
    if (status >= 0) status = certified_text(run, name, count, text, choice);
    free(name);
    return status;
}

/* The sum over the classes of box k. */
typedef struct box_sum {
    double possible, nodes, seconds;
    hf_certify_stop stop; /* the worst of the ranges' */
    bool open;
} box_sum;

static box_sum add_up(const hf_class_range *of, size_t classes, bool two)
{
    box_sum sum = {0};
    for (size_t c = 0; c < classes; c++) {
        const bool told = two && c > 0; /* one range for both */
        sum.possible += of[c].chance != HF_CHANCE_NONE ? 1.0 : 0.0;
        sum.nodes += told ? 0.0 : (double)of[c].range.nodes;
        sum.seconds += told ? 0.0 : of[c].range.seconds;
        if (of[c].range.stop > sum.stop) sum.stop = of[c].range.stop;
        sum.open |= of[c].chance == HF_CHANCE_OPEN;
    }
    return sum;
}

static hf_status tell_sums(certified *run, certify_request *asked, const hf_class_range *out, double *block,
                           size_t *stop)
{
    const size_t m = run->m, classes = hf_model_classes(run->model);
    for (size_t k = 0; k < m; k++) {
        const box_sum sum = add_up(out + k * classes, classes, classes == 2);
        block[k] = sum.nodes;
        block[m + k] = sum.seconds;
        stop[k] = (size_t)sum.stop;
        asked->unfinished += sum.open && sum.stop <= HF_CERTIFY_DECIDED;
    }
    const hf_status status = certify_stops(run, asked, stop);
    return status >= 0 ? certified_numbers(run, certify_costs, block) : status;
}

static hf_status tell_classes(certified *run, certify_request *asked, const hf_class_range *out)
{
    static const char *const first[] = {"possible", NULL};
    const size_t m = run->m, classes = hf_model_classes(run->model);
    double *block = calloc(2 * m + 1, sizeof *block);
    size_t *choice = calloc(m + 1, sizeof *choice);
    hf_status status = block != NULL && choice != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < m && status >= 0; k++)
        block[k] = add_up(out + k * classes, classes, classes == 2).possible;
    if (status >= 0) status = certified_numbers(run, first, block);
    for (size_t c = 0; c < classes && status >= 0; c++) {
        status = tell_ends(run, c, out, block);
        if (status >= 0) status = tell_chance(run, asked, c, out, choice);
    }
    if (status >= 0) status = tell_sums(run, asked, out, block, choice);
    TOOL_FREE(block, choice);
    return status;
}

hf_status certify_classes(certified *run, certify_request *asked)
{
    static const char *const names[] = {"radius", "possible", "status", "nodes", "seconds", NULL};
    hf_status status = certify_begin(run, asked, names);
    hf_class_range *out = calloc(run->m * hf_model_classes(run->model) + 1, sizeof *out);
    if (out == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_certify_classes(run->session.ctx, run->classifier, &asked->settings, run->m, run->lower,
                                    run->upper, out, NULL);
    if (status >= 0) status = tell_classes(run, asked, out);
    free(out);
    return status;
}
