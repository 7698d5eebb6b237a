/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior in a model file: inputs, kernel, mean, and what puts them together. */
#include "model/class_model.h"
#include "model/target.h"

#include <math.h>
#include <string.h>

static hf_status read_names(const hfi_reader *r, hfi_scaling *scaling)
{
    hf_model *model = r->model;
    model->feature = hfi_alloc(r->ctx, model->width, sizeof *model->feature);
    if (model->feature == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_read_features(r, model->d, model->feature, scaling->x_shift, scaling->x_scale);
    if (status >= 0 && model->width > model->d)
        status = hfi_meta_text(r, "output_input", false, &model->feature[model->d]);
    return status;
}

static hf_status read_kernel(const hfi_reader *r, hf_kernel **out)
{
    const hf_model *model = r->model;
    const size_t width = hfi_model_function_width(model), functions = hfi_model_functions(model);
    hf_kernel *kernel = NULL;
    const char **names = hfi_alloc(r->ctx, width, sizeof *names);
    if (names == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < width; j++) names[j] = j < model->width ? model->feature[j] : model->class_input;
    hf_status status = hfi_read_kernel(r, model->kernel, names, width, &kernel);
    hfi_free(r->ctx, names);
    if (status < 0) return status;
    for (size_t k = 0; functions > 1 && k < hf_kernel_coregions(kernel); k++)
        if (hf_kernel_coregion_outputs(kernel, k) != functions) {
            hf_kernel_free(kernel);
            return hfi_reader_damaged(r, "its kernel is for another number of outputs");
        }
    *out = kernel;
    return HF_OK;
}

static hf_status read_mean(const hfi_reader *r, hf_mean **out)
{
    char *name = NULL;
    hf_mean_kind kind;
    bool held = false;
    hf_mean *mean = NULL;
    double *values = NULL;
    hf_status status = hfi_meta_text(r, "mean", false, &name);
    if (status >= 0 && hf_enum_parse(r->ctx, HF_ENUM_MEAN_KIND, name, &kind) < 0)
        status = hfi_meta_bad(r, "mean");
    hfi_memory_free(&r->model->memory, name);
    if (status >= 0) status = hfi_meta_flag(r, "mean_held", &held);
    const size_t functions = hfi_model_functions(r->model), width = hfi_model_function_width(r->model);
    if (status >= 0 && functions > 1 && kind != HF_MEAN_ZERO && kind != HF_MEAN_OUTPUTS)
        status = hfi_meta_bad(r, "mean");
    if (status >= 0)
        status = kind == HF_MEAN_OUTPUTS ? hf_mean_create_outputs(r->ctx, width, functions, &mean)
                                         : hf_mean_create(r->ctx, kind, width, &mean);
    size_t count = status >= 0 ? hf_mean_coefficients(mean) : 0;
    if (status >= 0) status = hfi_array_new(r, "mean", count, 1, false, &values);
    if (status >= 0) status = hf_mean_set(r->ctx, mean, values, held);
    hfi_free(r->ctx, values);
    if (status < 0)
        hf_mean_free(mean);
    else
        *out = mean;
    return status;
}

/* ---- the solution: the exact one is computed again and must agree, others are taken as they are ---------------- */

static hf_status reserve_exact(const hfi_reader *r, size_t n, hfi_solution *solution)
{
    size_t d = hfi_model_function_width(r->model), cells = 0;
    double bytes, flops;
    hfi_exact_cost(n, d, &bytes, &flops);
    size_t available = hfi_available_memory();
    if (!hfi_size_mul(n, n, &cells) || (available != SIZE_MAX && bytes > (double)available))
        return hfi_fail(r->ctx, HF_ERR_TOO_LARGE,
                        "%s: a model of %zu readings needs %.3g GB of memory, %.3g GB are free", r->name, n,
                        bytes / 1e9, (double)available / 1e9);
    return hfi_solution_alloc(r->ctx, n, d, solution);
}

/* The weights that follow from the rest of the file must be the ones that it holds, up to the rounding of
 * another machine. The stored ones are kept: a model predicts the same wherever it is
 * loaded. */
static hf_status check_weights(const hfi_reader *r, hfi_solution *solution, const double *stored)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < solution->n; i++) {
        difference = fmax(difference, fabs(solution->t[i] - stored[i]));
        size = fmax(size, fabs(stored[i]));
    }
    double allowed = fmin(1e-2, 1e-10 + 1e-13 * solution->condition);
    if (!(difference <= allowed * size))
        return hfi_reader_damaged(r, "its weights do not follow from its readings and parameters");
    memcpy(solution->t, stored, solution->n * sizeof *stored);
    return HF_OK;
}

