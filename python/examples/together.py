"""Two sites with similar problems: the second learns from the first. Both run on this machine.

On two machines each program has only its own half, with the same `task` and space, and
finds the other on the local network or by `peers=`.
"""

import tempfile

import fbo

SPACE = [fbo.Float("rate", 1e-4, 1, log=True), fbo.Int("depth", 1, 12), fbo.Bool("centred")]
LOCAL = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0"]


def loss_at(site: float, rate: float, depth: int, centred: bool) -> float:
    """Stand for a training on the site's own data."""
    return (rate - 0.02 - site) ** 2 * 100 + (depth - 6) ** 2 * 0.05 + (0 if centred else 0.3)


def main() -> None:
    """Optimise at the first site, then at the second."""
    with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
        with fbo.Node(here, flags=LOCAL) as first:
            found = fbo.minimize(lambda **p: loss_at(0.0, **p), SPACE, task="trees", node=first, evals=20)
            print(f"first site: {found}")
            second = fbo.Node(there, flags=LOCAL, peers=[one for one in first.info()["addresses"] if "/tcp/" in one])
            found = fbo.minimize(lambda **p: loss_at(0.005, **p), SPACE, task="trees", node=second, evals=10)
            print(f"second site: {found}")
            for who, trials in found.contributions().items():
                print(f"{who} had a part in trials {trials}")


if __name__ == "__main__":
    main()
