"""A training: minimise a narrow valley by gradient descent, and print how far it got."""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--momentum", type=float, required=True)
o = parser.parse_args()

x, y, speed_x, speed_y = 4.0, -3.0, 0.0, 0.0
for step in range(o.steps):
    speed_x = o.momentum * speed_x - o.rate * 2 * x
    speed_y = o.momentum * speed_y - o.rate * 20 * y
    x, y = x + speed_x, y + speed_y
    if abs(x) + abs(y) > 1e6:
        raise SystemExit(f"diverged after {step + 1} steps")
print(x * x + 10 * y * y + 0.001 * o.steps)
