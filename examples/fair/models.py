"""The classifiers and their hyperparameters.

rf, xgb, nn and linear have the search spaces of Perrone et al., Fair Bayesian Optimization,
AIES 2021, appendix A.1. The others lessen unfairness by themselves, as fairlearn,
imbalanced-learn and scikit-lego have it; reductions, grid and adversarial need the limit on dsp.
"""

import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier


def float_(name, low, high, log=False):
    return f"{{name: {name}, type: float, low: {low}, high: {high}{', scale: log' if log else ''}}}"


def int_(name, low, high, log=False):
    return f"{{name: {name}, type: int, low: {low}, high: {high}{', scale: log' if log else ''}}}"


def one_of(name, *choices):
    return f"{{name: {name}, type: categorical, choices: [{', '.join(choices)}]}}"


LINEAR = [
    int_("max_iter", 1, 128),
    one_of("penalty", "l1", "l2", "elasticnet"),
    float_("l1_ratio", 0, 1),
    float_("alpha", 0.001, 1000, log=True),
    float_("eta0", 0.0001, 0.1, log=True),
    one_of("learning_rate", "constant", "optimal", "invscaling", "adaptive"),
]

# Parameters of each model, as lines of a task file.
SPACES = {
    "rf": [
        int_("n_estimators", 1, 64, log=True),
        float_("min_samples_split", 0.01, 0.5, log=True),
        int_("max_depth", 1, 5),
        one_of("criterion", "gini", "entropy"),
    ],
    "xgb": [
        int_("n_estimators", 1, 256, log=True),
        float_("learning_rate", 0.01, 1, log=True),
        float_("gamma", 0, 0.1),
        float_("reg_alpha", 0.001, 1000, log=True),
        float_("reg_lambda", 0.001, 1000, log=True),
        float_("subsample", 0.01, 1),
        int_("max_depth", 1, 16),
    ],
    "nn": [
        int_("layers", 1, 4),
        *(int_(f"size{i}", 2, 32, log=True) for i in range(1, 5)),
        one_of("activation", "logistic", "tanh", "relu"),
        float_("tol", 0.00001, 0.01, log=True),
        float_("alpha", 0.000001, 0.1, log=True),
        float_("learning_rate_init", 0.000001, 0.01, log=True),
        float_("beta_1", 0.001, 0.99, log=True),
        float_("beta_2", 0.001, 0.99, log=True),
    ],
    "linear": LINEAR,
    "smote": [*LINEAR, float_("ratio", 0.3, 1), int_("k_neighbors", 1, 20)],
    "reductions": [float_("C", 0.001, 10, log=True), float_("difference_bound", 0, 1)],
    "grid": [float_("C", 0.001, 10, log=True), float_("constraint_weight", 0, 1), float_("grid_limit", 0.1, 10, log=True)],
    "zafar": [float_("C", 0.1, 1000, log=True), float_("covariance_threshold", 0, 1)],
    "adversarial": [
        float_("alpha", 0, 1),
        int_("epochs", 1, 500, log=True),
        int_("batch_size", 32, 256, log=True),
        int_("hidden", 20, 5000, log=True),
    ],
}

# The hyperparameter of each model that matters most for unfairness in the paper's figure 5. The
# model with -frozen in its name has the library's default for it, as in figure 6.
FROZEN = {"rf": "max_depth", "xgb": "reg_alpha", "nn": "learning_rate_init", "linear": "alpha"}
SPACES |= {f"{model}-frozen": [line for line in SPACES[model] if not line.startswith(f"{{name: {name},")]
           for model, name in FROZEN.items()}

# Models that lessen unfairness by themselves, as they are without tuning; limit is the one on dsp.
UNTUNED = {
    "smote": lambda limit: {"max_iter": 1000, "penalty": "l2", "l1_ratio": 0.15, "alpha": 0.0001, "eta0": 0.01,
                            "learning_rate": "optimal", "ratio": 1, "k_neighbors": 5},
    # fairlearn bounds how far a group's rate is from that of all, so that two groups' may
    # differ by twice the bound.
    "reductions": lambda limit: {"C": 1, "difference_bound": limit / 2},
    "zafar": lambda limit: {"C": 1, "covariance_threshold": 0.01},
    "grid": lambda limit: {"C": 1, "constraint_weight": 0.5, "grid_limit": 2},
    "adversarial": lambda limit: {"alpha": 1, "epochs": 1, "batch_size": 32, "hidden": 64},
}


def predict(model, split, seed, parameters):
    """Train on the training rows, and return predictions of 0 and 1 for those of validation."""
    with warnings.catch_warnings():
        # Spaces hold settings that are cut short on purpose, such as one iteration.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(PREDICT[model](split, seed, **parameters)).astype(int)


