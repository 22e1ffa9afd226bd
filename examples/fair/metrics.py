"""How differently a classifier treats groups of people.

Three differences of rates, after Perrone et al., Fair Bayesian Optimization, AIES 2021,
section 2.1. Each lies in [0, 1]; 0 is equal treatment.

    dsp  statistical parity: the rate of positive predictions
    deo  equal opportunity: that rate among those whose label is positive
    dfp  false positives: that rate among those whose label is negative

deo and dfp together are equalized odds. With more than two groups a difference is that
between the largest rate and the smallest.
"""

import numpy as np

CRITERIA = ("dsp", "deo", "dfp")


def gap(predictions, groups, count, among):
    """Return the largest difference of the rate of positive predictions between groups.

    predictions, groups and among have an element per person: 0 or 1, a group from 0 to
    count - 1, and whether the person counts. The result is None if no person of a group
    counts, since that group has no rate.
    """
    rates = []
    for group in range(count):
        those = predictions[among & (groups == group)]
        if len(those) == 0:
            return None
        rates.append(np.mean(those))
    return float(max(rates) - min(rates))


def gaps(labels, predictions, groups, count):
    """Return all three differences, by name; None for one that is undefined."""
    everybody = np.ones(len(labels), dtype=bool)
    return {
        "dsp": gap(predictions, groups, count, everybody),
        "deo": gap(predictions, groups, count, labels == 1),
        "dfp": gap(predictions, groups, count, labels == 0),
    }
