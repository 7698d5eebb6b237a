# SPDX-License-Identifier: Apache-2.0
# Made by bindings/python/generate.py: change that, or what it reads.
"""Keyword arguments of the estimators: a row of the settings table each."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence


class RegressorSettings:
    SETTINGS = {
        'kernel': 'kernel', 'mean': 'mean', 'sites': 'sites', 'suspects': 'suspects', 'groups': 'groups',
        'calibrate': 'calibrate', 'centre': 'centre', 'threshold_rule': 'threshold_rule', 'eps': 'eps',
        'threshold': 'threshold', 'rounds': 'rounds', 'consistent_noise': 'consistent_noise', 'train':
        'train', 'objective': 'objective', 'priors': 'priors', 'train_mean': 'train_mean', 'restarts':
        'restarts', 'iterations': 'iterations', 'standardise': 'standardise', 'solver': 'solver', 'inducing':
        'inducing', 'inducing_method': 'inducing_method', 'inducing_choice': 'inducing_choice',
        'train_inducing': 'train_inducing', 'actions': 'actions', 'action_kind': 'action_kind', 'blocks':
        'blocks', 'action_start': 'action_start', 'train_actions': 'train_actions', 'tolerance': 'tolerance',
        'single_precision': 'single_precision', 'optimiser': 'optimiser', 'learning_rate': 'learning_rate',
        'minibatch': 'minibatch', 'beta': 'beta', 'scaled_beta': 'scaled_beta', 'student_nu': 'student_nu',
        'max_noise': 'max_noise', 'coregion_rank': 'coregion_rank', 'shared_noise': 'shared_noise',
        'independent': 'independent', 'weighting': 'weighting', 'inference': 'inference', 'target_transform':
        'transform', 'lengthscale_prior': 'lengthscale_prior', 'unit_inputs': 'unit_inputs', 'noise_start':
        'noise_start', 'common_start': 'common_start', 'warm': 'warm'}

    def __init__(self, *, preset: Optional[str] = 'default',
                 kernel: Optional[str] = None,
                 mean: Optional[str] = None,
                 sites: Optional[str] = None,
                 suspects: Optional[str] = None,
                 groups: Optional[bool] = None,
                 calibrate: Optional[bool] = None,
                 centre: Optional[str] = None,
                 threshold_rule: Optional[str] = None,
                 eps: Optional[float] = None,
                 threshold: Optional[float] = None,
                 rounds: Optional[int] = None,
                 consistent_noise: Optional[bool] = None,
                 train: Optional[bool] = None,
                 objective: Optional[str] = None,
                 priors: Optional[bool] = None,
                 train_mean: Optional[bool] = None,
                 restarts: Optional[int] = None,
                 iterations: Optional[int] = None,
                 standardise: Optional[bool] = None,
                 solver: Optional[str] = None,
                 inducing: Optional[int] = None,
                 inducing_method: Optional[str] = None,
                 inducing_choice: Optional[str] = None,
                 train_inducing: Optional[bool] = None,
                 actions: Optional[int] = None,
                 action_kind: Optional[str] = None,
                 blocks: Optional[str] = None,
                 action_start: Optional[str] = None,
                 train_actions: Optional[bool] = None,
                 tolerance: Optional[float] = None,
                 single_precision: Optional[bool] = None,
                 optimiser: Optional[str] = None,
                 learning_rate: Optional[float] = None,
                 minibatch: Optional[int] = None,
                 beta: Optional[float] = None,
                 scaled_beta: Optional[bool] = None,
                 student_nu: Optional[float] = None,
                 max_noise: Optional[float] = None,
                 coregion_rank: Optional[int] = None,
                 shared_noise: Optional[bool] = None,
                 independent: Optional[bool] = None,
                 weighting: Optional[str] = None,
                 inference: Optional[str] = None,
                 target_transform: Optional[str] = None,
                 lengthscale_prior: Optional[str] = None,
                 unit_inputs: Optional[bool] = None,
                 noise_start: Optional[float] = None,
                 common_start: Optional[float] = None,
                 warm: Optional[bool] = None,
                 hold: Optional[Mapping[str, float]] = None,
                 start: Optional[Mapping[str, float]] = None,
                 output_eps: Optional[Sequence[float]] = None,
                 output_beta: Optional[Sequence[float]] = None,
                 inducing_inputs: Any = None,
                 random_state: Optional[int] = None,
                 threads: Optional[int] = None,
                 progress: Any = None) -> None:
        self.preset = preset
        self.kernel = kernel
        self.mean = mean
        self.sites = sites
        self.suspects = suspects
        self.groups = groups
        self.calibrate = calibrate
        self.centre = centre
        self.threshold_rule = threshold_rule
        self.eps = eps
        self.threshold = threshold
        self.rounds = rounds
        self.consistent_noise = consistent_noise
        self.train = train
        self.objective = objective
        self.priors = priors
        self.train_mean = train_mean
        self.restarts = restarts
        self.iterations = iterations
        self.standardise = standardise
        self.solver = solver
        self.inducing = inducing
        self.inducing_method = inducing_method
        self.inducing_choice = inducing_choice
        self.train_inducing = train_inducing
        self.actions = actions
        self.action_kind = action_kind
        self.blocks = blocks
        self.action_start = action_start
        self.train_actions = train_actions
        self.tolerance = tolerance
        self.single_precision = single_precision
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.minibatch = minibatch
        self.beta = beta
        self.scaled_beta = scaled_beta
        self.student_nu = student_nu
        self.max_noise = max_noise
        self.coregion_rank = coregion_rank
        self.shared_noise = shared_noise
        self.independent = independent
        self.weighting = weighting
        self.inference = inference
        self.target_transform = target_transform
        self.lengthscale_prior = lengthscale_prior
        self.unit_inputs = unit_inputs
        self.noise_start = noise_start
        self.common_start = common_start
        self.warm = warm
        self.hold = hold
        self.start = start
        self.output_eps = output_eps
        self.output_beta = output_beta
        self.inducing_inputs = inducing_inputs
        self.random_state = random_state
        self.threads = threads
        self.progress = progress


REGRESSOR_HELP = """\
    kernel : str, optional
        Covariance function (default "matern52(ard)"), such as "matern52(ard) + periodic(x3, period=12)";
        auto: of four, the one that predicts the target best.
    mean : str, optional
        Prior mean: zero, constant (default), median, linear.
    sites : str, optional
        gaussian; robust: smooth weights that fall with the residual; student-t: readings with heavy-tailed
        noise; pursuit: a few readings with a variance of their own; probit: labels of two classes; logit:
        labels of two classes, with the logistic function; softmax: labels of any number of classes;
        poisson: counts of variance mu; negative-binomial: counts of variance mu + dispersion mu^2; gamma:
        positive amounts of variance dispersion mu^2.
    suspects : str, optional
        auto: set readings aside where that clearly pays (default); force: set aside what was found; off.
    groups : bool, optional
        The suspect finder also tests tight clusters of rows as a whole (default on).
    calibrate : bool, optional
        Intervals are widened by a factor from leave-one-out residuals (default on).
    centre : str, optional
        Robust sites: residuals are taken from the prior mean (prior), the leave-one-out mean (loo), near
        readings (neighbours) or what the other outputs say (conditional).
    threshold_rule : str, optional
        Robust sites: how the soft threshold follows from the residuals: quantile, mad (default), given.
    eps : float, optional
        Robust sites: expected share of outliers; sets the threshold to that quantile of the residuals
        (default 0.1; 0: none are expected, the threshold is the largest residual); centre conditional: also
        one share for each output, separated by commas; unit: share.
    threshold : float, optional
        Robust sites: soft threshold in units of the target; unit: target.
    rounds : int, optional
        Robust sites: re-weightings at most (default 8).
    consistent_noise : bool, optional
        Robust sites: the noise is corrected for what the weights take away (default on).
    train : bool, optional
        Train the hyperparameters (default on); else they stay at their held or starting values.
    objective : str, optional
        What training maximises: evidence (default), loo, wloo; not exact: weighted, rcagp.
    priors : bool, optional
        Weak log-normal priors on lengthscales, outputscales and noise (default on).
    train_mean : bool, optional
        Coefficients of the prior mean are trained with the rest (default on).
    restarts : int, optional
        Additional random starts of the training (default 0).
    iterations : int, optional
        Length of a training (default 60).
    standardise : bool, optional
        Scale inputs and target inside (default on).
    solver : str, optional
        exact; inducing: through M inputs; projected: on I combinations of readings; auto: by the number of
        readings (default).
    inducing : int, optional
        Inducing inputs (default: by the number of readings).
    inducing_method : str, optional
        vfe (default), fitc, dtc.
    inducing_choice : str, optional
        Where they are placed: greedy (default), kmeans, mdpp, first.
    train_inducing : bool, optional
        Train the inducing inputs with the hyperparameters.
    actions : int, optional
        Projected solver: blocks, or Krylov steps at most (default: by the number of readings).
    action_kind : str, optional
        krylov (default): what conjugate gradients visit; inducing: from inducing inputs; blocks: one entry
        a reading, trained; given: those of actions-file.
    blocks : str, optional
        Block actions: contiguous (default), clustered by the inputs.
    action_start : str, optional
        Block actions: entries to start from: random (default), targets, eigen, precision.
    train_actions : bool, optional
        Block actions: entries are trained (default on).
    tolerance : float, optional
        Krylov actions: stop when the share T of the readings is left unexplained (default 0.01; 0: never);
        unit: share.
    single_precision : bool, optional
        Projected solver: covariances in single precision, sums in double.
    optimiser : str, optional
        lbfgs (default), adam.
    learning_rate : float, optional
        Step of adam (default 0.01).
    minibatch : int, optional
        Inducing solver: train by Adam on B rows a step.
    beta : float, optional
        Robust sites: amplitude of the weights in units of the target, of several outputs in those of each;
        or one for each, separated by commas (default: so that plain readings are Gaussian ones); unit:
        target.
    scaled_beta : bool, optional
        Robust sites: beta counts in scales of the standardised targets.
    student_nu : float, optional
        Student-t sites: degrees of freedom, more than 1 (default: trained).
    max_noise : float, optional
        Upper bound on the trained noise variance (of every output); unit: target^2.
    coregion_rank : int, optional
        Several outputs: rank of the covariance between them (default: full up to 8 outputs, then 3).
    shared_noise : bool, optional
        Several outputs: one noise for all, in standardised units.
    independent : bool, optional
        Several outputs: no covariance between them, a kernel for each (default off).
    weighting : str, optional
        Centre conditional: a weight for each reading (reading, default), for each row (joint) or for each
        output as a whole (channel).
    inference : str, optional
        Of labels, counts, amounts and student-t noise: ep, expectation propagation; laplace, quicker and
        less exact; variational, a lower bound; of softmax: corrected, laplace with a better mean; laplace.
        auto (default): variational for student-t, corrected for softmax, else ep.
    target_transform : str, optional
        Of a skewed target: none (default), sqrt (0 or more), log (positive): what is modelled of it; auto:
        the one that predicts it best.
    lengthscale_prior : str, optional
        weak (default); dimension: longer with the number of inputs, as searches in many inputs want.
    unit_inputs : bool, optional
        Use inputs as they are; lengthscales start, and end, where those of inputs within 0 and 1 do.
    noise_start : float, optional
        Noise variance that training starts from; unit: target^2.
    common_start : float, optional
        Lengthscales, outputscales and noise start from V, in units of standardised inputs and target.
    warm : bool, optional
        Training starts from `start` and nowhere else (default off).
