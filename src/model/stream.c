/* SPDX-License-Identifier: Apache-2.0 */
/* From a CSV file of any size to a model: cache, roles of the columns, a look at every row, the fit. */
#include "core/settings.h"
#include "model/model.h"

#include "data/binary.h"
#include "fit/fit.h"
#include "settings/settings.h"

#include <math.h>
#include <string.h>

enum {
    BUFFER_ROWS = 1024
};

/* The cache as rows of a fit. A row with a missing input or noise counts as one without a target. */
typedef struct cache_source {
    hf_context *ctx;
    hfi_binary cache;
    hfi_roles roles;
    double *buffer; /* BUFFER_ROWS rows of the cache */
} cache_source;

/* One row of the cache into an example; false when something but the target is missing. */
static bool take_row(const cache_source *from, const double *row, double *x, double *y, double *extra)
{
    bool complete = true;
    for (size_t j = 0; j < from->roles.count; j++) {
        x[j] = row[from->roles.feature[j]];
        complete = complete && !isnan(x[j]);
    }
    *y = row[from->roles.target];
    *extra = from->roles.noise == SIZE_MAX ? 0.0 : row[from->roles.noise];
    return complete && !isnan(*extra);
}

static hf_status read_rows(void *arg, size_t begin, size_t count, double *x, double *y, double *extra)
{
    cache_source *from = arg;
    const size_t d = from->roles.count, columns = from->cache.columns;
    hf_status status = HF_OK;
    for (size_t done = 0; status >= 0 && done < count;) {
        const size_t part = count - done < BUFFER_ROWS ? count - done : BUFFER_ROWS;
        status = hfi_binary_read(from->ctx, &from->cache, begin + done, part, from->buffer);
        for (size_t i = 0; status >= 0 && i < part; i++) {
            const size_t to = done + i;
            if (take_row(from, from->buffer + i * columns, x + to * d, y + to, extra + to)) continue;
            memset(x + to * d, 0, d * sizeof *x);
            y[to] = NAN;
            extra[to] = 0.0;
        }
        done += part;
    }
    return status;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The columns in use must be finite numbers; the sketch has the first place where one is not. */
static hf_status check_column(hf_context *ctx, const hf_table *sketch, size_t column)
{
    const double *numbers;
    const hf_status status = hf_table_numbers(ctx, sketch, column, &numbers);
    return status < 0 ? status : hfi_check_finite(ctx, sketch, hf_table_name(sketch, column), numbers);
}

static hf_status check_cache_columns(const cache_source *from, const hf_table *sketch)
{
    hf_status status = check_column(from->ctx, sketch, from->roles.target);
    for (size_t j = 0; j < from->roles.count && status >= 0; j++)
        status = check_column(from->ctx, sketch, from->roles.feature[j]);
    if (status < 0 || from->roles.noise == SIZE_MAX) return status;
    status = check_column(from->ctx, sketch, from->roles.noise);
    const hfi_binary_column *noise = &from->cache.column[from->roles.noise];
    if (status < 0 || noise->negative_line == 0) return status;
    char shown[HFI_SHOWN_BYTES];
    return hfi_refuse(from->ctx, "%s, line %zu, column \"%s\": a noise variance cannot be negative",
                      from->cache.source, (size_t)noise->negative_line, hfi_text_shown(noise->name, shown));
}

static hf_status decide_roles(cache_source *from, hf_model *model, const hf_columns *columns)
{
    hf_table *sketch = NULL;
    hf_status status = hfi_binary_sketch(from->ctx, &from->cache, &sketch);
    if (status < 0) return status;
    hf_columns own = *columns;
    own.text_inputs = false; /* the sketch has no dates and no texts */
    status = hfi_model_roles(from->ctx, model, sketch, &own, &from->roles);
    if (status >= 0) status = check_cache_columns(from, sketch);
    hf_table_free(sketch);
    return status;
}

/* ---- a look at every row --------------------------------------------------------------------- */

/* Counts that are made before the checksum, which begins with the number of rows. */
typedef struct row_survey {
    size_t rows, missing; /* complete ones; of those without a target */
    double *first;        /* of every feature, and of the target */
    bool *varies;
    hfi_sha256 *hash;
} row_survey;

static void survey_cache_row(const cache_source *from, row_survey *s, const double *x, double y, double extra)
{
    const size_t d = from->roles.count;
    if (s->hash != NULL) {
        hfi_model_hash_row(s->hash, d, x, y, from->roles.noise == SIZE_MAX ? NULL : &extra);
        return;
    }
    for (size_t j = 0; j <= d; j++) {
        const double value = j < d ? x[j] : y;
        if (s->rows == 0 || isnan(s->first[j])) s->first[j] = value;
        if (value != s->first[j] && !isnan(value)) s->varies[j] = true;
    }
    s->rows++;
    s->missing += isnan(y) ? 1 : 0;
}

static hf_status look_at_all(cache_source *from, row_survey *s, double *x)
{
    const size_t rows = from->cache.rows, columns = from->cache.columns;
    hf_status status = HF_OK;
    for (size_t begin = 0; begin < rows && status >= 0; begin += BUFFER_ROWS) {
        const size_t part = rows - begin < BUFFER_ROWS ? rows - begin : BUFFER_ROWS;
        double y, extra;
        status = hfi_binary_read(from->ctx, &from->cache, begin, part, from->buffer);
        for (size_t i = 0; status >= 0 && i < part; i++)
            if (take_row(from, from->buffer + i * columns, x, &y, &extra))
                survey_cache_row(from, s, x, y, extra);
        if (status >= 0 && !hfi_progress(from->ctx, "measure", (double)begin / (double)rows, NAN))
            status = hfi_cancelled(from->ctx);
    }
    return status;
}

/* Remarks as a fit of a table makes them. */
static hf_status remark(const cache_source *from, hf_model *model, const row_survey *s)
{
    const size_t all = from->cache.rows, d = model->d;
    const char *name = from->cache.source;
    char shown[HFI_SHOWN_BYTES];
    if (all == 0) return hfi_fail(from->ctx, HF_ERR_NO_DATA, "%s: no rows, only a header", name);
    if (s->rows == 0)
        return hfi_fail(from->ctx, HF_ERR_NO_DATA, "%s: all %zu rows have a missing input", name, all);
    if (s->missing == s->rows)
        return hfi_fail(from->ctx, HF_ERR_NO_DATA,
                        "%s: column \"%s\", the target, has no value in any usable row", name,
                        hfi_text_shown(model->target, shown));
    hf_status status = HF_OK;
    model->skipped = all - s->rows;
    if (model->skipped > 0)
        status = hfi_model_note(from->ctx, model, "%zu of %zu rows left out: an input%s is missing there",
                                model->skipped, all, from->roles.noise != SIZE_MAX ? " or the noise" : "");
    if (status >= 0 && s->missing > 0)
        status = hfi_model_note(from->ctx, model, "%zu of %zu rows have no target and teach nothing",
                                s->missing, all);
    for (size_t j = 0; j < d && status >= 0; j++)
        if (!s->varies[j] && s->rows > 1)
            status = hfi_model_note(from->ctx, model,
                                    "input \"%s\" has the same value in every row and tells nothing",
                                    hfi_text_shown(model->feature[j], shown));
    return status;
}

static hf_status survey_rows(cache_source *from, hf_model *model, size_t *missing)
{
    const size_t d = model->d;
    hf_context *ctx = from->ctx;
    row_survey s = {.first = hfi_alloc(ctx, d + 1, sizeof *s.first),
                    .varies = hfi_alloc(ctx, d + 1, sizeof *s.varies)};
    double *x = hfi_alloc(ctx, d, sizeof *x);
    hf_status status = s.first != NULL && s.varies != NULL && x != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = look_at_all(from, &s, x);
    if (status >= 0) status = remark(from, model, &s);
    if (status >= 0) {
        hfi_sha256 hash;
        hfi_model_hash_names(model, s.rows, &hash);
        s.hash = &hash;
        status = look_at_all(from, &s, x);
        hfi_sha256_hex(&hash, model->checksum);
        *missing = s.missing;
    }
    HFI_FREE(ctx, s.first, s.varies, x);
    return status;
}

/* ---- the fit --------------------------------------------------------------------------------- */

/* The suspect finder looks at all readings together. Here their weight protects from wrong ones instead. */
static hf_status adapt(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                       hf_fit_settings *own)
{
    *own = *settings;
    if (settings->suspects != HF_OUTLIERS_AUTO) return HF_OK;
    own->suspects = HF_OUTLIERS_OFF;
    if (!hfi_sites_kind_of(settings->sites)->plain) return HF_OK;
    own->sites = HF_LIKELIHOOD_ROBUST;
    return hfi_model_note(
        ctx, model,
        "a file read in parts has no suspect finder; its readings are weighed instead (robust sites)");
}

static hf_status learn_from_cache(cache_source *from, hf_model *model, const hf_fit_settings *settings)
{
    hf_context *ctx = from->ctx;
    hf_fit_settings own;
    size_t missing = 0;
    hf_status status = survey_rows(from, model, &missing);
    if (status >= 0) status = adapt(ctx, model, settings, &own);
    if (status < 0) return status;
    const hfi_row_source rows = {.n = from->cache.rows, .d = model->d, .read = read_rows, .arg = from};
    const hf_status fitted =
        hfi_fit_rows(ctx, &rows, (const char *const *)model->feature, from->roles.noise != SIZE_MAX, &own,
                     &model->posterior, &model->report);
    if (fitted < 0) return fitted;
    model->report.missing = missing;
    if (fitted > 0) status = hfi_model_note(ctx, model, "%s", hf_context_message(ctx));
    own.solver = HF_SOLVER_INDUCING;
    if (status >= 0) status = hfi_model_keep_settings(ctx, model, &own);
    if (status >= 0) status = hfi_model_finish(ctx, model);
    return status < 0 ? status : fitted;
}

static hf_status open_source(hf_context *ctx, const char *csv, const char *cache, cache_source *from)
{
    static const char ending[] = ".hfcache";
    char *beside = NULL;
    bool made = false;
    *from = (cache_source){.ctx = ctx, .roles = {.noise = SIZE_MAX, .mean = SIZE_MAX}};
    if (cache == NULL) {
        beside = hfi_alloc(ctx, strlen(csv) + sizeof ending, 1);
        if (beside == NULL) return HF_ERR_MEMORY;
        memcpy(beside, csv, strlen(csv));
        memcpy(beside + strlen(csv), ending, sizeof ending);
    }
    hf_status status = hfi_binary_obtain(ctx, csv, cache != NULL ? cache : beside, &from->cache, &made);
    hfi_free(ctx, beside);
    if (status < 0) return status;
    size_t cells;
    if (!hfi_size_mul(BUFFER_ROWS, from->cache.columns, &cells)) return hfi_out_of_memory(ctx);
    from->buffer = hfi_alloc(ctx, cells, sizeof *from->buffer);
    return from->buffer != NULL ? HF_OK : HF_ERR_MEMORY;
}

static void close_source(cache_source *from)
{
    hfi_free(from->ctx, from->buffer);
    hfi_roles_free(from->ctx, &from->roles);
    hfi_binary_close(&from->cache);
}

hf_status hf_fit_stream(hf_context *ctx, const char *csv_path, const char *cache_path,
                        const hf_columns *columns, const hf_fit_settings *settings, hf_model **model,
                        hf_fit_report *report)
{
    if (ctx == NULL || csv_path == NULL || columns == NULL || settings == NULL || model == NULL)
        return hfi_refuse(ctx, "hf_fit_stream: context, path, columns, settings and model must not be NULL");
    hf_fit_settings own;
    hf_columns named;
    hf_status status = hfi_settings_take(ctx, hf_fit_settings_table(), settings, &own);
    if (status >= 0) status = hfi_settings_take(ctx, hf_columns_table(), columns, &named);
    if (status < 0) return status;
    if (named.target_count > 0 || hfi_columns_outputs(&named) > 1)
        return hfi_refuse(
            ctx,
            "hf_fit_stream: a file read in parts has one output; several need hf_fit() (columns->target)");
    if (named.mean != NULL)
        return hfi_refuse(ctx,
                          "hf_fit_stream: the mean column \"%s\" is of a table in memory; write a column of "
                          "the target less its prior mean into the file",
                          named.mean);
    if (named.target == NULL)
        return hfi_refuse(ctx, "hf_fit_stream: columns->target is NULL; name the column to predict");
    status = hfi_fit_settings_use(ctx, &own, HFI_USE_STREAM);
    if (status < 0) return status;
    const double begin = hfi_now();
    hf_model *made = hfi_model_new(ctx);
    if (made == NULL) return HF_ERR_MEMORY;
    cache_source from;
    status = open_source(ctx, csv_path, cache_path, &from);
    if (status >= 0) status = decide_roles(&from, made, &named);
    if (status >= 0) status = learn_from_cache(&from, made, &own);
    close_source(&from);
    if (status < 0) {
        hf_model_free(made);
        return status;
    }
    made->report.seconds = hfi_now() - begin;
    if (made->skipped > 0 || made->report.missing > 0) status = hfi_worse(status, HF_WARN_ROWS_SKIPPED);
    hfi_model_leave_message(ctx, made, status);
    *model = made;
    if (report != NULL) *report = made->report;
    return status;
}
