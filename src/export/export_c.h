/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file export_c.h
 * @brief Parts of the writer of C: text, tables, kernels, posteriors, self-tests.
 *
 * In texts ` stands for the public name. Inputs, answers and part of the factor are `_real, double
 * or float; all else is double. Errors are remembered: after the first one nothing is written. A
 * file is gone through twice: first for its names alone, so that a name that is taken costs nothing
 * and leaves nothing, then to be written.
 */
#ifndef HFI_MODEL_EXPORT_C_H
#define HFI_MODEL_EXPORT_C_H

#include "data/atomic_file.h"
#include "model/model.h"
#include <holdfast/export_c.h>

enum {
    HFI_EXPORT_NAME = 40,  /* letters */
    HFI_EXPORT_PROBES = 64 /* points of the self-test, where errors are measured */
};

/* ---- the factor in single precision (export_c_posterior.c) ---- */

typedef struct hfi_split_factor {
    size_t n, lead; /* columns, of which the first are in 32 bits */
    bool compact;   /* the others in 16 bits, else in float */
    /* n x n, column-major: a lower triangle whose columns are multiples of a step, rounded */
    double *t;
    double *step; /* n */
} hfi_split_factor;

/** Rounds L, or factors L L' anew with rounded columns. False where their rounding leaves nothing
 * to factor, so that more have to lead. O(n^3) anew, else O(n^2). room: 2 n. */
bool hfi_split_make(hfi_split_factor *s, const double *l, size_t ld, bool anew, double *room);

typedef struct hfi_emitter {
    hf_context *ctx;
    hfi_file file;
    hf_status status;
    const char *name;
    bool single, compact, mean_only;
    bool names_only;        /* nothing is written, and no number of a table is read */
    hfi_split_factor split; /* the factor in single precision */
    size_t bytes;           /* of tables */
    size_t column;
    char within; /* where the text has come to: '"' in quotes, '*' in a comment, else '\0' */
} hfi_emitter;

/* ---- text (export_c_text.c) ---- */

/** HF_ERR_ARGUMENT for a name that is none, or is taken in any file. The next thing that is emitted
 * is looked through for the name alone: where the file has it for something else, the status is the
 * same error. */
hf_status hfi_emit_begin(hf_context *ctx, const hf_export_settings *settings, hfi_emitter *e);
/** Opens the file, and what is emitted from now on is written. */
hf_status hfi_emit_to(hfi_emitter *e, const char *path);
/** Ends the file, or leaves none after an error; frees. */
hf_status hfi_emit_end(hfi_emitter *e);
/** Room for so many numbers, to be freed with hfi_free(); NULL with that error in e->status. */
double *hfi_emit_room(hfi_emitter *e, size_t count);
void hfi_emit(hfi_emitter *e, const char *format, ...) HF_PRINTF(2, 3);
/** A text of any letters inside of a comment. */
void hfi_emit_words(hfi_emitter *e, const char *text);
/** A constant, double or `_real. HF_ERR_NOT_FINITE for one that is no number of its type. */
void hfi_emit_number(hfi_emitter *e, double value);
void hfi_emit_real(hfi_emitter *e, double value);
/** static const double NAME[count] = {...}; `stride` apart. Counts its bytes; an empty table has
 * one 0. */
void hfi_emit_table(hfi_emitter *e, const char *name, size_t count, const double *values,
                    size_t stride);
/** The same of scales; HF_ERR_NOT_FINITE for one that is 0 or infinite as `_real. */
void hfi_emit_scales(hfi_emitter *e, const char *name, size_t count, const double *values);
/** The same of whole numbers, of `type`, whose size is `size`. */
void hfi_emit_counts(hfi_emitter *e, const char *type, size_t size, const char *name, size_t count,
                     const size_t *values);
