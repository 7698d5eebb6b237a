/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of the members of hf_fit_settings; train.h describes them for programs. Those that models keep are in
 * the order of model files: a new one comes after all of them. */
#define SETTINGS hf_fit_settings
#include "core/settings_rows.h"

#include "settings/sites_bits.h"

#include <holdfast/train.h>

/* ---- what goes with what ---------------------------------------------------------------------------------------- */

#define ONE                             BIT(0)
#define SEVERAL                         BIT(1)
#define ZERO_OF(id, symbol, name, help) 0,
enum {
    LAST_SITES = sizeof(char[]){HF_SITES_LIST(ZERO_OF)} /* the first, gaussian, is no row of the list */
};
#define LINE(id, symbol, name, help) ";\n" name ": " help
#define OF_ROBUST                    NOT(sites, ALL_BUT(BIT(HF_LIKELIHOOD_ROBUST)))
#define OF_READINGS                  REFUSED(sites, LABELS)
#define OF_NOISY_READINGS            REFUSED(sites, LABELS | RATES)
#define OF_TRAINING                  NOT(train, OFF)
#define OF_PROJECTED                 NOT(sites, LABELS), NOT(solver, BIT(HF_SOLVER_EXACT) | BIT(HF_SOLVER_INDUCING))
#define OF_BLOCKS                    OF_PROJECTED, NOT(action_kind, ALL_BUT(BIT(HF_ACTIONS_BLOCKS)))
/* Block actions are trained by themselves; other ones take hyperparameters and places from inducing inputs. */
#define ON_BLOCKS                                                                                            \
    {"solver", BIT(HF_SOLVER_PROJECTED)},                                                                    \
    {                                                                                                        \
        "action_kind", BIT(HF_ACTIONS_BLOCKS)                                                                \
    }
#define OF_INDUCING                                                                                          \
    NOT(solver, BIT(HF_SOLVER_EXACT)),                                                                       \
    {                                                                                                        \
        .term = { ON_BLOCKS }                                                                                \
    }
#define SUSPECTS      (BIT(HF_OUTLIERS_AUTO) | BIT(HF_OUTLIERS_FORCE))
#define LEAVE_ONE_OUT (BIT(HF_OBJECTIVE_LOO) | BIT(HF_OBJECTIVE_WLOO))
#define BOUNDS        (BIT(HF_OBJECTIVE_WEIGHTED) | BIT(HF_OBJECTIVE_RCAGP))
#define OF_OUTPUTS    NOT(outputs, ONE), OF_READINGS
#define OF_ALL_ROWS                                                                                          \
    {                                                                                                        \
        .refused = true, .term = {{"sites", BIT(HF_LIKELIHOOD_ROBUST)}, {"minibatch", SOME}},                \
        .why = "weight functions of minibatches have no amplitude"                                           \
    }

/* ---- rows ------------------------------------------------------------------------------------------------------- */

#define MODEL    .face.group = "model"
#define READINGS .face.group = "readings"
#define OUTPUTS  .face.group = "outputs"
#define SOLVER   .face.group = "solver"
#define TRAINING .face.group = "training"

#define IN_MODEL      .face.in_model = true
#define KEPT(version) IN_MODEL, SINCE(version)

