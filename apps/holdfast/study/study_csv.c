/* SPDX-License-Identifier: Apache-2.0 */
/* Trials and their outcomes out of tables: all of them in one change of the file, or none. */
#include "study/studied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table, and which of its columns are what. SIZE_MAX: there is none. */
typedef struct trial_table {
    studied *run;
    const hf_table *table;
    size_t *variable;     /* d */
    const double **value; /* outcomes: NULL, or numbers with gaps */
    const double **noise; /* outcomes */
    const double *trial;  /* or NULL */
    size_t note, state, why;
    double *at, *values, *noises; /* of a row */
} trial_table;

static void reading_free(trial_table *r)
{
    TOOL_FREE(r->variable, r->value, r->noise, r->at);
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static size_t column_of(const hf_table *table, const char *name)
{
    size_t j = 0;
    while (j < hf_table_columns(table) && strcmp(hf_table_name(table, j), name) != 0) j++;
    return j < hf_table_columns(table) ? j : SIZE_MAX;
}

static size_t own_column(const trial_table *r, const char *name)
{
    char buffer[STUDIED_NAME];
    return column_of(r->table, studied_own(r->run, name, buffer));
}

static hf_status outcome_columns(trial_table *r)
{
    studied *run = r->run;
    char buffer[STUDIED_NAME];
    hf_status status = HF_OK;
    for (size_t o = 0; o < run->outcomes && status >= 0; o++) {
        const char *name = run->settings->outcome[o].name;
        if (table_has(r->table, name))
            status = session_column(&run->session, r->table, name, true, &r->value[o]);
        if (status >= 0)
            status =
                session_variances(&run->session, r->table, studied_noise_name(run, o, buffer), &r->noise[o]);
    }
    return status;
}

static hf_status reading_begin(trial_table *r, studied *run, const hf_table *table)
{
    const size_t d = run->d, o = run->outcomes;
    *r = (trial_table){.run = run, .table = table};
    r->variable = calloc(d, sizeof *r->variable);
    r->value = calloc(o, sizeof *r->value);
    r->noise = calloc(o, sizeof *r->noise);
    r->at = calloc(d + 2 * o, sizeof *r->at);
    if (r->variable == NULL || r->value == NULL || r->noise == NULL || r->at == NULL) return HF_ERR_MEMORY;
    r->values = r->at + d;
    r->noises = r->values + o;
    for (size_t j = 0; j < d; j++) r->variable[j] = column_of(table, run->settings->variable[j].name);
    r->note = own_column(r, "note");
    r->state = own_column(r, "state");
    r->why = own_column(r, "why");
    return outcome_columns(r);
}

static bool is_own(const trial_table *r, const char *name)
{
    static const char *const own[] = {
        "trial",       "state", "why",  "repeats",  "suspected", "suspected_outcome",
        "expected_sd", "asked", "told", "expected", "note"};
    char buffer[STUDIED_NAME];
    bool found = false;
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        found = found || strcmp(studied_own(r->run, own[k], buffer), name) == 0;
    for (size_t o = 0; o < r->run->outcomes; o++)
        found = found || strcmp(studied_noise_name(r->run, o, buffer), name) == 0 ||
                strcmp(r->run->settings->outcome[o].name, name) == 0;
    for (size_t j = 0; j < r->run->d; j++)
        found = found || strcmp(r->run->settings->variable[j].name, name) == 0;
    return found;
}

/* A column that the study knows nothing of is another study's, or a name is misspelt. */
static hf_status check_trial_columns(const trial_table *r, const tool_names *dropped)
{
    hf_status status = HF_OK;
    size_t column;
    for (size_t k = 0; k < dropped->count && status >= 0; k++)
        status = hf_table_find(r->run->session.ctx, r->table, dropped->list[k], &column);
    for (size_t j = 0; j < hf_table_columns(r->table) && status >= 0; j++) {
        const char *name = hf_table_name(r->table, j);
        bool known = is_own(r, name);
        for (size_t k = 0; k < dropped->count; k++) known = known || strcmp(dropped->list[k], name) == 0;
        if (!known)
            status = REFUSE(
                r->run,
                "%s: column \"%s\" is neither a variable nor an outcome of the study; --drop leaves it out",
                hf_table_source(r->table), name);
    }
    for (size_t j = 0; j < r->run->d && status >= 0; j++)
        if (r->variable[j] == SIZE_MAX)
            status =
                hf_table_find(r->run->session.ctx, r->table, r->run->settings->variable[j].name, &column);
    return status;
}

/* Columns of the study's own that may mean something else in somebody's table. A table that says nothing of
 * outcomes is not one of failures. */
static hf_status leave_out(trial_table *r, const tool_names *dropped)
{
    bool told = false;
    for (size_t k = 0; k < dropped->count; k++) {
        const size_t column = column_of(r->table, dropped->list[k]);
        if (column == r->state) r->state = SIZE_MAX;
        if (column == r->note) r->note = SIZE_MAX;
        if (column == r->why) r->why = SIZE_MAX;
    }
    for (size_t o = 0; o < r->run->outcomes; o++) told = told || r->value[o] != NULL;
    if (told || r->state != SIZE_MAX) return HF_OK;
    return REFUSE(r->run,
                  "%s: no column is an outcome of the study (\"%s\"%s), and no column \"state\" says what "
                  "became of the trials",
                  hf_table_source(r->table), r->run->settings->outcome[0].name,
                  r->run->outcomes > 1 ? ", ..." : "");
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* "file, line 3": in front of a message about a row. */
static hf_status at_row(const trial_table *r, size_t i, hf_status status)
{
    return session_refuse_at(&r->run->session, status, "%s, line %zu", hf_table_source(r->table),
                             hf_table_line(r->table, i));
}

static const char *text_at(const trial_table *r, size_t i, size_t column, char buffer[32])
{
    const char *text = column != SIZE_MAX ? hf_table_field(r->table, i, column, buffer) : NULL;
    return text != NULL ? text : "";
}

/* The settings that a row says: the value of variable j, false where the field is empty. */
static hf_status setting_at(const trial_table *r, size_t i, size_t j, double *value, bool *said)
{
    char buffer[32];
    const char *text = text_at(r, i, r->variable[j], buffer);
    const hf_variable *v = &r->run->settings->variable[j];
    hf_context *ctx = r->run->session.ctx;
    *said = *text != '\0';
    if (!*said) return HF_OK;
    const hf_status status = hf_study_parse(ctx, r->run->study, j, text, value);
    if (status >= 0 || v->level == NULL || status == HF_ERR_MEMORY) return status;
    /* A column of labels that are all numbers is read as numbers: 1.0 means the label 1. */
    for (size_t k = 0; k < v->levels; k++) {
        if (!is_label(v->level[k], text, true)) continue;
        *value = (double)k;
        return HF_OK;
    }
    return status;
}

/* Outcomes and variances of a row; how many outcomes there are. */
static size_t outcomes_at(const trial_table *r, size_t i)
{
    size_t present = 0;
    for (size_t o = 0; o < r->run->outcomes; o++) {
        r->values[o] = r->value[o] != NULL ? r->value[o][i] : (double)NAN;
        r->noises[o] = variance_at(r->noise[o], i);
        present += isnan(r->values[o]) ? 0 : 1;
    }
    return present;
}

/* Fate of a row's trial: by the column state; without its word, failed where no outcome is told. */
static hf_status state_at(const trial_table *r, size_t i, size_t present, hf_trial_state *state)
{
    char buffer[32], own[STUDIED_NAME];
    const char *word = text_at(r, i, r->state, buffer), *source = hf_table_source(r->table);
    const size_t line = hf_table_line(r->table, i);
    if (*word == '\0') {
        *state = present > 0 ? HF_TRIAL_TOLD : HF_TRIAL_FAILED;
        if (present == 0 && *text_at(r, i, r->why, buffer) != '\0')
            return REFUSE(r->run,
                          "%s, line %zu: a trial that was asked, and no outcome; results of asked trials are "
                          "for holdfast study tell --from, and one that failed says so in a column \"%s\"",
                          source, line, studied_own(r->run, "state", own));
        return HF_OK;
    }
    for (int k = HF_TRIAL_PENDING; k <= HF_TRIAL_EXPIRED; k++) {
        *state = (hf_trial_state)k;
        if (strcmp(word, hf_enum_name(HF_ENUM_TRIAL_STATE, *state)) == 0) return HF_OK;
    }
    return REFUSE(r->run,
                  "%s, line %zu, column \"%s\": \"%s\" is none of told, failed, pending and expired; --drop "
                  "leaves the column out",
                  source, line, studied_own(r->run, "state", own), word);
}

/* ---- import ----------------------------------------------------------------------------------------------------- */

static hf_status import_row(const trial_table *r, size_t i, bool failed)
{
    char buffer[32];
    hf_context *ctx = r->run->session.ctx;
    hf_status status = HF_OK;
    for (size_t j = 0; j < r->run->d && status >= 0; j++) {
        bool said;
        status = setting_at(r, i, j, &r->at[j], &said);
        if (status >= 0 && !said)
            return REFUSE(r->run, "%s, line %zu, column \"%s\": the value is missing",
                          hf_table_source(r->table), hf_table_line(r->table, i),
                          r->run->settings->variable[j].name);
    }
    const char *note = text_at(r, i, r->note, buffer);
    if (status >= 0)
        status = failed ? hf_study_add_failed(ctx, r->run->study, r->at, r->values, note, NULL)
                        : hf_study_add(ctx, r->run->study, r->at, r->values, r->noises, note, NULL);
    return at_row(r, i, status);
}

static hf_status import_rows(const trial_table *r, study_counts *counts)
{
    const size_t m = hf_table_rows(r->table);
    hf_status status = HF_OK;
    for (size_t i = 0; i < m && status >= 0; i++) {
        hf_trial_state state;
        const size_t present = outcomes_at(r, i);
        status = state_at(r, i, present, &state);
        if (status < 0) break;
        if (state == HF_TRIAL_PENDING || state == HF_TRIAL_EXPIRED) {
            counts->left++;
            continue;
        }
        if (!progress_step(r->run->session.progress, "import", i, m)) return HF_ERR_CANCELLED;
        status = import_row(r, i, state == HF_TRIAL_FAILED);
        counts->taken++;
        counts->failed += state == HF_TRIAL_FAILED ? 1 : 0;
    }
    return status;
}

/* ---- tell ------------------------------------------------------------------------------------------------------- */

/* Settings that are there must be those of the trial: another one's row is another one's result. */
static hf_status check_trial_settings(const trial_table *r, size_t i, const hf_trial *trial)
{
    char words[64];
    hf_status status = HF_OK;
    for (size_t j = 0; j < r->run->d && status >= 0; j++) {
        bool said;
        double value = NAN;
        status = setting_at(r, i, j, &value, &said);
        if (status < 0 || !said || is_meant(value, trial->at[j])) continue;
        hf_study_format(r->run->study, j, trial->at[j], sizeof words, words);
        status = REFUSE(r->run, "%s, line %zu: trial %llu has %s = %s, not what the row says",
                        hf_table_source(r->table), hf_table_line(r->table, i), (unsigned long long)trial->id,
                        r->run->settings->variable[j].name, words);
    }
    return status;
}

static hf_status tell_row(const trial_table *r, size_t i)
{
    char buffer[32];
    hf_trial trial;
    const double number = r->trial[i];
    const uint64_t id = number >= 1.0 && number <= 9007199254740992.0 ? (uint64_t)number : 0;
    if ((double)id != number)
        return REFUSE(r->run, "%s, line %zu: %g is no number of a trial", hf_table_source(r->table),
                      hf_table_line(r->table, i), number);
    hf_status status = hf_study_trial(r->run->session.ctx, r->run->study, id, &trial);
    if (status >= 0) status = check_trial_settings(r, i, &trial);
    if (status >= 0)
        status = hf_study_tell(r->run->session.ctx, r->run->study, id, r->values, r->noises,
                               text_at(r, i, r->note, buffer));
    return at_row(r, i, status);
}

static hf_status tell_rows(trial_table *r, study_counts *counts)
{
    char buffer[STUDIED_NAME];
    const size_t m = hf_table_rows(r->table);
    hf_status status =
        session_column(&r->run->session, r->table, studied_own(r->run, "trial", buffer), false, &r->trial);
    for (size_t i = 0; i < m && status >= 0; i++) {
        if (outcomes_at(r, i) == 0) {
            counts->left++;
            continue;
        }
        if (!progress_step(r->run->session.progress, "tell", i, m)) return HF_ERR_CANCELLED;
        status = tell_row(r, i);
        counts->taken++;
    }
    return status;
}

/* ---- a whole table ---------------------------------------------------------------------------------------------- */

/* All rows in one change of the file, or none. */
static hf_status take_rows(trial_table *r, bool import, study_counts *counts)
{
    studied *run = r->run;
    hf_status status = hf_study_file_begin(run->session.ctx, run->study);
    if (status < 0) return status;
    status = import ? import_rows(r, counts) : tell_rows(r, counts);
    progress_part(run->session.progress, NULL, 0.0, 1.0);
    if (status < 0) {
        /* The message is of what went wrong first. */
        status = session_refuse_at(&run->session, status, "%s", hf_table_source(r->table));
        hf_study_file_end(run->session.ctx, run->study, false);
        return status;
    }
    return hf_study_file_end(run->session.ctx, run->study, true);
}

static hf_status take_table(studied *run, const char *path, bool import, study_counts *counts)
{
    hf_table *table = NULL;
    trial_table r = {0};
    tool_names dropped = {0};
    *counts = (study_counts){0};
    if (!argument_names(run->arguments, "drop", &dropped)) return session_told(&run->session);
    hf_status status = read_table(&run->session, path, NULL, &table);
    if (status >= 0 && hf_table_rows(table) == 0)
        status = REFUSE(run, "%s: a header and no rows", hf_table_source(table));
    if (status >= 0) status = reading_begin(&r, run, table);
    if (status >= 0 && import) status = check_trial_columns(&r, &dropped);
    if (status >= 0 && import) status = leave_out(&r, &dropped);
    if (status >= 0) status = take_rows(&r, import, counts);
    reading_free(&r);
    names_free(&dropped);
    hf_table_free(table);
    return status;
}

hf_status study_import_table(studied *run, const char *path, study_counts *counts)
{
    return take_table(run, path, true, counts);
}

hf_status study_tell_table(studied *run, const char *path, study_counts *counts)
{
    return take_table(run, path, false, counts);
}
