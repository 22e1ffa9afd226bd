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
    for other in ("random", "free", "mes"):
        if other in runs and "logei" in runs:
            pairs = [(best(runs["logei"][split], limits), best(runs[other][split], limits)) for split in splits]
            pairs = [(ours["value"], theirs["value"]) for ours, theirs in pairs if ours and theirs]
            if pairs:
                print(f"error of {other} less that of logei, where both have one:", show(lambda a, b: np.mean(b - a), *zip(*pairs)))
            if pairs and other == "mes":
                print("error, mes / logei:", show(lambda a, b: np.mean(b) / np.mean(a), *zip(*pairs), form=".3f"))
    if "mes" in runs and "logei" in runs:
        print("evaluations, mes / logei:", show(lambda a, b: np.mean(a) / np.mean(b), spent["mes"], spent["logei"], form=".2f"))
