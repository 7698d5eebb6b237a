/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_table.h"
#include "common/sets.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Tasks are numbered kind * splits + split; every task fits all models and scores each against one truth or two. */
typedef struct plan {
    study study;
    const mo_table *table;
    const char *data, *stem, *own_kernel;
    words kinds, models;
    /* The task at hand, in its own process: */
    double *latent;
    mo_result result;
    const char *fitted; /* the model whose predictions `result` holds */
    record costs;
} plan;

static const char *const truths[] = {"readings", "functions"};

static size_t truth_count(const plan *p)
{
    return p->table->latent ? 2 : 1;
}

static const char *kind_of(const plan *p, size_t number)
{
    return p->kinds.items[number / study_splits(&p->study)];
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    const plan *p = s->user;
    const size_t model = which / truth_count(p);
    if (model >= p->models.count) return false;
    *key = record_key(truths[which % truth_count(p)], kind_of(p, number), p->models.items[model], 0.0,
                      s->first + (long)(number % study_splits(s)));
    return true;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    plan *p = s->user;
    record key;
    mo_draw_result drawn = {0};
    key_of(s, number, 0, &key);
    const uint64_t seed = (uint64_t)(s->offset + key.split);
    hf_context_set_seed(ctx, seed);
    if (!p->table->data(ctx, p->data, key.kind, seed, &drawn)) return false;
    *out = drawn.data;
    p->latent = drawn.latent;
    p->result = mo_result_create(out);
    p->fitted = NULL;
    return true;
}

/* Two truths share one fit. */
static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    plan *p = s->user;
    record named = *item;
    if (!p->fitted || strcmp(p->fitted, item->method) != 0) {
        mo_terms terms = {.own_kernel = NULL};
        p->table->terms(item->kind, &terms);
        if (p->own_kernel) terms.own_kernel = p->own_kernel;
        p->fitted = NULL;
        if (!mo_run(ctx, item->method, &terms, data, &p->result, &p->costs)) return false;
        for (size_t m = 0; m < p->models.count; ++m)
            if (strcmp(p->models.items[m], item->method) == 0) p->fitted = p->models.items[m];
    }
    *item = p->costs;
    item->split = named.split;
    memcpy(item->set, named.set, sizeof item->set);
    memcpy(item->kind, named.kind, sizeof item->kind);
    memcpy(item->method, named.method, sizeof item->method);
    /* A function is predicted by its own variance; a reading has noise besides. */
    problem judged = *data;
    const bool latent = strcmp(item->set, truths[1]) == 0;
    if (latent) judged.ty = p->latent;
    return score_predictions(ctx, &judged, p->result.mean, latent ? p->result.latent_sd : p->result.sd, item);
}

/* ---- report ------------------------------------------------------------------------------------------------ */

summary mo_table_sum(const records *done, const char *truth, const char *kind, const char *model,
                     double (*field)(const record *))
{
    const record key = record_key(truth, kind, model, 0.0, 0);
    summary s = records_summary(done, &key, field);
    if (s.count > 1) s.sd *= sqrt((double)(s.count - 1) / (double)s.count);
    return s;
}

static const mo_cell *printed(const plan *p, const char *kind, const char *model)
{
    for (size_t i = 0; i < p->table->cell_count; ++i)
        if (strcmp(p->table->cells[i].kind, kind) == 0 && strcmp(p->table->cells[i].model, model) == 0)
            return &p->table->cells[i];
    return NULL;
}

static void print_row(const plan *p, const char *kind, const char *model)
{
    const records *done = &p->study.done;
    const mo_cell *cell = printed(p, kind, model);
    const summary rmse = mo_table_sum(done, truths[0], kind, model, record_rmse),
                  nlpd = mo_table_sum(done, truths[0], kind, model, record_nlpd);
    if (!cell && !rmse.count) return;
    printf("| %s%s |", mo_method_is_ours(model) ? "**ours:** " : "", model);
    if (cell)
        printf(" %g ± %g | %g ± %g |", cell->rmse.mean, cell->rmse.sd, cell->nlpd.mean, cell->nlpd.sd);
    else
        printf("  |  |");
    if (!rmse.count) {
        printf("  |  |  |%s  |  |\n", p->table->latent ? "  |  |" : "");
        return;
    }
    printf(" %.4f ± %.4f | %.3f ± %.3f | %.2f |", rmse.mean, rmse.sd, nlpd.mean, nlpd.sd,
           mo_table_sum(done, truths[0], kind, model, record_coverage95).mean);
    if (p->table->latent)
        printf(" %.4f | %.3f |", mo_table_sum(done, truths[1], kind, model, record_rmse).mean,
               mo_table_sum(done, truths[1], kind, model, record_nlpd).mean);
    printf(" %.2f | %zu |\n", mo_table_sum(done, truths[0], kind, model, record_cpu_seconds).mean,
           rmse.count);
}

static void print_kind(const plan *p, const char *kind)
{
    const char *own = p->table->latent ? " RMSE, functions | NLPD, functions |" : "";
    printf("\n### %s: %s\n\n", p->table->program, kind);
    printf("| model | printed RMSE | printed NLPD | RMSE here | NLPD here | cover 95 |%s CPU s | splits |\n",
           own);
    printf("|---|---|---|---|---|---|%s---|---|\n", p->table->latent ? "---|---|" : "");
    for (size_t m = 0; m < p->models.count; ++m) print_row(p, kind, p->models.items[m]);
}

