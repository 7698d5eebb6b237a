/* SPDX-License-Identifier: Apache-2.0 */
#include "common/rcagp_table.h"
#include "common/rcagp_paper.h"
#include "common/rcagp_protocol.h"
#include "common/sets.h"
#include "common/study.h"
#include "common/uci.h"

#include <math.h>
#include <string.h>

/* Tasks are numbered (set * kinds + kind) * splits + split; every task fits all models. */
typedef struct plan {
    study study;
    const rcagp_table *table;
    const char *data;
    words sets, kinds, models, settings;
    rcagp_source source;
    const char *kernel; /* as the lines of results name it */
} plan;

static const double eps = 0.2;

static void read_options(int argc, char **argv, plan *p)
{
    char heading[400], models[128];
    snprintf(models, sizeof models, "%s,%s", p->table->models,
             p->table->own ? p->table->own : "default,rcagp,rcsvgp");
    const option_row rows[] = {
        option_text("data", "DIR", "folder with <set>/<set>.csv " SETS_DEFAULT, &p->data),
        OPTION_SOME("sets", &p->sets, "boston,energy,yacht,parkinsons"),
        option_choice("kinds", "LIST", "of none,asymmetric,uniform,focused (default those of the table)",
                      &p->kinds, p->table->kinds, "none,asymmetric,uniform,focused"),
        option_list("models", "LIST",
                    "of SVGP,CaGP,RCSVGP,RCaGP,Student-t,RRP (published settings)\n"
                    "and presets of ours, with -se after the name: with an RBF kernel (default those\n"
                    "of the table, and default,rcagp,rcsvgp; of S3 with RBF kernels as well)",
                    &p->models, models, rcagp_model_known),
        option_choice("settings", "WHOSE",
                      "of published models: program (Matern-3/2, 5 actions, 100 inducing inputs; default)\n"
                      "or text (Matern-5/2, 25 and 25, prior mean 0 of SVGP)",
                      &p->settings, "program", "program,text")};
    snprintf(heading, sizeof heading,
             "usage: %s [option]...\n%s\nof \"Robust and Computation-Aware Gaussian Processes\" (2025) "
             "beside ours.\n",
             p->table->program, p->table->title);
    study_read(&p->study, argc, argv, heading, NULL, sizeof rows / sizeof *rows, rows);
}

static record key_in(const plan *p, const char *set, const char *kind, const char *model, long split)
{
    record key = record_key("", kind, model, strcmp(kind, "none") == 0 ? 0.0 : 0.1, split);
    snprintf(key.set, sizeof key.set, "%s, %s", set, p->kernel);
    return key;
}

static record place_of(const plan *p, size_t number, const char **set)
{
    const study *s = &p->study;
    const size_t splits = study_splits(s), rest = number / splits;
    const char *kind = p->kinds.items[rest % p->kinds.count];
    *set = p->sets.items[rest / p->kinds.count];
    return key_in(p, *set, kind, "", s->first + (long)(number % splits));
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    const plan *p = s->user;
    const char *set;
    if (which >= p->models.count) return false;
    *key = place_of(p, number, &set);
    snprintf(key->method, sizeof key->method, "%s", p->models.items[which]);
    return true;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    const plan *p = s->user;
    const char *set;
    const record key = place_of(p, number, &set);
    hf_context_set_seed(ctx, (uint64_t)(s->offset + key.split));
    return rcagp_problem(ctx, p->data, set, key.kind, key.split, s->offset, out);
}

static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    const plan *p = s->user;
    hf_fit_settings settings;
    if (rcagp_settings(ctx, item->method, p->source, p->table->kernel, eps, &settings) < 0) {
        fprintf(stderr, "%s: %s\n", item->method, hf_context_message(ctx));
        return false;
    }
    return settings_run(ctx, &settings, data, item);
}

/* ---- report ---------------------------------------------------------------------------------------------- */

static summary sum_up(const plan *p, const char *set, const char *kind, const char *model,
                      double (*field)(const record *))
{
    const record key = key_in(p, set, kind, model, 0);
    summary s = records_summary(&p->study.done, &key, field);
    if (s.count > 1)
        s.sd *= sqrt((double)(s.count - 1) / (double)s.count); /* the paper's, of the population */
    return s;
}

static void print_value(const summary *s)
{
    if (s->count)
        printf(" %.3f ± %.3f |", s->mean, s->sd);
    else
        printf("  |");
}

static void print_row(const plan *p, const char *set, const char *kind, const char *model)
{
    const paper_cell *paper = rcagp_paper_find(p->table->table, kind, set, model);
    const summary mae = sum_up(p, set, kind, model, record_mae),
                  nll = sum_up(p, set, kind, model, record_nlpd),
                  cover = sum_up(p, set, kind, model, record_coverage95),
                  seconds = sum_up(p, set, kind, model, record_cpu_seconds);
    if (!paper && !mae.count) return;
    printf("| %s%s |", rcagp_model_is_ours(model) ? "**ours:** " : "", model);
    if (paper)
        printf(" %.3f ± %.3f | %.3f ± %.3f | %.2f |", paper->mae.mean, paper->mae.sd, paper->nll.mean,
               paper->nll.sd, paper->seconds.mean);
    else
        printf("  |  |  |");
    print_value(&mae);
    print_value(&nll);
    if (mae.count)
        printf(" %.2f | %.3f | %zu |\n", cover.mean, seconds.mean, mae.count);
    else
        printf("  |  |  |\n");
}