static const hfi_setting rows[] = {
    {TEXT(kernel), MODEL, IN_MODEL,
     OPTION("kernel", "EXPR",
            "covariance function (default \"matern52(ard)\"), such as\n"
            "\"matern52(ard) + periodic(x3, period=12)\"; auto: of four, the one that\n"
            "predicts the target best"),
     CLASHES(VALUES_REFUSED(BIT(2), sites, LABELS | RATES), VALUES_REFUSED(BIT(2), outputs, SEVERAL))},
    {CHOICE(mean, hf_mean_kind, MEAN_KIND, HF_MEAN_LINEAR), MODEL, .kept = HF_MEAN_OUTPUTS + 1,
     DEFAULT(HF_MEAN_CONSTANT), KEPT(1),
     OPTION("mean", "KIND", "prior mean: zero, constant (default), median, linear"),
     CLASHES(MEAN_OF_LABELS(sites, LABELS, BIT(HF_LIKELIHOOD_SOFTMAX)),
             VALUES_REFUSED(BIT(HF_MEAN_MEDIAN), sites, RATES),
             {.values = BIT(HF_MEAN_MEDIAN) | BIT(HF_MEAN_LINEAR),
              .refused = true,
              .term = {{"outputs", SEVERAL}},
              .why = "it is constant, one for each, or zero"})},
    {CHOICE(sites, hf_likelihood, LIKELIHOOD, LAST_SITES), MODEL, KEPT(1),
     OPTION("sites", "KIND", "gaussian" HF_SITES_LIST(LINE)),
     CLASHES(VALUES_REFUSED(NOISES | LABELS | RATES, solver, BIT(HF_SOLVER_PROJECTED)),
             VALUES_REFUSED(BIT(HF_LIKELIHOOD_SOFTMAX), solver, BIT(HF_SOLVER_INDUCING)),
             VALUES_REFUSED(LABELS | RATES, outputs, SEVERAL),
             {.values = NOISES,
              .refused = true,
              .term = {{"outputs", SEVERAL}, {"shared_noise", OFF}},
              .why = "several outputs have one scale of it, as in the preset t-mogp"},
             {.values = BIT(HF_LIKELIHOOD_PURSUIT),
              .refused = true,
              .term = {{"minibatch", SOME}},
              .why = "relevance pursuit looks at all rows"},
             {.values = BIT(HF_LIKELIHOOD_PURSUIT),
              .refused = true,
              .term = {ON_BLOCKS},
              .why = "relevance pursuit takes hyperparameters from another solver"})},
    {CHOICE(suspects, hf_outliers, OUTLIERS, HF_OUTLIERS_FORCE), READINGS, DEFAULT(HF_OUTLIERS_AUTO), KEPT(1),
     OPTION("suspects", "WHEN",
            "auto: set readings aside where that clearly pays (default);\n"
            "force: set aside what was found; off"),
     CLASHES({.values = SUSPECTS,
              .refused = true,
              .term = {{"sites", ALL_BUT(BIT(HF_LIKELIHOOD_GAUSSIAN))}},
              .why = "switch it off, or start from a preset"},
             {.values = SUSPECTS, .term = {{"minibatch", SOME}}, .why = "it looks at all rows"},
             VALUES_REFUSED(BIT(HF_OUTLIERS_FORCE), train, OFF), VALUES(BIT(HF_OUTLIERS_AUTO), train, OFF),
             {.values = SUSPECTS, .term = {ON_BLOCKS}, .why = "every reading is part of block actions"}),
     .strict = true},
    {FLAG(groups), READINGS, DEFAULT(true), KEPT(1), CLASHES(NOT(suspects, BIT(HF_OUTLIERS_OFF)))},
    {FLAG(calibrate), READINGS, DEFAULT(true), KEPT(1),
     CLASHES(OF_READINGS, VALUES_REFUSED(ON, sites, LABELS | RATES)), .strict = true},
    {CHOICE(centre, hf_centre, CENTRE, HF_CENTRE_CONDITIONAL), READINGS, DEFAULT(HF_CENTRE_LEAVE_ONE_OUT),
     KEPT(1),
     OPTION("centre", "RULE",
            "robust sites: residuals are taken from the prior mean (prior),\n"
            "the leave-one-out mean (loo), near readings (neighbours) or what\n"
            "the other outputs say (conditional)"),
     CLASHES(OF_ROBUST, {.values = BIT(HF_CENTRE_CONDITIONAL),
                         .refused = true,
                         .term = {{"sites", BIT(HF_LIKELIHOOD_ROBUST)}, {"outputs", ONE}}})},
    {CHOICE(threshold_rule, hf_threshold_rule, THRESHOLD_RULE, HF_THRESHOLD_GIVEN), READINGS,
     DEFAULT(HF_THRESHOLD_MAD), KEPT(1), CLASHES(OF_ROBUST)},
    {NUMBER(eps, 0, 1), READINGS, .face.below = true, DEFAULT(0.1), KEPT(1), UNIT("share"),
     OPTION("eps", "SHARE",
            "robust sites: expected share of outliers; sets the threshold\n"
            "to that quantile of the residuals (default 0.1; 0: none are\n"
            "expected, the threshold is the largest residual); centre\n"
            "conditional: also one share for each output, separated by commas"),
     CLASHES(OF_ROBUST, NOT(threshold_rule, BIT(HF_THRESHOLD_GIVEN)))},
    {LIST(output_eps), READINGS,
     CLASHES(OF_ROBUST, NOT(outputs, ONE), NOT(centre, ALL_BUT(BIT(HF_CENTRE_CONDITIONAL))), OF_READINGS)},
    {LENGTH(output_eps_count), READINGS},
    {NUMBER(threshold, 0, INFINITY), READINGS, .face.above = true, DEFAULT(INFINITY), KEPT(1), UNIT("target"),
     OPTION("threshold", "C", "robust sites: soft threshold in units of the target"),
     CLASHES(OF_ROBUST, NOT(threshold_rule, ALL_BUT(BIT(HF_THRESHOLD_GIVEN))))},
    {COUNT(rounds, 1), READINGS, DEFAULT(8), KEPT(1), CLASHES(OF_ROBUST)},
    {FLAG(consistent_noise), READINGS, DEFAULT(true), KEPT(1), CLASHES(OF_ROBUST)},
    {FLAG(train), TRAINING, DEFAULT(true), KEPT(1),
     OPTION("no-train", NULL, "keep hyperparameters at their set or starting values")},
    {CHOICE(objective, hf_objective, OBJECTIVE, HF_OBJECTIVE_RCAGP), TRAINING, KEPT(1),
     OPTION("objective", "NAME",
            "what training maximises: evidence (default), loo, wloo;\nnot exact: weighted, rcagp"),
     CLASHES(OF_READINGS, VALUES_REFUSED(BOUNDS | LEAVE_ONE_OUT, sites, LABELS | RATES), OF_TRAINING,
             VALUES_REFUSED(BOUNDS | LEAVE_ONE_OUT, minibatch, SOME),
             {.values = BOUNDS | LEAVE_ONE_OUT,
              .refused = true,
              .term = {{"solver", BIT(HF_SOLVER_INDUCING)}, {"sites", NOISES}},
              .why = "variational Student-t fits maximise a bound of the evidence"},
             {.values = BOUNDS | LEAVE_ONE_OUT,
              .term = {{"sites", NOISES | BIT(HF_LIKELIHOOD_PURSUIT)}},
              .why = "these are trained by the evidence"},
             {.values = LEAVE_ONE_OUT,
              .term = {ON_BLOCKS, {"train_actions", ON}},
              .why = "actions trained by leave-one-out fit the noise"},
             VALUES(BOUNDS, solver, BIT(HF_SOLVER_AUTO) | BIT(HF_SOLVER_EXACT)),
             VALUES(BIT(HF_OBJECTIVE_RCAGP), sites, ALL_BUT(BIT(HF_LIKELIHOOD_ROBUST))),
             {.values = BIT(HF_OBJECTIVE_RCAGP),
              .term = {{"output_beta", NONE}, {"beta", NONE}},
              .why = "published: 1 for a standardised target"})},
    {FLAG(priors), TRAINING, DEFAULT(true), KEPT(1), CLASHES(OF_TRAINING)},
    {FLAG(train_mean), TRAINING, DEFAULT(true), KEPT(1), CLASHES(OF_TRAINING)},
    {COUNT(restarts, 0), TRAINING, KEPT(1),
     OPTION("restarts", "K", "additional random starts of the training (default 0)"),
     CLASHES(OF_TRAINING, NOT(minibatch, SOME))},
    {COUNT(iterations, 1), TRAINING, DEFAULT(60), KEPT(1),
     OPTION("iterations", "K", "length of a training (default 60)"), CLASHES(OF_TRAINING)},
    {FLAG(standardise), TRAINING, DEFAULT(true), KEPT(1),
     OPTION("standardise", "on|off", "scale inputs and target inside (default on)"),
     CLASHES({.values = OFF,
              .term = {{"scaled_beta", ON}},
              .why = "off, there are no scales in which beta could count"})},
    {CHOICE(solver, hf_solver, SOLVER, HF_SOLVER_PROJECTED), SOLVER, KEPT(2),
     OPTION("solver", "NAME",
            "exact; inducing: through M inputs; projected: on I combinations\n"
            "of readings; auto: by the number of readings (default)")},
    {COUNT(inducing, 1), SOLVER, ZERO("by the number of readings"), KEPT(2),
     OPTION("inducing", "M", "inducing inputs (default: by the number of readings)"), CLASHES(OF_INDUCING)},
    {CHOICE(inducing_method, hf_inducing_method, INDUCING_METHOD, HF_INDUCING_DTC), SOLVER, KEPT(2),
     OPTION("inducing-method", "NAME", "vfe (default), fitc, dtc"),
     CLASHES(OF_INDUCING,
             {.values = ALL_BUT(BIT(HF_INDUCING_VFE)),
              .refused = true,
              .term = {{"sites", ALL_BUT(LABELS | RATES)}, {"minibatch", SOME}},
              .why = "minibatches are VFE"},
             NOT(minibatch, SOME),
             {.values = ALL_BUT(BIT(HF_INDUCING_VFE)),
              .refused = true,
              .term = {{"solver", BIT(HF_SOLVER_INDUCING)}, {"sites", NOISES}},
              .why = "variational Student-t fits are VFE"})},
    {CHOICE(inducing_choice, hf_inducing_choice, INDUCING_CHOICE, HF_INDUCING_FIRST), SOLVER, KEPT(2),
     OPTION("inducing-choice", "NAME", "where they are placed: greedy (default), kmeans, mdpp, first"),
     CLASHES(OF_INDUCING, {.values = BIT(HF_INDUCING_KMEANS),
                           .refused = true,
                           .term = {{"outputs", SEVERAL}},
                           .why = "means of readings of several outputs belong to none of them"})},
    {LIST(inducing_inputs), SOLVER,
     CLASHES(REFUSED(solver, BIT(HF_SOLVER_AUTO) | BIT(HF_SOLVER_EXACT)),
             {.refused = true, .term = {ON_BLOCKS}}, REFUSED(minibatch, SOME),
             REFUSED(sites, NOISES | LABELS), REFUSED(outputs, SEVERAL), REFUSED(inducing, NONE))},
    {FLAG(train_inducing), SOLVER, KEPT(2),
     OPTION("train-inducing", NULL, "train the inducing inputs with the hyperparameters"),
     CLASHES(OF_INDUCING, OF_TRAINING, OF_READINGS)},
    {COUNT(actions, 1), SOLVER, ZERO("by the number of readings"), KEPT(2),
     OPTION("actions", "I",
            "projected solver: blocks, or Krylov steps at most\n(default: by the number of readings)"),
     CLASHES(
         OF_PROJECTED,
         {.term = {{"action_kind", BIT(HF_ACTIONS_INDUCING)}}, .why = "there are as many as inducing inputs"},
         {.term = {{"action_kind", BIT(HF_ACTIONS_GIVEN)}},
          .why = "there are as many as the matrix has columns"})},
    {CHOICE(action_kind, hf_actions, ACTIONS, HF_ACTIONS_GIVEN), SOLVER, KEPT(2),
     OPTION("action-kind", "NAME",
            "krylov (default): what conjugate gradients visit; inducing:\n"
            "from inducing inputs; blocks: one entry a reading, trained; given:\n"
            "those of --actions-file"),
     CLASHES(OF_PROJECTED, {.values = BIT(HF_ACTIONS_GIVEN),
                            .refused = true,
                            .term = {{"solver", ALL_BUT(BIT(HF_SOLVER_EXACT) | BIT(HF_SOLVER_INDUCING))},
                                     {"action_matrix", NONE}}})},
    {LIST(action_matrix), SOLVER,
     OPTION("actions-file", "FILE.csv",
            "given actions: a column for each, a row for each of TRAIN.csv,\nafter a line of names"),
     CLASHES(REFUSED(solver, ALL_BUT(BIT(HF_SOLVER_PROJECTED))),
             REFUSED(action_kind, ALL_BUT(BIT(HF_ACTIONS_GIVEN))), REFUSED(outputs, SEVERAL))},
    {LENGTH(action_rows), SOLVER},
    {CHOICE(blocks, hf_blocks, BLOCKS, HF_BLOCKS_CLUSTERED), SOLVER, KEPT(2),
     OPTION("blocks", "RULE", "block actions: contiguous (default), clustered by the inputs"),
     CLASHES(OF_BLOCKS)},
    {CHOICE(action_start, hf_action_start, ACTION_START, HF_ACTION_START_PRECISION), SOLVER, KEPT(2),
     OPTION("action-start", "RULE",
            "block actions: entries to start from: random (default), targets,\neigen, precision"),
     CLASHES(OF_BLOCKS)},
    {FLAG(train_actions), SOLVER, DEFAULT(true), KEPT(2),
     OPTION("fixed-actions", NULL, "block actions: entries are not trained"),
     CLASHES(OF_BLOCKS, OF_TRAINING)},
    {NUMBER(tolerance, 0, 1), SOLVER, .face.below = true, DEFAULT(0.01), KEPT(2), UNIT("share"),
     OPTION("tolerance", "T",
            "krylov actions: stop when the share T of the readings is left\n"
            "unexplained (default 0.01; 0: never)"),
     CLASHES(OF_PROJECTED, NOT(action_kind, ALL_BUT(BIT(HF_ACTIONS_KRYLOV))))},
    {FLAG(single_precision), SOLVER, KEPT(2),
     OPTION("single-precision", NULL, "projected solver: covariances in single precision, sums in double"),
     CLASHES(OF_PROJECTED)},
    {CHOICE(optimiser, hf_optimiser, OPTIMISER, HF_OPTIMISER_ADAM), TRAINING, KEPT(2),
     OPTION("optimiser", "NAME", "lbfgs (default), adam"),
     CLASHES(OF_READINGS, VALUES_REFUSED(BIT(HF_OPTIMISER_ADAM), sites, LABELS | RATES), OF_TRAINING,
             {.values = BIT(HF_OPTIMISER_LBFGS),
              .term = {{"minibatch", SOME}},
              .why = "minibatches are trained by adam"})},
    {POSITIVE(learning_rate), TRAINING, DEFAULT(0.01), KEPT(2),
     OPTION("learning-rate", "R", "step of adam (default 0.01)"),
     CLASHES(OF_TRAINING, NOT(optimiser, ALL_BUT(BIT(HF_OPTIMISER_ADAM))))},
    {COUNT(minibatch, 1), SOLVER, ZERO("all rows at once"), KEPT(2),
     OPTION("minibatch", "B", "inducing solver: train by Adam on B rows a step"),
     CLASHES(NOT(solver, BIT(HF_SOLVER_EXACT) | BIT(HF_SOLVER_PROJECTED)), OF_TRAINING, OF_NOISY_READINGS,
             REFUSED(outputs, SEVERAL))},
    {POSITIVE(beta), READINGS, ZERO("such that plain readings are Gaussian ones"), KEPT(2), UNIT("target"),
     OPTION("beta", "B",
            "robust sites: amplitude of the weights in units of the target, of\n"
            "several outputs in those of each; or one for each, separated by commas\n"
            "(default: so that plain readings are Gaussian ones)"),
     CLASHES(OF_READINGS, OF_ROBUST, OF_ALL_ROWS)},
    {LIST(output_beta), READINGS,
     CLASHES(REFUSED(sites, ALL_BUT(BIT(HF_LIKELIHOOD_ROBUST))), NOT(outputs, ONE), OF_ALL_ROWS)},
    {LENGTH(output_beta_count), READINGS},
    {FLAG(scaled_beta), READINGS,
     OPTION("scaled-beta", NULL, "robust sites: --beta counts in scales of the standardised targets"),
     CLASHES(OF_READINGS, OF_ROBUST, {.term = {{"output_beta", NONE}, {"beta", NONE}}},
             {.refused = true,
              .term = {{"standardise", OFF}},
              .why = "off, there are no scales in which beta could count"})},
    {NUMBER(student_nu, 1, INFINITY), READINGS, .face.above = true, .face.below = true, ZERO("trained"),
     KEPT(2), OPTION("nu", "NU", "student-t sites: degrees of freedom, more than 1 (default: trained)"),
     CLASHES(OF_READINGS, NOT(sites, ALL_BUT(NOISES)))},
    {POSITIVE(max_noise), TRAINING, ZERO("none"), KEPT(3), UNIT("target^2"),
     OPTION("max-noise", "V", "upper bound on the trained noise variance (of every output)"),
     CLASHES(OF_NOISY_READINGS, OF_TRAINING)},
    {COUNT(coregion_rank, 1), OUTPUTS, ZERO("full up to 8 outputs, then 3"), KEPT(3),
     OPTION("coregion-rank", "R",
            "several outputs: rank of the covariance between them (default:\nfull up to 8 outputs, then 3)"),
     CLASHES(OF_OUTPUTS, NOT(independent, ON))},
    {FLAG(shared_noise), OUTPUTS, KEPT(3),
     OPTION("shared-noise", NULL, "several outputs: one noise for all, in standardised units"),
     CLASHES(OF_OUTPUTS)},
    {FLAG(independent), OUTPUTS, KEPT(3), CLASHES(OF_OUTPUTS)},
    {CHOICE(weighting, hf_outputs_weighting, OUTPUTS_WEIGHTING, HF_OUTPUTS_CHANNEL), OUTPUTS, KEPT(3),
     OPTION("weighting", "KIND",
            "centre conditional: a weight for each reading (reading, default),\n"
            "for each row (joint) or for each output as a whole (channel)"),
     CLASHES(OF_OUTPUTS, OF_ROBUST, NOT(centre, ALL_BUT(BIT(HF_CENTRE_CONDITIONAL))))},
    {CHOICE(inference, hf_inference, INFERENCE, HF_INFERENCE_AUTO), MODEL, .kept = HF_INFERENCE_CORRECTED + 1,
     DEFAULT(HF_INFERENCE_AUTO), KEPT(4),
     OPTION("inference", "NAME",
            "of labels, counts, amounts and student-t noise: ep, expectation\n"
            "propagation; laplace, quicker and less exact; variational, a lower\n"
            "bound; of softmax: corrected, laplace with a better mean; laplace.\n"
            "auto (default): variational for student-t, corrected for softmax, else ep"),
     CLASHES(NOT(sites, ALL_BUT(LABELS | RATES | NOISES)),
             INFERENCE_OF_LABELS(sites, (LABELS | RATES | NOISES) & ALL_BUT(BIT(HF_LIKELIHOOD_SOFTMAX)),
                                 BIT(HF_LIKELIHOOD_SOFTMAX)),
             {.values = BIT(HF_INFERENCE_LAPLACE) | BIT(HF_INFERENCE_EP),
              .term = {{"solver", BIT(HF_SOLVER_INDUCING)}, {"sites", NOISES}},
              .why = "student-t noise with the inducing solver is variational"})},
    {CHOICE(transform, hf_transform, TRANSFORM, HF_TRANSFORM_AUTO), MODEL, .kept = HF_TRANSFORM_LOG + 1,
     KEPT(5), .unhashed = true,
     OPTION("transform", "KIND",
            "of a skewed target: none (default), sqrt (0 or more), log (positive):\n"
            "what is modelled of it; auto: the one that predicts it best"),
     CLASHES(OF_READINGS,
             {.values = ALL_BUT(BIT(HF_TRANSFORM_NONE)),
              .refused = true,
              .term = {{"sites", LABELS | RATES}},
              .why = "latent values of counts and amounts are logarithms already"},
             REFUSED(outputs, SEVERAL))},
    {CHOICE(lengthscale_prior, hf_prior_kind, PRIOR_KIND, HF_PRIOR_DIMENSION), TRAINING, KEPT(6),
     OPTION("lengthscale-prior", "NAME",
            "weak (default); dimension: longer with the number of inputs, as\n"
            "searches in many inputs want"),
     CLASHES(OF_READINGS, OF_TRAINING, REFUSED(priors, OFF))},
    {FLAG(unit_inputs), TRAINING, KEPT(6),
     OPTION("unit-inputs", NULL,
            "use inputs as they are; lengthscales start, and end, where those of\n"
            "inputs within 0 and 1 do"),
     CLASHES(OF_READINGS)},
    {LIST(set), TRAINING,
     OPTION("set", "NAME=VALUE",
            "hold a hyperparameter: noise, mean, outputscale,\n"
            "lengthscale, lengthscale[0], threshold, ...; of several outputs\n"
            "noise[0], mean[0], coregionalisation[1,0], ...")},
    {LENGTH(set_count), TRAINING},
    {POSITIVE(noise_start), TRAINING, ZERO("0.1 of the target's scale squared"), UNIT("target^2"),
     OPTION("noise-start", "V", "noise variance that training starts from"),
     CLASHES(OF_READINGS, OF_TRAINING)},
    {POSITIVE(common_start), TRAINING, ZERO("the usual starts"),
     OPTION("common-start", "V",
            "lengthscales, outputscales and noise start from V, in units of\n"
            "standardised inputs and target"),
     CLASHES(OF_READINGS, OF_TRAINING)},
    {LIST(start), TRAINING,
     CLASHES(OF_READINGS, REFUSED(outputs, SEVERAL), REFUSED(transform, BIT(HF_TRANSFORM_AUTO)),
             REFUSED(kernel, BIT(2)))},
    {LENGTH(start_count), TRAINING},
    {FLAG(warm), TRAINING,
     CLASHES(OF_READINGS, REFUSED(start_count, NONE), REFUSED(train, OFF), REFUSED(restarts, SOME))},
    {TEXT(checkpoint), TRAINING, .unhashed = true,
     OPTION("checkpoint", "FILE", "keep every step of training in FILE, so that a stopped fit can go on"),
     CLASHES(OF_READINGS, OF_TRAINING, REFUSED(transform, BIT(HF_TRANSFORM_AUTO)), REFUSED(kernel, BIT(2)))},
    {FLAG(resume), TRAINING, .unhashed = true,
     OPTION("resume", NULL,
            "go on from the checkpoint, if it is there: the same model as\nwithout the interruption (default "
            "checkpoint: MODEL.hf.checkpoint)"),
     CLASHES(OF_READINGS, OF_TRAINING, NOT(transform, BIT(HF_TRANSFORM_AUTO)), NOT(kernel, BIT(2)))},
};

SETTINGS_TABLE(hf_fit_settings, "a fit", rows)
