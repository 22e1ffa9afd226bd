"""Trainings and their measures.

Each training takes a design (a dict of the task's parameters) and a member. It returns the
probabilities of the classes for the member's validation rows, or scores for the measure auc.
The seed is the member's, the same for all designs, as in a search by hand.
"""

import warnings

import numpy as np

FLOOR = 0.001  # no probability counts as less: a row's log loss is at most 6.9


def log_loss(probabilities, labels):
    """Return the mean log loss over validation rows and its standard error.

    A mean above one and a half times the loss of guessing, the logarithm of the number of
    classes, counts as that, so that a training that diverged does not decide the scale.
    """
    classes = probabilities.shape[1]
    rows = np.nan_to_num(probabilities[np.arange(len(labels)), labels], nan=0)
    losses = -np.log(np.clip(rows, FLOOR, 1))
    return min(losses.mean(), 1.5 * np.log(classes)), losses.std(ddof=1) / np.sqrt(len(losses))


def auc(scores, labels):
    """Return the area under the ROC curve and its standard error.

    Source: DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), by their structural components.
    """
    positive, negative = scores[labels == 1], scores[labels == 0]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    of_positive, of_negative = wins.mean(axis=1), wins.mean(axis=0)
    variance = of_positive.var(ddof=1) / len(positive) + of_negative.var(ddof=1) / len(negative)
    return wins.mean(), np.sqrt(variance)


def svm(design, member):
    from sklearn.svm import SVC
    model = SVC(C=design["C"], gamma=design["gamma"], cache_size=500)
    return model.fit(member.train_x, member.train_y).decision_function(member.valid_x)


def kernels(design, member):
    """Train a support vector machine. Where the solver gets nowhere it stops after 100,000 steps."""
    from sklearn.svm import SVC
    model = SVC(C=design["C"], gamma=design["gamma"], kernel=design["kernel"], coef0=design["coef0"], cache_size=500, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a training that has not converged is measured all the same
        model.fit(member.train_x, member.train_y)
    return model.decision_function(member.valid_x)


def squares(x):
    """Return x with all squares and products of two."""
    first, second = np.triu_indices(x.shape[1])
    return np.hstack([x, x[:, first] * x[:, second]])


def sgd(design, member):
    """Train a logistic regression on inputs, squares and products by stochastic gradients.

    The rate stays as it is. Beside the mean log loss, the squared norm of the weights costs l2 / 2.
    """
    x, valid = squares(member.train_x), squares(member.valid_x)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1)
    x, valid = ((part - mean) / deviation / np.sqrt(x.shape[1]) for part in (x, valid))
    y = member.train_y.astype(float)
    weights, bias = np.zeros(x.shape[1]), 0.0
    rate, batch, keep = design["rate"], design["batch"], 1 - min(design["rate"] * design["l2"], 1)
    random = np.random.default_rng(member.seed)
    for _ in range(design.get("epochs", 20)):
        order = random.permutation(len(y))
        for begin in range(0, len(y), batch):
            rows = order[begin:begin + batch]
            part = x[rows]
            error = (1 / (1 + np.exp(-np.clip(part @ weights + bias, -50, 50))) - y[rows]) / len(rows)
            weights = keep * weights - rate * (error @ part)
            bias -= rate * error.sum()
    yes = 1 / (1 + np.exp(-np.clip(valid @ weights + bias, -50, 50)))
    return np.column_stack([1 - yes, yes])


def random_forest(design, member):
    from sklearn.ensemble import RandomForestClassifier
    model = RandomForestClassifier(
        n_estimators=50, max_features=design["max_features"], min_samples_leaf=design["min_leaf"],
        max_depth=design["max_depth"], criterion=design["criterion"], random_state=member.seed)
    return model.fit(member.train_x, member.train_y).predict_proba(member.valid_x)


def extra_trees(design, member):
    from sklearn.ensemble import ExtraTreesClassifier
    model = ExtraTreesClassifier(
        n_estimators=50, max_features=design["max_features"], min_samples_leaf=design["min_leaf"],
        max_depth=design["max_depth"], criterion=design["criterion"], bootstrap=design["bootstrap"],
        random_state=member.seed)
    return model.fit(member.train_x, member.train_y).predict_proba(member.valid_x)


def histogram_boosting(design, member):
    from sklearn.ensemble import HistGradientBoostingClassifier
    model = HistGradientBoostingClassifier(
        learning_rate=design["learning_rate"], max_iter=design["rounds"], max_leaf_nodes=design["max_leaves"],
        min_samples_leaf=design["min_leaf"], l2_regularization=design["l2"], max_features=design["max_features"],
        early_stopping=False, random_state=member.seed)
    return model.fit(member.train_x, member.train_y).predict_proba(member.valid_x)


def xgboost(design, member):
    from xgboost import XGBClassifier
    model = XGBClassifier(
        learning_rate=design["learning_rate"], n_estimators=design["rounds"], max_depth=design["max_depth"],
        min_child_weight=design["min_child_weight"], subsample=design["subsample"], colsample_bytree=design["columns"],
        tree_method="hist", n_jobs=1, random_state=member.seed)
    return model.fit(member.train_x, member.train_y).predict_proba(member.valid_x)


def network(design, member):
    from sklearn.neural_network import MLPClassifier
    model = MLPClassifier(
        hidden_layer_sizes=(design["width"],) * design.get("layers", 1), activation=design["activation"],
        solver=design.get("solver", "adam"), learning_rate_init=design["rate"], alpha=design["l2"],
        batch_size=min(design["batch"], len(member.train_y)), max_iter=25, n_iter_no_change=25,
        random_state=member.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 25 epochs are what is measured, converged or not
        try:
            model.fit(member.train_x, member.train_y)
        except ValueError as problem:
            if "non-finite" not in str(problem).lower():
                raise
            return np.full((len(member.valid_y), member.train_y.max() + 1), np.nan)
        return model.predict_proba(member.valid_x)