static void print_set(const plan *p, const char *set, const char *kind)
{
    printf("\n### %s, %s%s\n\n", set, kind, strcmp(kind, "none") == 0 ? "" : " 10 %");
    puts("| model | printed MAE | printed NLL | s | MAE here | NLPD here | cover 95 | CPU s | splits |\n"
         "|---|---|---|---|---|---|---|---|---|");
    for (size_t m = 0; m < p->models.count; ++m) print_row(p, set, kind, p->models.items[m]);
}

/* Counts over the printed cells of the sets and kinds that were run, for one model of ours. */
typedef struct score {
    size_t cells, beaten, faster, models;
    char misses[2048];
} score;

static void compare(score *s, const paper_cell *cell, const char *measure, double printed,
                    const summary *ours)
{
    s->cells += 1;
    if (ours->mean < printed) {
        s->beaten += 1;
        return;
    }
    const size_t used = strlen(s->misses);
    snprintf(s->misses + used, sizeof s->misses - used, "%s%s %s %s %s: printed %.3f, ours %.3f",
             used ? "; " : "", cell->set, cell->kind, cell->model, measure, printed, ours->mean);
}

static void judge(const plan *p, const char *model)
{
    score s = {0};
    for (size_t i = 0; i < rcagp_paper_count; ++i) {
        const paper_cell *cell = &rcagp_paper[i];
        if (strcmp(cell->table, p->table->table) != 0 || !words_hold(&p->sets, cell->set) ||
            !words_hold(&p->kinds, cell->kind))
            continue;
        const summary mae = sum_up(p, cell->set, cell->kind, model, record_mae),
                      nll = sum_up(p, cell->set, cell->kind, model, record_nlpd),
                      seconds = sum_up(p, cell->set, cell->kind, model, record_cpu_seconds);
        if (!mae.count) continue;
        compare(&s, cell, "MAE", cell->mae.mean, &mae);
        compare(&s, cell, "NLL", cell->nll.mean, &nll);
        s.models += 1;
        s.faster += seconds.mean < cell->seconds.mean;
    }
    if (!s.cells) return;
    printf("- **%s** beats %zu of %zu printed cells (MAE and NLL of every model) and is faster than %zu of "
           "%zu printed "
           "times (another machine). Not beaten: %s.\n",
           model, s.beaten, s.cells, s.faster, s.models, s.misses[0] ? s.misses : "none");
}

/* The paper's claim, in its table and here: in how many sets and kinds RCaGP is worse than RCSVGP. */
static void judge_claim(const plan *p)
{
    size_t cells = 0, printed[2] = {0}, here[2] = {0};
    for (size_t k = 0; k < p->kinds.count; ++k)
        for (size_t i = 0; i < p->sets.count; ++i) {
            const char *kind = p->kinds.items[k], *set = p->sets.items[i];
            const paper_cell *a = rcagp_paper_find(p->table->table, kind, set, "RCaGP"),
                             *b = rcagp_paper_find(p->table->table, kind, set, "RCSVGP");
            const summary mae_a = sum_up(p, set, kind, "RCaGP", record_mae),
                          mae_b = sum_up(p, set, kind, "RCSVGP", record_mae),
                          nll_a = sum_up(p, set, kind, "RCaGP", record_nlpd),
                          nll_b = sum_up(p, set, kind, "RCSVGP", record_nlpd);
            if (!a || !b || !mae_a.count || !mae_b.count) continue;
            cells += 1;
            printed[0] += a->mae.mean > b->mae.mean;
            printed[1] += a->nll.mean > b->nll.mean;
            here[0] += mae_a.mean > mae_b.mean;
            here[1] += nll_a.mean > nll_b.mean;
        }
    if (cells)
        printf("- RCaGP is worse than RCSVGP in %zu of %zu cells of MAE and %zu of %zu of NLPD (printed: %zu "
               "and "
               "%zu).\n",
               here[0], cells, here[1], cells, printed[0], printed[1]);
}

static void report(const plan *p)
{
    const study *s = &p->study;
    printf("%s. Published models as the paper's %s has them. holdfast %s on %s. Splits %ld..%ld, seed offset "
           "%ld; mean ± population sd; CPU s: processor "
           "time of one fit.\n",
           p->table->title, p->source == RCAGP_TEXT ? "text" : "program", hf_version(), hf_blas_description(),
           s->first, s->last, s->offset);
    for (size_t k = 0; k < p->kinds.count; ++k)
        for (size_t i = 0; i < p->sets.count; ++i) print_set(p, p->sets.items[i], p->kinds.items[k]);
    puts("\n### Verdict\n");
    judge_claim(p);
    for (size_t m = 0; m < p->models.count; ++m)
        if (rcagp_model_is_ours(p->models.items[m])) judge(p, p->models.items[m]);
}

int rcagp_table_main(int argc, char **argv, const rcagp_table *table)
{
    static const study_calls calls = {key_of, data_of, fit};
    plan p = {.study = {.last = 19, .jobs = 1, .threads = 1, .calls = &calls},
              .table = table,
              .data = sets_folder()};
    study *s = &p.study;
    s->user = &p;
    read_options(argc, argv, &p);
    p.source = strcmp(p.settings.items[p.settings.count - 1], "text") == 0 ? RCAGP_TEXT : RCAGP_PROGRAM;
    p.kernel = rcagp_kernel(p.source, table->kernel);
    /* Results of both settings may be in one file. */
    if (p.source == RCAGP_TEXT && strcmp(p.kernel, table->kernel) == 0) p.kernel = "se, text";
    if (!s->report) uci_keep_present(p.data, &p.sets);
    if (p.sets.count == 0) return SETS_MISSING;
    s->count = p.sets.count * p.kinds.count * study_splits(s);
    size_t failed = study_run(s);
    report(&p);
    return study_close(s, table->program, failed);
}
