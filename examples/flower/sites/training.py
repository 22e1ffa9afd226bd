"""The data of a site, and the network that it trains: scikit-learn's digits and MLPClassifier."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

SITES = 5
PARTS = (0.4, 0.25, 0.15, 0.12, 0.08)  # of the images, by site
SKEW = 0.5  # concentration of the classes of a site: smaller values give more different sites
CLASSES = np.arange(10)
HIDDEN = 32  # units

# rate and alpha are the defaults of MLPClassifier. Its batches of 200 images would be all that a small site has.
DEFAULTS = {"rate": 0.001, "alpha": 0.0001, "batch": 32, "epochs": 5}

Weights = list[np.ndarray]


@dataclass
class Site:
    """The images and labels of a site: to train on, to choose settings by, and to report errors on."""

    train: tuple[np.ndarray, np.ndarray]
    valid: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def load(site: int, seed: int) -> Site:
    """Return the data of a site in the split of a seed. Sites have disjoint images and other frequencies of classes."""
    if not 0 <= site < SITES:
        raise ValueError(f"site {site}: expected 0 to {SITES - 1}")
    digits = load_digits()
    images, labels = digits.data / 16, digits.target
    random = np.random.default_rng(seed)
    # Each image goes to a site that is drawn by the size of the sites and their share of its class.
    shares = np.array(PARTS)[:, None] * random.dirichlet(np.full(len(CLASSES), SKEW), SITES) + 0.002
    shares /= shares.sum(axis=0)
    owner = np.array([random.choice(SITES, p=shares[:, label]) for label in labels])
    own = random.permutation(len(labels))
    own = own[owner[own] == site]
    first, second = len(own) // 2, len(own) * 3 // 4
    parts = own[:first], own[first:second], own[second:]
    return Site(*((images[part], labels[part]) for part in parts))


def initial(seed: int) -> Weights:
    """Return the weights of a network that has not learned anything."""
    return weights(_network(DEFAULTS, seed, None))


def train(site: Site, start: Weights, seed: int, **settings: float) -> Weights:
    """Return the weights after some epochs on the site's training images, from given weights on."""
    settings = DEFAULTS | settings
    network = _network(settings, seed, start)
    images, labels = site.train
    network.batch_size = min(network.batch_size, len(labels))
    for _ in range(int(settings["epochs"])):
        network.partial_fit(images, labels)
    return weights(network)


def measure(model: Weights, part: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """Return the mean log loss and the error of a model on images."""
    images, labels = part
    probabilities = _network(DEFAULTS, 0, model).predict_proba(images)
    losses = -np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-6))
    return {"loss": float(losses.mean()), "error": float(np.mean(probabilities.argmax(axis=1) != labels))}


def weights(network: MLPClassifier) -> Weights:
    """Return the matrices and intercepts of a network, by layer."""
    return [array.copy() for layer in zip(network.coefs_, network.intercepts_) for array in layer]


def _network(settings: dict[str, float], seed: int, start: Weights | None) -> MLPClassifier:
    network = MLPClassifier(
        (HIDDEN,), learning_rate_init=settings["rate"], alpha=settings["alpha"], batch_size=1, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.partial_fit(np.zeros((1, 64)), [0], classes=CLASSES)  # makes the layers
    network.batch_size = int(settings["batch"])
    if start is not None:
        network.coefs_, network.intercepts_ = [a.copy() for a in start[::2]], [a.copy() for a in start[1::2]]
    del network._optimizer  # private, so that Adam's moments of the row above are not those of the first step
    return network
