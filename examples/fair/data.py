"""The data sets: features, labels and groups, and their halves for training and validation."""

import sys
from dataclasses import dataclass
from pathlib import Path

try:
    import numpy as np
    import pandas as pd
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
except ImportError as error:
    sys.exit(f"data.py: {error.name} is missing ({error}); install it with: "
             f"{sys.executable} -m pip install -r requirements.txt")


class DataError(Exception):
    """The data cannot be used, for a reason that the user can correct."""


@dataclass
class Table:
    """A data set. frame has the features. labels has 0 or 1 and groups a number from 0 on for
    each row. sensitive is the feature that defines the groups."""

    frame: pd.DataFrame
    labels: np.ndarray
    groups: np.ndarray
    names: list
    sensitive: str


@dataclass
class Split:
    """Training and validation rows: numbers are scaled by the training rows, texts become one
    column per value. blind marks the columns that do not come from the sensitive feature."""

    train: np.ndarray
    train_labels: np.ndarray
    train_groups: np.ndarray
    valid: np.ndarray
    valid_labels: np.ndarray
    valid_groups: np.ndarray
    count: int
    blind: np.ndarray


ADULT = ["age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
         "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income"]
COMPAS = ["sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count",
          "days_b_screening_arrest", "c_charge_degree", "is_recid", "score_text", "decile_score", "two_year_recid"]
GERMAN = ["status", "duration", "credit_history", "purpose", "credit_amount", "savings", "present_employment",
          "installment_rate", "status_sex", "other_debtors", "present_residence_since", "property", "age",
          "installment_plans", "housing", "number_of_existing_credits", "job", "number_of_people_liable_for",
          "telephone", "foreign_worker", "credit"]

# Columns that were recorded after the two years (is_recid), or that the program under study
# computed from the answer (the scores). A classifier with is_recid errs in .03 of the cases.
LEAKS = ["is_recid", "decile_score", "score_text"]


def read_adult(folder):
    if (packed := folder / "adult.csv.gz").exists():
        frame = pd.read_csv(packed, keep_default_na=False)
    else:
        frame = pd.concat([pd.read_csv(need(folder, name, "adult.csv.gz, or adult.data and adult.test"), names=ADULT,
                                       skipinitialspace=True, keep_default_na=False, comment="|")
                           for name in ("adult.data", "adult.test")], ignore_index=True)
    labels = frame["income"].str.rstrip(".") == ">50K"
    # fnlwgt is a weight of the census and no property of a person; education duplicates
    # education_num.
    return frame[[name for name in ADULT if name not in ("fnlwgt", "education", "income")]], labels


def read_compas(folder, leaks=False):
    if not (path := folder / "compas.csv.gz").exists():
        path = need(folder, "compas-scores-two-years.csv", "compas.csv.gz or compas-scores-two-years.csv")
    # The published file has a column twice; pandas calls the second one priors_count.1.
    frame = pd.read_csv(path, usecols=COMPAS, keep_default_na=False, na_values={"days_b_screening_arrest": [""]})
    # The filter of ProPublica's analysis.
    frame = frame[(frame["days_b_screening_arrest"].abs() <= 30) & (frame["is_recid"] != -1)
                  & (frame["c_charge_degree"] != "O") & (frame["score_text"] != "N/A")].reset_index(drop=True)
    labels = frame["two_year_recid"] == 1
    left_out = ["days_b_screening_arrest", "two_year_recid", *([] if leaks else LEAKS)]
    return frame[[name for name in COMPAS if name not in left_out]], labels


def read_german(folder):
    frame = pd.read_csv(need(folder, "german.data", "german.data"), sep=" ", names=GERMAN, keep_default_na=False)
    return frame.drop(columns="credit"), frame["credit"] == 1


def need(folder, name, accepted):
    path = folder / name
    if not path.exists():
        raise DataError(f"{folder} has no {name}; expected {accepted}, see README.md")
    return path


READERS = {"adult": read_adult, "compas": read_compas, "german": read_german}

# The attributes that can define groups, by data set, the default first: each has the feature
# that contains it and a function from the feature's value to the group.
SENSITIVE = {
    "adult": {"sex": ("sex", str), "race": ("race", str)},
    "compas": {"white": ("race", lambda race: "white" if race == "Caucasian" else "other"),
               "race": ("race", str), "sex": ("sex", str)},
    "german": {"sex": ("status_sex", lambda status: "female" if status in ("A92", "A95") else "male")},
}


def load(name, folder, sensitive=None, **options):
    """Return a Table. sensitive is an attribute of SENSITIVE, by default the paper's."""
    if name not in READERS:
        raise DataError(f"data {name!r}: expected {', '.join(READERS)}")
    sensitive = sensitive or next(iter(SENSITIVE[name]))
    if sensitive not in SENSITIVE[name]:
        raise DataError(f"sensitive attribute {sensitive!r} of {name}: expected {', '.join(SENSITIVE[name])}")
    frame, labels = READERS[name](Path(folder), **options)
    feature, group = SENSITIVE[name][sensitive]
    groups, names = pd.factorize(frame[feature].map(group), sort=True)
    return Table(frame, labels.to_numpy().astype(int), groups, list(names), feature)


def split(table, seed, rows=0, part=None):
    """Return a Split: 70 % of the rows for training, drawn by the seed, and 30 % for validation.

    rows, unless 0, is how many of the training rows are kept, for models that train slowly.
    part (i, n) is the i-th of n disjoint parts of the table, of which alone the split is made;
    the parts do not depend on the seed.
    """
    everything = np.arange(len(table.labels))
    if part:
        number, count = part
        everything = np.sort(np.random.default_rng(0).permutation(everything)[number::count])
    train, valid = train_test_split(everything, test_size=0.3, random_state=seed)
    if rows:
        train = train[:rows]
    texts = [name for name in table.frame if not pd.api.types.is_numeric_dtype(table.frame[name])]
    numbers = [name for name in table.frame if name not in texts]
    # The values of the whole table, so that a part or a subsample has the same columns.
    encoder = OneHotEncoder(sparse_output=False).fit(table.frame[texts])
    scaler = StandardScaler().fit(table.frame[numbers].iloc[train])

    def encode(chosen):
        part = table.frame.iloc[chosen]
        return np.hstack([scaler.transform(part[numbers]), encoder.transform(part[texts])])

    columns = numbers + [name for name, values in zip(texts, encoder.categories_) for _ in values]
    return Split(encode(train), table.labels[train], table.groups[train],
                 encode(valid), table.labels[valid], table.groups[valid],
                 len(table.names), np.array([name != table.sensitive for name in columns]))