"""


class ClassifierSettings:
    SETTINGS = {
        'kernel': 'kernel', 'mean': 'mean', 'sites': 'sites', 'train': 'train', 'priors': 'priors',
        'train_mean': 'train_mean', 'restarts': 'restarts', 'iterations': 'iterations', 'standardise':
        'standardise', 'solver': 'solver', 'inducing': 'inducing', 'inducing_method': 'inducing_method',
        'inducing_choice': 'inducing_choice', 'inference': 'inference'}

    def __init__(self, *, preset: Optional[str] = None,
                 kernel: Optional[str] = None,
                 mean: Optional[str] = None,
                 sites: Optional[str] = None,
                 train: Optional[bool] = None,
                 priors: Optional[bool] = None,
                 train_mean: Optional[bool] = None,
                 restarts: Optional[int] = None,
                 iterations: Optional[int] = None,
                 standardise: Optional[bool] = None,
                 solver: Optional[str] = None,
                 inducing: Optional[int] = None,
                 inducing_method: Optional[str] = None,
                 inducing_choice: Optional[str] = None,
                 inference: Optional[str] = None,
                 hold: Optional[Mapping[str, float]] = None,
                 random_state: Optional[int] = None,
                 threads: Optional[int] = None,
                 progress: Any = None) -> None:
        self.preset = preset
        self.kernel = kernel
        self.mean = mean
        self.sites = sites
        self.train = train
        self.priors = priors
        self.train_mean = train_mean
        self.restarts = restarts
        self.iterations = iterations
        self.standardise = standardise
        self.solver = solver
        self.inducing = inducing
        self.inducing_method = inducing_method
        self.inducing_choice = inducing_choice
        self.inference = inference
        self.hold = hold
        self.random_state = random_state
        self.threads = threads
        self.progress = progress


CLASSIFIER_HELP = """\
    kernel : str, optional
        Covariance function (default "matern52(ard)"), such as "matern52(ard) + periodic(x3, period=12)";
        auto: of four, the one that predicts the target best.
    mean : str, optional
        Prior mean: zero, constant (default), median, linear.
    sites : str, optional
        gaussian; robust: smooth weights that fall with the residual; student-t: readings with heavy-tailed
        noise; pursuit: a few readings with a variance of their own; probit: labels of two classes; logit:
        labels of two classes, with the logistic function; softmax: labels of any number of classes;
        poisson: counts of variance mu; negative-binomial: counts of variance mu + dispersion mu^2; gamma:
        positive amounts of variance dispersion mu^2.
    train : bool, optional
        Train the hyperparameters (default on); else they stay at their held or starting values.
    priors : bool, optional
        Weak log-normal priors on lengthscales, outputscales and noise (default on).
    train_mean : bool, optional
        Coefficients of the prior mean are trained with the rest (default on).
    restarts : int, optional
        Additional random starts of the training (default 0).
    iterations : int, optional
        Length of a training (default 60).
    standardise : bool, optional
        Scale inputs and target inside (default on).
    solver : str, optional
        exact; inducing: through M inputs; projected: on I combinations of readings; auto: by the number of
        readings (default).
    inducing : int, optional
        Inducing inputs (default: by the number of readings).
    inducing_method : str, optional
        vfe (default), fitc, dtc.
    inducing_choice : str, optional
        Where they are placed: greedy (default), kmeans, mdpp, first.
    inference : str, optional
        Of labels, counts, amounts and student-t noise: ep, expectation propagation; laplace, quicker and
        less exact; variational, a lower bound; of softmax: corrected, laplace with a better mean; laplace.
        auto (default): variational for student-t, corrected for softmax, else ep.