/* Inputs, and where there are readings behind the anchors their residuals and variances. */
static hf_status read_anchors(const hfi_reader *r, hfi_solution *solution)
{
    size_t n = solution->n;
    hf_status status =
        hfi_array_read(r, "anchor_inputs", n, hfi_model_function_width(r->model), false, solution->z);
    const size_t functions = hfi_model_functions(r->model), width = hfi_model_function_width(r->model);
    for (size_t i = 0; status >= 0 && functions > 1 && i < n; i++) {
        const double output = solution->z[i * width + width - 1];
        if (!(output >= 0.0 && output < (double)functions && output == floor(output)))
            status = hfi_reader_damaged(r, "an anchor is of no output");
    }
    if (status < 0 || solution->residual == NULL) return status;
    status = hfi_array_read(r, "anchor_residual", n, 1, false, solution->residual);
    if (status >= 0) status = hfi_array_read(r, "anchor_variance", n, 1, false, solution->variance);
    for (size_t i = 0; status >= 0 && i < n; i++)
        if (!(solution->variance[i] >= 0.0)) status = hfi_reader_damaged(r, "a noise variance is negative");
    return status;
}

static hf_status read_exact(const hfi_reader *r, const hf_kernel *kernel, size_t n, hfi_solution *solution)
{
    hf_status status = reserve_exact(r, n, solution);
    if (status < 0) return status;
    double *stored = NULL;
    status = read_anchors(r, solution);
    if (status >= 0) status = hfi_array_new(r, "anchor_weight", n, 1, false, &stored);
    if (status >= 0) {
        status = hfi_solution_refresh(r->ctx, kernel, solution);
        if (status < 0 && status != HF_ERR_MEMORY)
            status = hfi_reader_damaged(r, "its covariance matrix cannot be factored");
    }
    if (status >= 0) status = check_weights(r, solution, stored);
    hfi_free(r->ctx, stored);
    return status;
}

/* Row by row in the file, column by column in the solution. */
static hf_status read_factor(const hfi_reader *r, hfi_solution *solution)
{
    size_t n = solution->rank;
    double *rows = NULL;
    hf_status status = hfi_array_new(r, "action_factor", n, n, false, &rows);
    for (size_t i = 0; i < n && status >= 0; i++) {
        for (size_t j = 0; j < n; j++) solution->factor[i + j * n] = j <= i ? rows[i * n + j] : 0.0;
        if (!(rows[i * n + i] > 0.0)) status = hfi_reader_damaged(r, "its factor is singular");
    }
    hfi_free(r->ctx, rows);
    return status;
}

static hf_status read_low_rank(const hfi_reader *r, hfi_factor_form form, hf_solver solver, size_t n,
                               hfi_solution *solution)
{
    const hfi_solver_kind *kind = hfi_solver_kind_of(solver); /* latent functions have no readings */
    size_t rank = 0;
    hf_status status = hfi_meta_size(r, "rank", &rank);
    if (status >= 0 &&
        (rank == 0 || rank > n || !hfi_reader_has_room(r, form == HFI_FORM_DENSE ? n : rank, rank)))
        status = hfi_meta_bad(r, "rank");
    if (status >= 0)
        status = hfi_solution_alloc_low_rank(r->ctx, form, n, hfi_model_function_width(r->model), rank,
                                             kind->readings && kind->form[form], solution);
    if (status < 0) return status;
    solution->solver = solver;
    status = hfi_read_accuracy(r, solution);
    if (status >= 0) status = read_anchors(r, solution);
    if (status >= 0) status = hfi_array_read(r, "anchor_weight", n, 1, false, solution->t);
    if (form == HFI_FORM_DENSE)
        return status < 0 ? status : hfi_array_read(r, "projection", rank, n, false, solution->r);
    if (status >= 0) status = hfi_array_read_sizes(r, "anchor_block", n, rank, solution->block);
    if (status >= 0) status = hfi_array_read(r, "anchor_entry", n, 1, false, solution->entry);
    return status < 0 ? status : read_factor(r, solution);
}

