/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bed_damage.h
 * @brief Kinds of damage to the targets of small tables. s is the sd of the clean training targets.
 *
 * | kind | rows | what a target becomes | when it counts as wrong |
 * |---|---|---|---|
 * | none | 0 | | |
 * | one_6, one_10, one_20 | 1 | y + or - 6, 10, 20 s | always |
 * | one_x10 | 1 | 10 y | moved by 3 s |
 * | one_zero | 1 | 0 | moved by 1 s |
 * | one_sign | 1 | -y | moved by 3 s |
 * | three_10 | 3 | y + or - 10 s | always |
 * | shift | share | y + or - U(3, 9) s | always |
 * | x10, zero | share | 10 y, 0 | moved by 1 s |
 * | swap | share | y of another damaged row | moved by 1 s |
 * | stuck | share | the value of one random reading | moved by 1 s |
 * | clustered | share, those nearest to a random row | y + 6 s | always |
 */
#ifndef EXPERIMENTS_BED_DAMAGE_H
#define EXPERIMENTS_BED_DAMAGE_H

#include "common/fits.h"

enum {
    BED_KINDS = 14
};

typedef struct bed_kind bed_kind;

/** Number k of the kinds in the order above. */
const bed_kind *bed_kind_at(size_t k);
/** The kind of that name, or NULL. */
const bed_kind *bed_kind_find(const char *name);
const char *bed_kind_name(const bed_kind *kind);
/** Whether the kind damages a share of the rows. */
bool bed_kind_shares(const bed_kind *kind);

/**
 * Damages the targets of p and marks the wrong rows; returns their number. None: the kind does not
 * apply, and p is unchanged.
 * @param order a random permutation of the n rows, changed
 * @param seed of what is drawn besides
 */
size_t bed_damage(const bed_kind *kind, double share, uint64_t seed, size_t *order, problem *p);

#endif
