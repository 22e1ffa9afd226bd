"""All trials in one process: fbo-node run task.yaml --worker -- python worker.py --site 0

Without --site each request names its site as the member, as those of fbo-node simulate do.
"""

import argparse
import json
import os
import sys

# Answers have standard output for themselves; what libraries print goes to standard error.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import digits  # noqa: E402  slow, and done once

parser = argparse.ArgumentParser()
parser.add_argument("--site", type=int)
site = parser.parse_args().site
sites = range(digits.SITES) if site is None else [site]
data = {site: digits.load(site) for site in sites}

for line in sys.stdin:
    request = json.loads(line)
    try:
        of = request.get("member", site)
        if of is None:
            raise ValueError("name the site with --site")
        answer = digits.train(data[of], **request["parameters"])
    except Exception as error:  # fails this trial, and not the next
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"trial": request["trial"], **answer}), file=answers)