def fitted(classifier, split):
    return classifier.fit(split.train, split.train_labels).predict(split.valid)


def rf(split, seed, **parameters):
    return fitted(RandomForestClassifier(random_state=seed, **parameters), split)


def xgb(split, seed, **parameters):
    from xgboost import XGBClassifier

    return fitted(XGBClassifier(random_state=seed, n_jobs=1, **parameters), split)


def nn(split, seed, layers, size1, size2, size3, size4, **parameters):
    sizes = (size1, size2, size3, size4)[:layers]
    return fitted(MLPClassifier(hidden_layer_sizes=sizes, random_state=seed, **parameters), split)


def sgd(seed, parameters):
    return SGDClassifier(loss="log_loss", random_state=seed, **parameters)


def linear(split, seed, **parameters):
    return fitted(sgd(seed, parameters), split)


def smote(split, seed, ratio, k_neighbors, **parameters):
    """Oversample the rarer label, and learn without the sensitive feature.

    ratio is that of the rarer label's rows to the others'; where they have it already
    nothing is added.
    """
    from imblearn.over_sampling import SMOTE

    train, labels = split.train[:, split.blind], split.train_labels
    counts = np.bincount(labels, minlength=2)
    if counts.min() < ratio * counts.max():
        train, labels = SMOTE(sampling_strategy=ratio, k_neighbors=k_neighbors, random_state=seed).fit_resample(train, labels)
    return sgd(seed, parameters).fit(train, labels).predict(split.valid[:, split.blind])


def logistic(C):
    return LogisticRegression(C=C, solver="liblinear")


def reductions(split, seed, C, difference_bound):
    """Agarwal et al., A Reductions Approach to Fair Classification, ICML 2018: exponentiated gradients."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    classifier = ExponentiatedGradient(logistic(C), DemographicParity(difference_bound=difference_bound), max_iter=20)
    classifier.fit(split.train, split.train_labels, sensitive_features=split.train_groups)
    return classifier.predict(split.valid, random_state=seed)


def grid(split, seed, C, constraint_weight, grid_limit):
    """The same reduction by a grid of ten weights, of which the best trade-off is taken."""
    from fairlearn.reductions import DemographicParity, GridSearch

    classifier = GridSearch(logistic(C), DemographicParity(), constraint_weight=constraint_weight, grid_size=10, grid_limit=grid_limit)
    classifier.fit(split.train, split.train_labels, sensitive_features=split.train_groups)
    return classifier.predict(split.valid)


def zafar(split, seed, C, covariance_threshold):
    """Zafar et al., Fairness Constraints: Mechanisms for Fair Classification, AISTATS 2017, as in scikit-lego.

    The classifier has an L1 penalty of weight 1/C and does not see the sensitive feature. The
    bound is on the covariance of membership in each group with the distance to the boundary.
    """
    from sklego.linear_model import DemographicParityClassifier

    features = split.train[:, split.blind]
    # Two groups have one membership: that in the second is the opposite.
    members = (split.train_groups[:, None] == np.arange(1, split.count)).astype(float)
    columns = list(range(features.shape[1], features.shape[1] + members.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cvxpy about shapes, of scikit-lego about other methods
        classifier = DemographicParityClassifier(covariance_threshold=covariance_threshold, sensitive_cols=columns, C=C,
                                                 train_sensitive_cols=False, max_iter=0)
        classifier.fit(np.hstack([features, members]), split.train_labels)
    valid = split.valid[:, split.blind]
    return classifier.predict(np.hstack([valid, np.zeros((len(valid), members.shape[1]))]))


def adversarial(split, seed, alpha, epochs, batch_size, hidden):
    """Zhang, Lemoine and Mitchell, Mitigating Unwanted Biases with Adversarial Learning, AIES 2018."""
    from fairlearn.adversarial import AdversarialFairnessClassifier

    classifier = AdversarialFairnessClassifier(backend="torch", predictor_model=[hidden, "relu"], adversary_model=[],
                                               alpha=alpha, epochs=epochs, batch_size=batch_size, random_state=seed)
    classifier.fit(split.train, split.train_labels, sensitive_features=split.train_groups)
    return classifier.predict(split.valid)


PREDICT = {"rf": rf, "xgb": xgb, "nn": nn, "linear": linear, "smote": smote, "reductions": reductions,
           "grid": grid, "zafar": zafar, "adversarial": adversarial}
PREDICT |= {f"{model}-frozen": PREDICT[model] for model in FROZEN}