/* To the digits that were printed. */
static double rounded(double value, double like)
{
    double unit = 1e-3;
    if (fabs(like * 100.0 - round(like * 100.0)) < 1e-6) unit = 1e-2;
    return round(value / unit) * unit;
}

/* Whether a model of ours has scores where something is printed. */
static bool judged(const plan *p, const char *model)
{
    bool any = false;
    for (size_t i = 0; i < p->table->cell_count; ++i)
        any = any ||
              mo_table_sum(&p->study.done, truths[0], p->table->cells[i].kind, model, record_rmse).count > 0;
    return any && mo_method_is_ours(model);
}

/* Counts for one model of ours the printed numbers that it reaches. */
static void judge(const plan *p, const char *model)
{
    size_t cells = 0, reached = 0, equal = 0;
    printf("- **%s**:", model);
    for (size_t i = 0; i < p->table->cell_count; ++i) {
        const mo_cell *cell = &p->table->cells[i];
        for (size_t k = 0; k < 2; ++k) {
            const double paper = k ? cell->nlpd.mean : cell->rmse.mean;
            const summary s =
                mo_table_sum(&p->study.done, truths[0], cell->kind, model, k ? record_nlpd : record_rmse);
            if (!s.count) continue;
            cells += 1;
            reached += s.mean <= paper;
            equal += s.mean > paper && rounded(s.mean, paper) <= paper + 1e-9;
            if (rounded(s.mean, paper) > paper + 1e-9)
                printf(" not %s %s %s (printed %g, ours %.4f);", cell->kind, cell->model, k ? "NLPD" : "RMSE",
                       paper, s.mean);
        }
    }
    printf(" %zu of %zu printed numbers beaten, %zu more equalled in the printed digits.\n", reached, cells,
           equal);
}

/* The same against the published models as they came out here, on the same draws. */
static void judge_here(const plan *p, const char *model)
{
    size_t cells = 0, reached = 0;
    printf("- **%s**, same draws:", model);
    for (size_t i = 0; i < p->table->cell_count; ++i) {
        const mo_cell *cell = &p->table->cells[i];
        for (size_t k = 0; k < 2; ++k) {
            double (*field)(const record *) = k ? record_nlpd : record_rmse;
            const records *done = &p->study.done;
            const summary s = mo_table_sum(done, truths[0], cell->kind, model, field),
                          theirs = mo_table_sum(done, truths[0], cell->kind, cell->model, field);
            if (!s.count || !theirs.count) continue;
            cells += 1;
            if (s.mean <= theirs.mean)
                reached += 1;
            else
                printf(" not %s %s %s (%.4f, ours %.4f);", cell->kind, cell->model, k ? "NLPD" : "RMSE",
                       theirs.mean, s.mean);
        }
    }
    printf(" at least as good as the published models here in %zu of %zu.\n", reached, cells);
}

static void report(const plan *p)
{
    const study *s = &p->study;
    printf(
        "%s. holdfast %s on %s. Seeds %ld..%ld, offset %ld; mean ± population sd; CPU s: processor time of "
        "one fit.\n",
        p->table->title, hf_version(), hf_blas_description(), s->first, s->last, s->offset);
    for (size_t k = 0; k < p->kinds.count; ++k) print_kind(p, p->kinds.items[k]);
    if (p->table->cell_count > 0) {
        puts("\n### Verdict\n");
        for (size_t m = 0; m < p->models.count; ++m)
            if (judged(p, p->models.items[m])) judge(p, p->models.items[m]);
        for (size_t m = 0; m < p->models.count; ++m)
            if (judged(p, p->models.items[m])) judge_here(p, p->models.items[m]);
    }
    if (p->table->more) p->table->more(&s->done, &p->kinds, &p->models, p->stem);
}

/* ---- program ----------------------------------------------------------------------------------------------- */

static void read_options(int argc, char **argv, plan *p)
{
    char heading[400];
    option_row rows[STUDY_OWN_OPTIONS] = {
        option_choice("kinds", "LIST", "kinds of damage (default all)", &p->kinds, p->table->kinds,
                      p->table->kinds),
        mo_method_option(&p->models, p->table->models),
        option_text("kernel", "EXPR", "kernel of ours (default: see the heading of the table)",
                    &p->own_kernel)};
    size_t count = 3;
    if (p->table->file)
        rows[count++] = option_text("data", "DIR", "folder of the data " SETS_DEFAULT, &p->data);
    if (p->table->more)
        rows[count++] = option_text("picture", "STEM", "draw STEM.svg and STEM.png with gnuplot", &p->stem);
    snprintf(heading, sizeof heading,
             "usage: %s [option]...\n%s\nof the multi-output robust conjugate process (MO-RCGP), beside "
             "ours.\n",
             p->table->program, p->table->title);
    study_read(&p->study, argc, argv, heading, NULL, count, rows);
}

static bool data_present(const plan *p)
{
    char path[SETS_PATH];
    return !p->table->file || sets_need(p->data, p->table->file, path);
}

int mo_table_main(int argc, char **argv, const mo_table *table)
{
    static const study_calls calls = {key_of, data_of, fit};
    plan p = {.study = {.last = 19, .jobs = 1, .threads = 1, .calls = &calls},
              .table = table,
              .data = sets_folder()};
    study *s = &p.study;
    s->user = &p;
    read_options(argc, argv, &p);
    if (!s->report && !data_present(&p)) return SETS_MISSING;
    s->count = p.kinds.count * study_splits(s);
    size_t failed = study_run(s);
    report(&p);
    return study_close(s, table->program, failed);
}