"""


class CountsSettings:
    SETTINGS = {
        'kernel': 'kernel', 'mean': 'mean', 'sites': 'sites', 'train': 'train', 'objective': 'objective',
        'priors': 'priors', 'train_mean': 'train_mean', 'restarts': 'restarts', 'iterations': 'iterations',
        'standardise': 'standardise', 'solver': 'solver', 'inducing': 'inducing', 'inducing_method':
        'inducing_method', 'inducing_choice': 'inducing_choice', 'max_noise': 'max_noise', 'inference':
        'inference', 'lengthscale_prior': 'lengthscale_prior', 'unit_inputs': 'unit_inputs', 'noise_start':
        'noise_start', 'common_start': 'common_start'}

    def __init__(self, *, preset: Optional[str] = 'poisson',
                 kernel: Optional[str] = None,
                 mean: Optional[str] = None,
                 sites: Optional[str] = None,
                 train: Optional[bool] = None,
                 objective: Optional[str] = None,
                 priors: Optional[bool] = None,
                 train_mean: Optional[bool] = None,
                 restarts: Optional[int] = None,
                 iterations: Optional[int] = None,
                 standardise: Optional[bool] = None,
                 solver: Optional[str] = None,
                 inducing: Optional[int] = None,
                 inducing_method: Optional[str] = None,
                 inducing_choice: Optional[str] = None,
                 max_noise: Optional[float] = None,
                 inference: Optional[str] = None,
                 lengthscale_prior: Optional[str] = None,
                 unit_inputs: Optional[bool] = None,
                 noise_start: Optional[float] = None,
                 common_start: Optional[float] = None,
                 hold: Optional[Mapping[str, float]] = None,
                 start: Optional[Mapping[str, float]] = None,
                 random_state: Optional[int] = None,
                 threads: Optional[int] = None,
                 progress: Any = None) -> None:
        self.preset = preset
        self.kernel = kernel
        self.mean = mean
        self.sites = sites
        self.train = train
        self.objective = objective
        self.priors = priors
        self.train_mean = train_mean
        self.restarts = restarts
        self.iterations = iterations
        self.standardise = standardise
        self.solver = solver
        self.inducing = inducing
        self.inducing_method = inducing_method
        self.inducing_choice = inducing_choice
        self.max_noise = max_noise
        self.inference = inference
        self.lengthscale_prior = lengthscale_prior
        self.unit_inputs = unit_inputs
        self.noise_start = noise_start
        self.common_start = common_start
        self.hold = hold
        self.start = start
        self.random_state = random_state
        self.threads = threads
        self.progress = progress


COUNTS_HELP = """\
    kernel : str, optional
        Covariance function (default "matern52(ard)"), such as "matern52(ard) + periodic(x3, period=12)";
        auto: of four, the one that predicts the target best.
    mean : str, optional
        Prior mean: zero, constant (default), median, linear.
    sites : str, optional
        gaussian; robust: smooth weights that fall with the residual; student-t: readings with heavy-tailed
        noise; pursuit: a few readings with a variance of their own; probit: labels of two classes; logit:
        labels of two classes, with the logistic function; softmax: labels of any number of classes;
        poisson: counts of variance mu; negative-binomial: counts of variance mu + dispersion mu^2; gamma:
        positive amounts of variance dispersion mu^2.
    train : bool, optional
        Train the hyperparameters (default on); else they stay at their held or starting values.
    objective : str, optional
        What training maximises: evidence (default), loo, wloo; not exact: weighted, rcagp.
    priors : bool, optional
        Weak log-normal priors on lengthscales, outputscales and noise (default on).
    train_mean : bool, optional
        Coefficients of the prior mean are trained with the rest (default on).
    restarts : int, optional
        Additional random starts of the training (default 0).
    iterations : int, optional
        Length of a training (default 60).
    standardise : bool, optional
        Scale inputs and target inside (default on).
    solver : str, optional
        exact; inducing: through M inputs; projected: on I combinations of readings; auto: by the number of
        readings (default).
    inducing : int, optional
        Inducing inputs (default: by the number of readings).
    inducing_method : str, optional
        vfe (default), fitc, dtc.
    inducing_choice : str, optional
        Where they are placed: greedy (default), kmeans, mdpp, first.
    max_noise : float, optional
        Upper bound on the trained noise variance (of every output); unit: target^2.
    inference : str, optional
        Of labels, counts, amounts and student-t noise: ep, expectation propagation; laplace, quicker and
        less exact; variational, a lower bound; of softmax: corrected, laplace with a better mean; laplace.
        auto (default): variational for student-t, corrected for softmax, else ep.
    lengthscale_prior : str, optional
        weak (default); dimension: longer with the number of inputs, as searches in many inputs want.
    unit_inputs : bool, optional
        Use inputs as they are; lengthscales start, and end, where those of inputs within 0 and 1 do.
    noise_start : float, optional
        Noise variance that training starts from; unit: target^2.
    common_start : float, optional
        Lengthscales, outputscales and noise start from V, in units of standardised inputs and target.
"""