/** A triangle, row by row without its diagonal; column-major. */
void hfi_emit_triangle(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld);
/** NAME_inverse, one by its diagonal. */
void hfi_emit_diagonal(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld);
/** A table that is not of double: its beginning, an entry, its end. */
void hfi_emit_open(hfi_emitter *e, const char *type, const char *name, size_t count);
void hfi_emit_float_entry(hfi_emitter *e, double value, bool last);
void hfi_emit_entry(hfi_emitter *e, const char *text, bool last);
void hfi_emit_close(hfi_emitter *e, size_t bytes);
/** Tables of a factor, and static void solve_NAME(double v[n]), L v = v. */
void hfi_emit_solve(hfi_emitter *e, const char *name, size_t n, const double *l, size_t ld);
/** Declarations of the four sums s0 to s3. */
void hfi_emit_sums(hfi_emitter *e, const char *type, const char *zero);
/** The first lines of a file: what it is, how it is used. */
void hfi_emit_head(hfi_emitter *e, const char *what, const char *source, const char *checksum);
/** The headers of the function and of its self-test. */
void hfi_emit_includes(hfi_emitter *e);
void hfi_emit_inputs(hfi_emitter *e, size_t d, const char *const *feature);
/** static int scale_inputs(const `_real x[], double scaled[]), 1 where one is not finite. */
void hfi_emit_scaling(hfi_emitter *e, size_t d, const hfi_scaling *scaling);

/* ---- kernels (export_c_kernel.c) ---- */

/** HF_ERR_ARGUMENT, by name, for a kernel of the expression that has no row. */
hf_status hfi_export_check_kernel(hf_context *ctx, const hf_kernel *kernel);
/** static kernel(x, z), and, unless it is the same for all x, variance(x); scaled inputs. White is
 * in the latter. */
void hfi_emit_kernel(hfi_emitter *e, const hf_kernel *kernel, bool variance);

/* ---- posteriors and what they say (export_c_posterior.c, export_c_readout.c) ---- */

void hfi_emit_posterior(hfi_emitter *e, const hf_posterior *posterior);

/** One kind of answer: a row of the table. */
typedef struct hfi_readout {
    bool (*is)(const hf_model *model);
    const char *fields;  /* of the result, beside those that all have */
    const char *comment; /* what they are */
    void (*helpers)(hfi_emitter *e, const hf_model *model);
    const char *code; /* from mean, latent and observed, in scaled units, to *result */
    /** The same by the library: mean, sd_latent, sd_observed, the field of its own; and the unit of
     * errors. */
    void (*expect)(const hf_model *model, size_t output, const double answer[3], double out[4],
                   double *unit);
    const char *check; /* of the field of its own, by the self-test */
} hfi_readout;

/** Whether rows name the output that they are about: then the function has an argument for it. */
bool hfi_export_named(const hf_model *model);
/** HF_ERR_ARGUMENT for a model that has no row. */
hf_status hfi_export_readout(hf_context *ctx, const hf_model *model, const hfi_readout **out);

/* ---- probes (export_c_probe.c) ---- */

typedef struct hfi_probes {
    size_t count, d;
    double *x;         /* count x d, user units; numbers of the file's type */
    double *answer;    /* count x 3: mean, latent and observed variance, in user units */
    double mean_limit; /* differences that the self-test allows, in units */
    double var_limit;
    double mean_error, sd_error;
} hfi_probes;

/** Also makes e->split, with as few leading columns as do, and measures the errors of single
 * precision. */
hf_status hfi_probes_make(hf_context *ctx, hfi_emitter *e, const hf_posterior *posterior,
                          hfi_probes *out);
void hfi_probes_free(hf_context *ctx, hfi_probes *probes);
/** Points in user units from anchors in scaled ones: anchors and, between them, midpoints. */
void hfi_probe_points(const hf_kernel *kernel, const hfi_scaling *scaling, size_t n,
                      const double *z, bool single, size_t count, bool *code, double *x);
void hfi_emit_self_test(hfi_emitter *e, const hf_model *model, const hfi_readout *readout,
                        const hfi_probes *probes);

#endif
