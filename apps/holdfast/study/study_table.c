/* SPDX-License-Identifier: Apache-2.0 */
/* Trials as tables. */
#include "study/studied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_taken(const studied *run, const char *name)
{
    bool taken = false;
    for (size_t j = 0; j < run->d; j++) taken = taken || strcmp(run->settings->variable[j].name, name) == 0;
    for (size_t o = 0; o < run->outcomes; o++)
        taken = taken || strcmp(run->settings->outcome[o].name, name) == 0;
    return taken;
}

const char *studied_own(const studied *run, const char *name, char buffer[STUDIED_NAME])
{
    snprintf(buffer, STUDIED_NAME, "%s%s", is_taken(run, name) ? "study_" : "", name);
    return buffer;
}

const char *studied_noise_name(const studied *run, size_t outcome, char buffer[STUDIED_NAME])
{
    char plain[STUDIED_NAME];
    const char *name = run->settings->outcome[outcome].name;
    snprintf(plain, sizeof plain, "%.*s_noise", STUDIED_NAME - 16, name);
    return studied_own(run, plain, buffer);
}

/* A table of trials on its way. */
typedef struct making {
    studied *run;
    size_t n;
    hf_trial *trial; /* n */
    double *column;  /* n */
    size_t *choice;  /* n */
    const char **text;
    hf_table *table;
} making;

static void done(making *m)
{
    TOOL_FREE(m->trial, m->column, m->choice, m->text);
    hf_table_free(m->table);
}

static hf_status begin_trial_table(making *m, studied *run, size_t n)
{
    *m = (making){.run = run, .n = n};
    m->trial = calloc(n + 1, sizeof *m->trial);
    m->column = calloc(n + 1, sizeof *m->column);
    m->choice = calloc(n + 1, sizeof *m->choice);
    m->text = calloc(n + 1, sizeof *m->text);
    if (m->trial == NULL || m->column == NULL || m->choice == NULL || m->text == NULL) return HF_ERR_MEMORY;
    return hf_table_create(run->session.ctx, n, &m->table);
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static hf_status add_numbers(const making *m, const char *name)
{
    return hf_table_set_numbers(m->run->session.ctx, m->table, name, m->column);
}

static hf_status add_own(const making *m, const char *name)
{
    char buffer[STUDIED_NAME];
    return add_numbers(m, studied_own(m->run, name, buffer));
}

/* A text for every row, "" for none. */
static hf_status add_texts(const making *m, const char *name)
{
    char buffer[STUDIED_NAME];
    for (size_t i = 0; i < m->n; i++) m->choice[i] = *m->text[i] != '\0' ? i : SIZE_MAX;
    return hf_table_set_text(m->run->session.ctx, m->table, studied_own(m->run, name, buffer), m->n, m->text,
                             m->choice);
}

static hf_status add_variables(const making *m)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < m->run->d && status >= 0; j++) {
        const hf_variable *v = &m->run->settings->variable[j];
        for (size_t i = 0; i < m->n; i++) {
            m->column[i] = m->trial[i].at[j];
            m->choice[i] = v->level != NULL ? (size_t)m->trial[i].at[j] : 0;
        }
        status = v->level == NULL ? add_numbers(m, v->name)
                                  : hf_table_set_text(m->run->session.ctx, m->table, v->name, v->levels,
                                                      v->level, m->choice);
    }
    return status;
}

static hf_status add_outcomes(const making *m, bool noise)
{
    char buffer[STUDIED_NAME];
    hf_status status = HF_OK;
    for (size_t o = 0; o < m->run->outcomes && status >= 0; o++) {
        bool any = !noise;
        for (size_t i = 0; i < m->n; i++) {
            const double variance = m->trial[i].noise[o];
            m->column[i] = !noise ? m->trial[i].value[o] : variance > 0.0 ? variance : (double)NAN;
            any = any || variance > 0.0;
        }
        if (any)
            status = add_numbers(m, noise ? studied_noise_name(m->run, o, buffer)
                                          : m->run->settings->outcome[o].name);
    }
    return status;
}

