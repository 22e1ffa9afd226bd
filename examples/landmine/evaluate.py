"""Train a support vector machine on one field's radar data; print its AUC.

The classifier has a radial kernel and sees the features as they are. It is
trained on the field's train half; the AUC is that of its decision values on the
test half. The halves are those of the CSV's column "split". A CSV without that
column is halved here, at random with seed 0 and the same share of mines in both;
with the rows in the order of the published file, that is the paper's split.
"""

import argparse
import csv
import math
import sys

try:
    import numpy as np
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC
except ImportError as error:
    sys.exit(f"evaluate.py: scikit-learn is missing ({error}); install it with: "
             f"{sys.executable} -m pip install -r requirements.txt")

FEATURES = [f"f{i}" for i in range(1, 10)]
SPLIT_SEED = 0


class DataError(Exception):
    """The data cannot be used, for a reason that the user can mend."""


def read_field(path, field):
    """Return features, labels and halves ("train", "test" or None) of a field."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return parse_field(csv.DictReader(file), path, field)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def parse_field(reader, path, field):
    columns = reader.fieldnames or []
    missing = [name for name in ["field", *FEATURES, "label"] if name not in columns]
    if missing:
        raise DataError(f"{path} has no column {', '.join(missing)}; "
                        "needed are field, f1 to f9 and label, and split if there is one")
    features, labels, halves, fields = [], [], [], set()
    for row in reader:
        try:
            number = int(row["field"])
            fields.add(number)
            if number != field:
                continue
            features.append([finite(row[name]) for name in FEATURES])
            labels.append({0.0: 0, 1.0: 1}[float(row["label"])])
            halves.append({"train": "train", "test": "test", None: None}[row.get("split")])
        except (TypeError, ValueError, KeyError) as error:
            raise DataError(f"{path}, line {reader.line_num}: {error} is not accepted; "
                            "numbers, a label of 0 or 1 and a split of train or test are") from error
    if not features:
        there = f"it has {min(fields)} to {max(fields)}" if fields else "it has no rows"
        raise DataError(f"{path} has no field {field}; {there}")
    return np.array(features), np.array(labels), halves


def finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(repr(text))
    return number


def halve(features, labels, halves):
    """Return train features, test features, train labels, test labels."""
    if halves[0] is None:
        if np.bincount(labels, minlength=2).min() < 2:
            raise DataError("the field needs two mines and two other rows at least, to be halved")
        return train_test_split(features, labels, test_size=0.5, stratify=labels, random_state=SPLIT_SEED)
    train = np.array([half == "train" for half in halves])
    for half, rows in (("train", train), ("test", ~train)):
        if len(set(labels[rows])) < 2:
            raise DataError(f"the field's {half} half must hold both mines and other rows")
    return features[train], features[~train], labels[train], labels[~train]


def auc(features, labels, halves, penalty, gamma):
    x_train, x_test, y_train, y_test = halve(features, labels, halves)
    machine = SVC(kernel="rbf", C=penalty, gamma=gamma).fit(x_train, y_train)
    # Not predict_proba: its inner calibration can turn the order of so few mines round.
    return float(roc_auc_score(y_test, machine.decision_function(x_test)))


def positive(text):
    try:
        number = finite(text)
    except ValueError:
        number = 0.0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def main():
    parser = argparse.ArgumentParser(description="Print the AUC of a support vector machine on one field's test half.")
    parser.add_argument("--csv", required=True, metavar="FILE", help="columns field, f1 to f9, label, and split if there is one")
    parser.add_argument("--field", type=int, default=0, metavar="N", help="which field (default 0)")
    parser.add_argument("--C", type=positive, required=True, help="weight of training errors")
    parser.add_argument("--gamma", type=positive, required=True, help="inverse squared width of the kernel")
    args = parser.parse_args()
    try:
        print(auc(*read_field(args.csv, args.field), args.C, args.gamma))
    except DataError as error:
        sys.exit(f"evaluate.py: {error}")


if __name__ == "__main__":
    main()
