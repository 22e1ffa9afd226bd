"""Write the fields of LandmineData.mat as one CSV: field, f1 to f9, label."""

import csv
import sys

try:
    from scipy.io import loadmat
except ImportError as error:
    sys.exit(f"convert.py: scipy is missing ({error}); install it with: "
             f"{sys.executable} -m pip install -r requirements.txt")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: convert.py LandmineData.mat landmine.csv")
    source, target = sys.argv[1:]
    try:
        data = loadmat(source)
        fields = list(zip(data["feature"].ravel(), data["label"].ravel(), strict=True))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"convert.py: {source} is not the data file: {error}")
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["field", *(f"f{i}" for i in range(1, 10)), "label"])
        for number, (features, labels) in enumerate(fields):
            for row, label in zip(features.tolist(), labels.ravel().tolist(), strict=True):
                writer.writerow([number, *row, int(label)])
    print(f"{target}: {len(fields)} fields, {sum(len(features) for features, _ in fields)} rows")


if __name__ == "__main__":
    main()
