"""One trial per process: python train.py --site 0 --C 1 --gamma 0.001"""

import argparse
import json

import digits

parser = argparse.ArgumentParser()
parser.add_argument("--site", type=int, required=True)
parser.add_argument("--C", type=float, required=True)
parser.add_argument("--gamma", type=float, required=True)
args = parser.parse_args()
print(json.dumps(digits.train(digits.load(args.site), C=args.C, gamma=args.gamma)))
