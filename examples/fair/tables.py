"""Tables of what compare.py has found."""

import numpy as np

# An evaluation has reached the fair optimum when its error is at most so much above it.
TOLERANCE = 0.002
CHECKPOINTS = (10, 20, 50)


def feasible(trial, limits):
    return all(trial[name] <= limit for name, limit in limits.items())


def best(trials, limits):
    """Return the feasible trial of least error, or None."""
    return min((trial for trial in trials if feasible(trial, limits)), key=lambda trial: trial["value"], default=None)


def interval(statistic, *columns):
    """Return a statistic of arrays with an element per split, and its bootstrap 95 % interval over splits."""
    columns = [np.asarray(column, dtype=float) for column in columns]
    draws = np.random.default_rng(0).integers(len(columns[0]), size=(10000, len(columns[0])))
    values = [statistic(*(column[draw] for column in columns)) for draw in draws]
    return statistic(*columns), *np.percentile(values, [2.5, 97.5])


def show(statistic, *columns, form=".4f"):
    if len(columns[0]) == 0:
        return "-"
    return "{:{f}} [{:{f}}, {:{f}}]".format(*interval(statistic, *columns), f=form)


def needed(trials, limits, target):
    """Return the evaluations until one is feasible with an error of at most target; one more than all if none is."""
    return next((number for number, trial in enumerate(trials, 1)
                 if feasible(trial, limits) and trial["value"] <= target), len(trials) + 1)


def compare(runs, limits):
    """Print a table. runs has for each method its trials by split."""
    splits = sorted(set.intersection(*(set(by_split) for by_split in runs.values())))
    target = {}
    for split in splits:
        winners = [best(by_split[split], limits) for by_split in runs.values()]
        target[split] = min((winner["value"] for winner in winners if winner), default=-1) + TOLERANCE
    spent = {method: np.array([needed(by_split[split], limits, target[split]) for split in splits]) for method, by_split in runs.items()}

    length = max(len(trials) for by_split in runs.values() for trials in by_split.values())
    shown = [at for at in CHECKPOINTS if at < length] + [length]
    print("limits:", ", ".join(f"{name} at most {limit:g}" for name, limit in limits.items()), f"; {len(splits)} splits")
    print("| method |", *(f"error after {at} |" for at in shown), "nothing feasible | dsp, deo, dfp of the best |",
          "not reached | evaluations | random / method |")
    print("|---|" + "---|" * (len(shown) + 5))
    for method, by_split in runs.items():
        cells = []
        for at in shown:
            winners = [best(by_split[split][:at], limits) for split in splits]
            cells.append(show(np.mean, [winner["value"] for winner in winners if winner]))
        gaps = [[winner[name] for winner in winners if winner] for name in ("dsp", "deo", "dfp")]
        cells += [str(sum(winner is None for winner in winners)), ", ".join(f"{np.mean(gap):.3f}" if gap else "-" for gap in gaps)]
        cells += [str(sum(number > len(by_split[split]) for number, split in zip(spent[method], splits)))]
        cells += [f"{np.mean(spent[method]):.0f}"]
        cells += [show(lambda a, b: np.mean(a) / np.mean(b), spent["random"], spent[method], form=".2f") if "random" in runs else "-"]
        print("|", method, "|", " | ".join(cells), "|")
    for other in ("random", "free", "mes", "parego", "nehvi"):
        if other in runs and "logei" in runs:
            pairs = [(best(runs["logei"][split], limits), best(runs[other][split], limits)) for split in splits]
            pairs = [(ours["value"], theirs["value"]) for ours, theirs in pairs if ours and theirs]
            if pairs:
                print(f"error of {other} less that of logei, where both have one:", show(lambda a, b: np.mean(b - a), *zip(*pairs)))
            if pairs and other == "mes":
                print("error, mes / logei:", show(lambda a, b: np.mean(b) / np.mean(a), *zip(*pairs), form=".3f"))
    if "mes" in runs and "logei" in runs:
        print("evaluations, mes / logei:", show(lambda a, b: np.mean(a) / np.mean(b), spent["mes"], spent["logei"], form=".2f"))


def volume(points, reference):
    """Return the area that minimised points of two numbers dominate below a reference."""
    area, height = 0.0, reference[1]
    for x, y in sorted(points):
        if x < reference[0] and y < height:
            area += (reference[0] - x) * (height - y)
            height = y
    return area


def front(points):
    """Return the points that no other one dominates."""
    return [p for p in set(points) if not any(q != p and all(a <= b for a, b in zip(q, p)) for q in points)]


def fronts(runs, limits):
    """Print the share of fair evaluations, and of the area below the front of all methods together.

    The area of the front ends a tenth of its range beyond its worst values, that of fair designs at the limit.
    """
    (name, limit), *_ = limits.items()
    splits = sorted(set.intersection(*(set(by_split) for by_split in runs.values())))
    shares = {method: ([], [], []) for method in runs}
    for split in splits:
        points = {method: [(trial["value"], trial[name]) for trial in by_split[split]] for method, by_split in runs.items()}
        together = front([point for ones in points.values() for point in ones])
        worst = [max(column) + 0.1 * (max(column) - min(column)) for column in zip(*together)]
        ends = [(worst[0], worst[1]), (worst[0], min(worst[1], limit))]
        for method, ones in points.items():
            fair, *areas = shares[method]
            later = ones[5:]  # without the common starts
            fair.append(sum(gap <= limit for _, gap in later) / len(later))
            for area, end in zip(areas, ends):
                most = volume(together, end)
                area.append(volume(ones, end) / most if most > 0 else 1.0)
    print(f"limit: {name} at most {limit:g}; {len(splits)} splits")
    print("| method | evaluations within the limit | area of the front | area within the limit |")
    print("|---|---|---|---|")
    for method, columns in shares.items():
        print("|", method, "|", " | ".join(show(np.mean, column, form=".2f") for column in columns), "|")
