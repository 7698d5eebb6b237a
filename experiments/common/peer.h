/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file peer.h
 * @brief Other software as a method: a script that gets the data in one file and leaves its
 * predictions in another.
 */
#ifndef EXPERIMENTS_PEER_H
#define EXPERIMENTS_PEER_H

#include "common/fits.h"

/** Runs "/usr/bin/python3 SCRIPT IN OUT" (see peer_sklearn.py) and scores what it leaves. false:
 * reason on standard error. */
bool peer_run(hf_context *ctx, const char *script, const problem *data, record *out);

#endif
