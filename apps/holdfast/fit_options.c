/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast fit: its options and what help says about it. */
#include "fit_settings.h"

#include <string.h>

static const tool_option options[] = {
    {"target", 't', "A,B,...",
     "column to predict (required); several are correlated outputs,\nwhose empty fields are readings that "
     "were "
     "not taken",
     false},
    {"output-column", 0, "COLUMN",
     "rows are single readings of several outputs, and this column\nsays of which", false},
    {"features", 'f', "A,B,...", "input columns (default: all numeric ones but target, noise and mean)",
     true},
    {"drop", 0, "A,B,...", "columns to leave out of the default inputs", true},
    {"noise-column", 0, "COLUMN", "column with the known noise variance of each reading", false},
    {"mean-column", 0, "COLUMN",
     "column with the prior mean of each row: what is fitted is the target\nless it, and predictions add "
     "it, so that these rows need it too",
     false},
    {"preset", 0, "NAME",
     "default: suspects found and set aside; gp: plain Gaussian process;\n"
     "rcgp, rcagp, rcsvgp: robust (exact, projected, inducing);\n"
     "rcagp-text, rcagp-program: as that paper prints it and as its\nprogram runs it;\n"
     "cagp, sgpr, svgp: projected, inducing, inducing by minibatches;\n"
     "student-t; rrp: relevance pursuit; for several outputs mogp: plain,\nmorcgp: robust by what the others "
     "say, t-mogp: student-t with one\nnoise, independent: the default without covariance between them;\n"
     "probit, logit, softmax: as --sites",
     false},
    {"kernel", 'k', "EXPR",
     "covariance function (default \"matern52(ard)\"), such as\n\"matern52(ard) + periodic(x3, "
     "period=12)\"; auto: of four, the one that\npredicts the target best",
     false},
    {"mean", 'm', "KIND", "prior mean: zero, constant (default), median, linear", false},
    {"transform", 0, "KIND",
     "of a skewed target: none (default), sqrt (0 or more), log (positive):\nwhat is modelled of it; auto: "
     "the one that predicts it best",
     false},
    {"sites", 0, "KIND",
     "gaussian; robust: smooth weights that fall with the residual;\nstudent-t; pursuit: a few readings with "
     "a variance of their own.\nThe target is labels: probit or "
     "logit, of two classes; softmax, of\nany number",
     false},
    {"inference", 0, "NAME",
     "probit and logit sites: ep (default), expectation propagation;\nlaplace, quicker and less exact. "
     "softmax sites: corrected\n(default), laplace with a better mean; laplace",
     false},
    {"centre", 0, "RULE",
     "robust sites: residuals are taken from the prior mean (prior),\nthe leave-one-out mean (loo), near "
     "readings (neighbours) or what\nthe other outputs say (conditional)",
     false},
    {"eps", 0, "SHARE",
     "robust sites: expected share of outliers; sets the threshold\nto that quantile of the residuals "
     "(default 0.1; 0: none are\nexpected, the threshold is the largest residual); centre\nconditional: also "
     "one share for each output, separated by commas",
     false},
    {"weighting", 0, "KIND",
     "centre conditional: a weight for each reading (reading, default),\nfor each row (joint) or for each "
     "output as a whole (channel)",
     false},
    {"coregion-rank", 0, "R",
     "several outputs: rank of the covariance between them (default:\nfull up to 8 outputs, then 3)", false},
    {"shared-noise", 0, NULL, "several outputs: one noise for all, in standardised units", false},
    {"threshold", 0, "C", "robust sites: soft threshold in units of the target", false},
    {"beta", 0, "B",
     "robust sites: amplitude of the weights in units of the target, of\nseveral outputs in those of each; "
     "or one for each, separated by commas\n(default: so that plain readings are Gaussian ones)",
     false},
    {"scaled-beta", 0, NULL, "robust sites: --beta counts in scales of the standardised targets", false},
    {"student-method", 0, "NAME", "student-t sites: variational (default), ep, laplace", false},
    {"nu", 0, "NU", "student-t sites: degrees of freedom, more than 1 (default: trained)", false},
    {"suspects", 0, "WHEN",
     "auto: set readings aside where that clearly pays (default);\nforce: set aside what was found; off",
     false},
    {"solver", 0, "NAME",
     "exact; inducing: through M inputs; projected: on I combinations\nof readings; auto: by the number of "
     "readings (default)",
     false},
    {"inducing", 0, "M", "inducing inputs (default: by the number of readings)", false},
    {"inducing-method", 0, "NAME", "vfe (default), fitc, dtc", false},
    {"inducing-choice", 0, "NAME", "where they are placed: greedy (default), kmeans, mdpp, first", false},
    {"train-inducing", 0, NULL, "train the inducing inputs with the hyperparameters", false},
    {"minibatch", 0, "B", "inducing solver: train by Adam on B rows a step", false},
    {"stream", 0, NULL,
     "by minibatches from a table that need not fit in memory, through\na cache of its numbers", false},
    {"cache", 0, "FILE", "where the cache of --stream goes (default: TRAIN.csv.hfcache)", TOOL_WRITES},
    {"actions", 0, "I",
     "projected solver: blocks, or Krylov steps at most\n(default: by the number of readings)", false},
    {"action-kind", 0, "NAME",
     "krylov (default): what conjugate gradients visit; inducing:\nfrom inducing inputs; blocks: one entry a "
     "reading, trained; given:\nthose of --actions-file",
     false},
    {"actions-file", 0, "FILE.csv",
     "given actions: a column for each, a row for each of TRAIN.csv,\nafter a line of names", TOOL_READS},
    {"tolerance", 0, "T",
     "krylov actions: stop when the share T of the readings is left\nunexplained (default 0.01; 0: never)",
     false},
    {"blocks", 0, "RULE", "block actions: contiguous (default), clustered by the inputs", false},
    {"action-start", 0, "RULE",
     "block actions: entries to start from: random (default), targets,\neigen, precision", false},
    {"fixed-actions", 0, NULL, "block actions: entries are not trained", false},
    {"single-precision", 0, NULL, "projected solver: covariances in single precision, sums in double", false},
    {"objective", 0, "NAME",
     "what training maximises: evidence (default), loo, wloo;\nnot exact: weighted, rcagp", false},
    {"standardise", 0, "on|off", "scale inputs and target inside (default on)", false},
    {"unit-inputs", 0, NULL,
     "use inputs as they are; lengthscales start, and end, where those of\ninputs within 0 and 1 do", false},
    {"lengthscale-prior", 0, "NAME",
     "weak (default); dimension: longer with the number of inputs, as\nsearches in many inputs want", false},
    {"set", 0, "NAME=VALUE",
     "hold a hyperparameter: noise, mean, outputscale,\nlengthscale, lengthscale[0], threshold, ...; of "
     "several outputs\nnoise[0], mean[0], coregionalisation[1,0], ...",
     true},
    {"noise-start", 0, "V", "noise variance that training starts from", false},
    {"common-start", 0, "V",
     "lengthscales, outputscales and noise start from V, in units of\nstandardised inputs and target", false},
    {"max-noise", 0, "V", "upper bound on the trained noise variance (of every output)", false},
    {"no-train", 0, NULL, "keep hyperparameters at their set or starting values", false},
    {"restarts", 0, "K", "additional random starts of the training (default 0)", false},
    {"iterations", 0, "K", "length of a training (default 60)", false},
    {"optimiser", 0, "NAME", "lbfgs (default), adam", false},
    {"learning-rate", 0, "R", "step of adam (default 0.01)", false},
    {"checkpoint", 0, "FILE", "keep every step of training in FILE, so that a stopped fit can go on",
     TOOL_WRITES},
    {"resume", 0, NULL,
     "go on from the checkpoint, if it is there: the same model as\nwithout the interruption (default "
     "checkpoint: MODEL.hf.checkpoint)",
     false},
    {"dry-run", 'n', NULL, "say what the fit needs and do not fit", false},
    {"output", 'o', "MODEL.hf", "save the model", TOOL_WRITES},
};

static size_t derive(const tool_arguments *arguments, char *out[TOOL_DERIVED])
{
    const char *table = arguments->operand[0];
    size_t count = 0;
    if (has_argument(arguments, "stream") && argument(arguments, "cache") == NULL)
        out[count++] = with_ending(table, strlen(table), ".hfcache");
    if (has_argument(arguments, "resume") && argument(arguments, "checkpoint") == NULL &&
        argument(arguments, "output") != NULL)
        out[count++] = fit_checkpoint(arguments);
    return count;
}

const tool_verb verb_fit = {
    .name = "fit",
    .operands = "TRAIN.csv --target A,B,... [OPTION]...",
    .summary = "Fit a model to a table",
    .text =
        "Without further options: a Gaussian process with automatic relevance determination, whose wrong\n"
        "readings are found and set aside when that clearly predicts the others better, and which is the\n"
        "plain Gaussian process otherwise. TRAIN.csv may be - for standard input, but not with --stream.\n"
        "The report tells how well each reading is predicted from the others (leave-one-out), beside the\n"
        "plain Gaussian process where readings were set aside and the mean of the others, all on the same\n"
        "readings; and which share of what is predicted each input takes part in.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .derives = derive,
    .run = fit_run,
};
