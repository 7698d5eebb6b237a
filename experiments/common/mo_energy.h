/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_energy.h
 * @brief Heating and cooling loads of buildings (energy/energy.csv) under the protocol that
 * mo-rcgp-table2.c tells.
 */
#ifndef EXPERIMENTS_MO_ENERGY_H
#define EXPERIMENTS_MO_ENERGY_H

#include "common/mo_table.h"

#define MO_ENERGY_KINDS "none,uniform,asymmetric,focused"

/** One split. false: reason on standard error. */
bool mo_energy_data(hf_context *ctx, const char *folder, const char *kind, uint64_t seed,
                    mo_draw_result *out);
void mo_energy_terms(const char *kind, mo_terms *out);

#endif
