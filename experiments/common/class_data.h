/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_data.h
 * @brief Labelled rows of six problems: two made-up clouds, unwanted mail, and digits.
 *
 * | name        | classes | inputs | what it is                                                                             |
 * |-------------|---------|--------|----------------------------------------------------------------------------------------|
 * | synthetic2d | 2       | 2      | 600 + 600 normal points or more, class 0 moved by 5 on input 1, class 1 on input 2     |
 * | spam        | 2       | 11     | spambase, the columns that the published program keeps                                 |
 * | mnist38     | 2       | 196    | digits 3 and 8 of 14 x 14 pixels in [0, 1]                                             |
 * | mnist358    | 3       | 196    | digits 3, 5 and 8                                                                      |
 * | digits38    | 2       | 64     | digits 3 and 8 of 8 x 8 pixels in [0, 1]; come with Holdfast                           |
 * | digits358   | 3       | 64     | digits 3, 5 and 8 of the same                                                          |
 *
 * Inputs of the first two are standardised over all rows, as published. Rows are drawn without
 * replacement by a generator of this folder.
 */
#ifndef EXPERIMENTS_CLASS_DATA_H
#define EXPERIMENTS_CLASS_DATA_H

#include <holdfast/holdfast.h>

/** `train` rows, and then `test` rows. */
typedef struct class_data {
    size_t train, test, d, classes;
    double *x; /**< (train + test) x d */
    size_t *label;
} class_data;

bool class_data_known(const char *set);
/** Whether the file of a set is there, which made-up data always are; where not, standard error
 * tells that it is left out of the program. */
bool class_data_present(const char *folder, const char *set);
/** All rows of a set as training rows; false: reason on standard error. Those that are made up come
 * from the seed: 1200, or `least` where that is more. */
bool class_data_read(hf_context *ctx, const char *folder, const char *set, uint64_t seed,
                     size_t least, class_data *out);
/** Draws `train` and `test` rows (fewer to test where there are fewer); false: reason on standard
 * error. */
bool class_data_draw(hf_context *ctx, const char *folder, const char *set, uint64_t seed,
                     size_t train, size_t test, class_data *out);
void class_data_free(class_data *data);

#endif
