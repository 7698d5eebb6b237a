/* SPDX-License-Identifier: Apache-2.0 */
/* The package's files share this: context, objects and lists of R, and the questions of
 * answers.c. */
#ifndef HOLDFAST_R_PACKAGE_H
#define HOLDFAST_R_PACKAGE_H

#include <holdfast/holdfast.h>

#include <R.h>
#include <Rinternals.h>

extern hf_context *hfr_context; /* R has one thread */

/* Errors and warnings become conditions of R: tell() in conditions.R raises them. */
void hfr_check(hf_status status);
/* Threads and seed (from 0 on, below 2^53) of the next call. */
void hfr_prepare(SEXP threads, double seed);
/* The progress callback of long calls: Ctrl-C ends them. */
bool hfr_go_on(const char *stage, double done, double value, void *user);

/* An external pointer that will own an object. */
SEXP hfr_owner_of(R_CFinalizer_t release);
void hfr_free_table(SEXP pointer);
hf_model *hfr_model_of(SEXP pointer);
/* A table out of a list of columns, doubles and factors; an external pointer owns it. */
SEXP hfr_table_from(SEXP columns);

const char *hfr_text(SEXP strings, R_xlen_t i);
/* NULL of R for NULL. */
SEXP hfr_make_text(const char *string);
/* The texts that a function counts and names. */
SEXP hfr_make_texts(const hf_model *model, size_t (*count)(const hf_model *),
                    const char *(*at)(const hf_model *, size_t));

/* A list that is filled from its front. */
typedef struct hfr_list {
    SEXP values, names;
    R_xlen_t used;
} hfr_list;

/* Protects two objects. */
hfr_list hfr_start_list(R_xlen_t count);
/* Returns the value. */
SEXP hfr_put(hfr_list *to, const char *name, SEXP value);

/* Sets members of a struct of settings: texts with names, which the struct may point to until the
 * call ends. */
void hfr_set(const hf_settings_table *table, void *settings, SEXP chosen);

/* Routines of answers.c. */
SEXP hfr_describe(SEXP pointer);
SEXP hfr_predict(SEXP pointer, SEXP columns, SEXP want, SEXP levels, SEXP threads);
SEXP hfr_rows_of(SEXP pointer, SEXP training);
SEXP hfr_opinions(SEXP pointer);
SEXP hfr_shares(SEXP pointer);
SEXP hfr_left_out(SEXP pointer);
SEXP hfr_certify(SEXP pointer, SEXP what, SEXP lower, SEXP upper, SEXP chosen, SEXP threads);

#endif
