/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast.h
 * @brief Everything. Reading order for newcomers: model.h, table.h, train.h, posterior.h, then the
 * parts.
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include <holdfast/acquire.h>
#include <holdfast/acquire_front.h>
#include <holdfast/ageing.h>
#include <holdfast/arrays.h>
#include <holdfast/certify.h>
#include <holdfast/certify_claims.h>
#include <holdfast/certify_classes.h>
#include <holdfast/certify_flip.h>
#include <holdfast/certify_outputs.h>
#include <holdfast/certify_uses.h>
#include <holdfast/classify.h>
#include <holdfast/closed_envelope.h>
#include <holdfast/compare.h>
#include <holdfast/contaminate.h>
#include <holdfast/context.h>
#include <holdfast/dpp.h>
#include <holdfast/enums.h>
#include <holdfast/envelope.h>
#include <holdfast/envelope_file.h>
#include <holdfast/envelope_kernel.h>
#include <holdfast/eulbo.h>
#include <holdfast/expert.h>
#include <holdfast/export_c.h>
#include <holdfast/front.h>
#include <holdfast/kernel.h>
#include <holdfast/likelihood.h>
#include <holdfast/likelihood_list.h>
#include <holdfast/mean.h>
#include <holdfast/metrics.h>
#include <holdfast/model.h>
#include <holdfast/optimise.h>
#include <holdfast/outputs.h>
#include <holdfast/page.h>
#include <holdfast/path.h>
#include <holdfast/posterior.h>
#include <holdfast/reach.h>
#include <holdfast/robust_covariance.h>
#include <holdfast/settings.h>
#include <holdfast/sites.h>
#include <holdfast/solver.h>
#include <holdfast/status.h>
#include <holdfast/study.h>
#include <holdfast/study_file.h>
#include <holdfast/table.h>
#include <holdfast/track.h>
#include <holdfast/track_advice.h>
#include <holdfast/track_file.h>
#include <holdfast/train.h>
#include <holdfast/transform.h>
#include <holdfast/trust_region.h>
#include <holdfast/version.h>

#endif