static hf_status add_identity(const making *m)
{
    for (size_t i = 0; i < m->n; i++) m->column[i] = (double)m->trial[i].id;
    return add_own(m, "trial");
}

static hf_status add_reasons(const making *m)
{
    for (size_t i = 0; i < m->n; i++) {
        m->text[i] = hf_enum_name(HF_ENUM_REASON, m->trial[i].reason);
        m->column[i] = m->trial[i].repeats > 0 ? (double)m->trial[i].repeats : (double)NAN;
    }
    const hf_status status = add_texts(m, "why");
    return status >= 0 ? add_own(m, "repeats") : status;
}

/* ---- what the others say ---------------------------------------------------------------------------------------- */

static hf_status add_doubts(const making *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const hf_trial *t = &m->trial[i];
        m->text[i] = !t->suspected ? "" : t->aside ? "aside" : "doubted";
    }
    hf_status status = add_texts(m, "suspected");
    for (size_t i = 0; i < m->n; i++)
        m->text[i] = m->trial[i].suspected ? m->run->settings->outcome[m->trial[i].outcome].name : "";
    if (status >= 0) status = add_texts(m, "suspected_outcome");
    for (size_t i = 0; i < m->n; i++) m->column[i] = m->trial[i].suspected ? m->trial[i].mean : (double)NAN;
    if (status >= 0) status = add_own(m, "expected");
    for (size_t i = 0; i < m->n; i++) m->column[i] = m->trial[i].suspected ? m->trial[i].sd : (double)NAN;
    return status >= 0 ? add_own(m, "expected_sd") : status;
}

static hf_status add_times(const making *m)
{
    char(*buffer)[32] = calloc(m->n + 1, sizeof *buffer);
    hf_status status = buffer != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < m->n && status >= 0; i++) m->text[i] = studied_time(m->trial[i].asked, buffer[i]);
    if (status >= 0) status = add_texts(m, "asked");
    for (size_t i = 0; i < m->n && status >= 0; i++) m->text[i] = studied_time(m->trial[i].told, buffer[i]);
    if (status >= 0) status = add_texts(m, "told");
    free(buffer);
    return status;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

hf_status study_asked_table(studied *run, size_t count, const hf_proposal *proposal, const char *path)
{
    making m;
    hf_status status = begin_trial_table(&m, run, count);
    for (size_t i = 0; i < count && status >= 0; i++)
        status = hf_study_trial(run->session.ctx, run->study, proposal[i].trial, &m.trial[i]);
    if (status >= 0) status = add_identity(&m);
    if (status >= 0) status = add_variables(&m);
    if (status >= 0) status = add_outcomes(&m, false);
    if (status >= 0) status = add_reasons(&m);
    if (status >= 0) status = hf_table_write_csv(run->session.ctx, m.table, path);
    done(&m);
    return status;
}

hf_status study_trials_table(studied *run, const char *path)
{
    making m;
    hf_status status = begin_trial_table(&m, run, (size_t)hf_study_trials(run->study));
    for (size_t i = 0; i < m.n && status >= 0; i++)
        status = hf_study_trial(run->session.ctx, run->study, i + 1, &m.trial[i]);
    if (status >= 0) status = add_identity(&m);
    for (size_t i = 0; i < m.n && status >= 0; i++)
        m.text[i] = hf_enum_name(HF_ENUM_TRIAL_STATE, m.trial[i].state);
    if (status >= 0) status = add_texts(&m, "state");
    if (status >= 0) status = add_reasons(&m);
    if (status >= 0) status = add_variables(&m);
    if (status >= 0) status = add_outcomes(&m, false);
    if (status >= 0) status = add_outcomes(&m, true);
    if (status >= 0) status = add_doubts(&m);
    if (status >= 0) status = add_times(&m);
    for (size_t i = 0; i < m.n && status >= 0; i++) m.text[i] = m.trial[i].note;
    if (status >= 0) status = add_texts(&m, "note");
    if (status >= 0) status = hf_table_write_csv(run->session.ctx, m.table, path);
    done(&m);
    return status;
}
