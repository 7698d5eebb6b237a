/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file status.h
 * @brief The one list of results a call can have.
 *
 * Every fallible function returns an ::hf_status. Its sign is its severity:
 *   - zero: success;
 *   - positive: a warning *with a usable result* (jitter was needed, a limit was reached);
 *   - negative: an error; outputs are untouched, nothing is leaked, and
 *     hf_context_message() says what happened in words, with numbers.
 * So `if (status < 0)` is the test for failure.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_STATUS_H
#define HOLDFAST_STATUS_H

#include <holdfast/export.h>

/** X(name, value, text): the enum, hf_status_name() and hf_status_text() are all made from this
 * list. */
#define HF_STATUS_LIST(X)                                                                          \
    X(HF_OK, 0, "success")                                                                         \
    X(HF_WARN_JITTER, 1, "the matrix was not positive definite; jitter was added")                 \
    X(HF_WARN_NOT_CONVERGED, 2, "stopped before convergence; the best point found is returned")    \
    X(HF_WARN_AT_BOUND, 3, "a parameter ended at its bound")                                       \
    X(HF_WARN_ROWS_SKIPPED, 4, "rows with missing values were left out")                           \
    X(HF_WARN_DRIFT, 5, "online updates have drifted from the exact factor; refresh is advised")   \
    X(HF_WARN_SINGULAR, 6, "the rows lie in a hyperplane; the estimate is singular")               \
    X(HF_ERR_MEMORY, -1, "out of memory")                                                          \
    X(HF_ERR_ARGUMENT, -2, "invalid argument")                                                     \
    X(HF_ERR_NOT_POSITIVE_DEFINITE, -3,                                                            \
      "matrix is not positive definite, even with the largest jitter")                             \
    X(HF_ERR_NOT_FINITE, -4, "a value is not finite")                                              \
    X(HF_ERR_IO, -5, "reading or writing a file failed")                                           \
    X(HF_ERR_PARSE, -6, "malformed input")                                                         \
    X(HF_ERR_NO_COLUMN, -7, "no such column")                                                      \
    X(HF_ERR_NO_DATA, -8, "not enough data")                                                       \
    X(HF_ERR_MODEL_FILE, -9, "not a Holdfast model file, or a damaged one")                        \
    X(HF_ERR_TOO_LARGE, -10, "the problem does not fit in memory")                                 \
    X(HF_ERR_CANCELLED, -11, "cancelled by the progress callback")                                 \
    X(HF_ERR_DIMENSION, -12, "dimensions do not agree")                                            \
    X(HF_ERR_INTERNAL, -13, "internal error; please report it")                                    \
    X(HF_ERR_INCONSISTENT, -14, "no function meets all readings and the norm bound")

/** Result of a call; see the list above for every value and its meaning. */
typedef enum hf_status {
#define HF_STATUS_ENUM_(name, value, text) name = (value),
    HF_STATUS_LIST(HF_STATUS_ENUM_)
#undef HF_STATUS_ENUM_
} hf_status;

HF_BEGIN_DECLS

/** Name of a status, as written in the source ("HF_OK"). Never NULL. Thread-safe. */
HF_API const char *hf_status_name(hf_status status);

/** One English sentence for a status, without a full stop. Never NULL. Thread-safe. */
HF_API const char *hf_status_text(hf_status status);

HF_END_DECLS

#endif
