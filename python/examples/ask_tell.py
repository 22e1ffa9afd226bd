"""Ask for trials and tell what they measured, with metrics and a failure."""

import tempfile

import fbo

TASK = {
    "name": "oven",
    "goal": "maximize",
    "parameters": [
        {"name": "heat", "type": "float", "low": 100, "high": 250},
        {"name": "minutes", "type": "int", "low": 5, "high": 60},
    ],
}


def bake(heat: float, minutes: int) -> float:
    """Return how good the bread is; too much of both burns it."""
    if heat * minutes > 12000:
        raise RuntimeError("burnt")
    return 10 - ((heat - 210) / 20) ** 2 - ((minutes - 35) / 8) ** 2


def main() -> None:
    """Run 15 trials."""
    with tempfile.TemporaryDirectory() as directory, fbo.Node(directory, flags=["--mdns=false"]) as node:
        task = node.task(TASK)
        for _ in range(15):
            for trial in task.ask():
                heat, minutes = float(trial.parameters["heat"]), int(trial.parameters["minutes"])
                try:
                    task.tell(trial, bake(heat, minutes), metrics={"energy": heat * minutes})
                except RuntimeError as error:
                    task.fail(trial, str(error))
        print(task.best())


if __name__ == "__main__":
    main()
