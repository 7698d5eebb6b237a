/* SPDX-License-Identifier: Apache-2.0 */
/* Classes in a model file. */
#include "model/class_model.h"

#include "classify/classify.h"

#include "classify/softmax.h"
#include "settings/settings.h"

#include <math.h>

/* A row of the table of classes. */
typedef struct class_row {
    char *name;
    size_t rows;
} class_row;

static const hfi_file_field fields[] = {
    {.key = "a class", .type = HFI_TEXT, .offset = offsetof(class_row, name)},
    {.type = HFI_SIZE, .offset = offsetof(class_row, rows)},
};
static const hfi_file_rows rows = {
    .noun = "class",
    .insert = "INSERT INTO class (position, name, rows) VALUES (?1, ?2, ?3)",
    .select = "SELECT position, name, rows FROM class ORDER BY position",
    .fields = sizeof fields / sizeof fields[0],
    .field = fields,
};

void hfi_class_write(hfi_writer *w, const hf_model *model)
{
    class_row list[HFI_MOST_CLASSES];
    for (size_t c = 0; c < model->classes; c++)
        list[c] = (class_row){model->class_name[c], model->class_count[c]};
    hfi_writer_rows(w, &rows, model->classes, sizeof *list, list);
}

static hf_status read_table(const hfi_reader *r)
{
    hf_model *model = r->model;
    class_row list[HFI_MOST_CLASSES] = {{0}};
    const size_t classes = hfi_reader_count(r, "SELECT count(*) FROM class", 0, NULL);
    if (classes > HFI_MOST_CLASSES) return hfi_reader_damaged(r, "it has more classes than are possible");
    hf_status status = hfi_reader_rows(r, &rows, classes, sizeof *list, list);
    model->classes = classes;
    for (size_t c = 0; c < classes; c++) {
        model->class_name[c] = list[c].name;
        model->class_count[c] = list[c].rows;
        if (status >= 0 && list[c].rows < 1) status = hfi_reader_damaged(r, "a class is of no row");
    }
    return status;
}

hf_status hfi_class_read(const hfi_reader *r)
{
    hf_model *model = r->model;
    const bool every_class = hfi_sites_kind_of(model->settings.sites)->every_class;
    if (model->width != model->d || model->output_column != NULL || model->noise_column != NULL)
        return hfi_reader_damaged(r, "it has classes and what no classifier has");
    if (HFI_ALLOC(r->ctx, HFI_ROOM(model->class_name, HFI_MOST_CLASSES),
                  HFI_ROOM(model->class_count, HFI_MOST_CLASSES)) < 0)
        return HF_ERR_MEMORY;
    hf_status status = read_table(r);
    if (status < 0) return status;
    if (model->classes < 2 || (model->classes > 2 && !every_class))
        return hfi_reader_damaged(r, "so many classes cannot be told apart by its sites");
    status = hfi_meta_text(r, "class_input", true, &model->class_input);
    if (status >= 0 && (model->class_input != NULL) != every_class) status = hfi_meta_bad(r, "class_input");
    return status;
}

hf_status hfi_class_read_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling, double *noises)
{
    const size_t classes = r->model->classes;
    double *both = hfi_alloc(r->ctx, classes, 2 * sizeof *both);
    if (both == NULL) return HF_ERR_MEMORY;
    for (size_t c = 0; c < classes; c++) {
        both[classes + c] = 1.0;
        noises[c] = noise;
    }
    const hf_status status = hfi_scaling_set_outputs(r->ctx, scaling, classes, both, both + classes);
    hfi_free(r->ctx, both);
    return status;
}

/* Classes of the rows are those that the file counts. */
hf_status hfi_class_read_last(const hfi_reader *r)
{
    hf_model *model = r->model;
    size_t count[HFI_MOST_CLASSES] = {0};
    bool good = model->extra == NULL;
    for (size_t i = 0; i < model->n && good; i++) {
        const double y = model->y[i];
        if (isnan(y)) continue;
        good = y >= 0.0 && y < (double)model->classes && y == floor(y);
        if (good) count[(size_t)y]++;
    }
    for (size_t c = 0; c < model->classes && good; c++) good = count[c] == model->class_count[c];
    if (!good) return hfi_reader_damaged(r, "its rows and its classes do not agree");
    return hf_classifier_create(r->ctx, model->posterior, hfi_class_link(model->settings.sites),
                                model->classes, &model->classifier);
}

/* ---- the solution of several latent functions ---------------------------------------------------------- */

enum {
    MOST_COLUMNS = 4000 /* of an R that is made again, in some ten seconds */
};

bool hfi_class_is_restored(const hfi_solution *solution)
{
    return solution->form == HFI_FORM_DENSE && solution->entry != NULL && solution->rank <= MOST_COLUMNS;
}

/* Whether the probabilities of each reading add up to 1; anchors stand class after class. */
static bool are_probabilities(const hfi_solution *s, size_t classes)
{
    const size_t n = s->n / classes;
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t c = 0; c < classes; c++) {
            const double p = s->entry[c * n + i];
            if (!(p >= 0.0 && p <= 1.0) || s->z[(c * n + i) * s->d + s->d - 1] != (double)c) return false;
            sum += p;
        }
        if (!(fabs(sum - 1.0) < 1e-9)) return false;
    }
    return true;
}

hf_status hfi_class_read_solution(const hfi_reader *r, const hf_kernel *kernel, size_t n,
                                  hfi_solution *solution)
{
    const size_t classes = hfi_model_functions(r->model), d = hfi_model_function_width(r->model);
    size_t rank = 0;
    hf_status status = hfi_meta_size(r, "rank", &rank);
    if (status >= 0 && (classes < 2 || n % classes != 0 || rank != n / classes * (classes - 1) ||
                        rank > MOST_COLUMNS || !hfi_reader_has_room(r, n, 1)))
        status = hfi_meta_bad(r, "rank");
    if (status < 0) return status;
    hfi_solution s;
    status = hfi_softmax_solution_alloc(r->ctx, n / classes, d, classes, &s);
    if (status < 0) return status;
    status = hfi_read_accuracy(r, &s);
    if (status >= 0) status = hfi_array_read(r, "anchor_inputs", n, d, false, s.z);
    if (status >= 0) status = hfi_array_read(r, "anchor_weight", n, 1, false, s.t);
    if (status >= 0) status = hfi_array_read(r, "anchor_probability", n, 1, false, s.entry);
    if (status >= 0 && !are_probabilities(&s, classes))
        status = hfi_reader_damaged(r, "the probabilities of its anchors are none");
    if (status >= 0) {
        status = hfi_softmax_restore(r->ctx, kernel, classes, &s);
        if (status < 0 && status != HF_ERR_MEMORY)
            status = hfi_reader_damaged(r, "its covariance matrix cannot be factored");
    }
    if (status < 0)
        hfi_solution_free(&s);
    else
        *solution = s;
    return status;
}