static size_t latent_functions(const hf_model *model)
{
    return model->kind->latent ? hfi_model_functions(model) : 1;
}

/* Reads which solver made the posterior and in which form it is held. Before format 2 there was one of each. */
static hf_status read_kind(const hfi_reader *r, hf_solver *solver, hfi_factor_form *form)
{
    static const char *const solvers[] = {"auto", "exact", "inducing", "projected"};
    unsigned who = HF_SOLVER_EXACT, how = HFI_FORM_EXACT;
    hf_status status = HF_OK;
    if (r->version >= 2) {
        status = hfi_meta_choice(r, "solver", solvers, sizeof solvers / sizeof *solvers, &who);
        if (status >= 0) status = hfi_meta_choice(r, "form", hfi_form_names, HFI_FACTOR_FORMS, &how);
    }
    *solver = (hf_solver)who;
    *form = (hfi_factor_form)how;
    /* The exact posterior of several latent functions has no readings of its own to be factored. */
    const bool *possible = hfi_solver_kind_of(*solver)->form;
    const bool factored = possible[HFI_FORM_EXACT] && latent_functions(r->model) > 1;
    const bool good = factored ? *form == HFI_FORM_DENSE : possible[*form];
    return status >= 0 && !good ? hfi_meta_bad(r, "form") : status;
}

/* The solution for this kernel. *solution is zeroed on entry; on error the caller frees what there is of it. */
static hf_status read_solution(const hfi_reader *r, const hf_kernel *kernel, hfi_solution *solution)
{
    size_t n = 0;
    hf_solver solver;
    hfi_factor_form form;
    hf_status status = read_kind(r, &solver, &form);
    if (status >= 0) status = hfi_meta_size(r, "anchors", &n);
    /* Each of several latent functions has its own anchors. */
    const size_t functions = latent_functions(r->model);
    const hfi_solver_kind *kind = hfi_solver_kind_of(solver);
    const bool few = !kind->readings || n / functions <= r->model->n;
    if (status >= 0 && (n == 0 || !few || !hfi_reader_has_room(r, n, hfi_model_function_width(r->model))))
        status = hfi_meta_bad(r, "anchors");
    if (status < 0) return status;
    /* An exact solution that is not factored is that of several latent functions. */
    if (!kind->form[form] && hfi_array_there(r, "anchor_probability"))
        return hfi_class_read_solution(r, kernel, n, solution);
    return form == HFI_FORM_EXACT ? read_exact(r, kernel, n, solution)
                                  : read_low_rank(r, form, solver, n, solution);
}

hf_status hfi_read_posterior(const hfi_reader *r)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hfi_scaling scaling = {0};
    hfi_solution solution = {0};
    double noise = 0.0, calibration = 1.0, *noises = NULL;
    const size_t functions = hfi_model_functions(r->model);
    hf_status status = hfi_scaling_identity(r->ctx, hfi_model_function_width(r->model), &scaling);
    if (status >= 0) status = read_names(r, &scaling);
    if (status >= 0) status = hfi_meta_double(r, "target_shift", -INFINITY, &scaling.y_shift);
    if (status >= 0) status = hfi_meta_double(r, "target_scale", 0.0, &scaling.y_scale);
    if (status >= 0 && !(scaling.y_scale > 0.0)) status = hfi_meta_bad(r, "target_scale");
    if (status >= 0) status = hfi_meta_double(r, "noise", 0.0, &noise);
    if (status >= 0) status = hfi_meta_double(r, "calibration", 1.0, &calibration);
    if (status >= 0 && functions > 1) {
        noises = hfi_alloc(r->ctx, functions, sizeof *noises);
        if (noises == NULL)
            status = HF_ERR_MEMORY;
        else
            status = r->model->kind->read_scaling(r, noise, &scaling, noises);
    }
    if (status >= 0) status = read_kernel(r, &kernel);
    if (status >= 0) status = read_mean(r, &mean);
    if (status >= 0) status = read_solution(r, kernel, &solution);
    if (status >= 0)
        status = hfi_posterior_create(r->ctx, kernel, mean, &solution, &scaling, noise, calibration,
                                      &r->model->posterior);
    if (status >= 0 && functions > 1) status = hfi_posterior_set_noises(r->ctx, r->model->posterior, noises);
    hfi_free(r->ctx, noises);
    hfi_solution_free(&solution); /* empty once the posterior has it */
    hfi_scaling_free(&scaling);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return status;
}
