"""Answers requests by the function of a script: python serve.py SCRIPT, its text.

The script has PACKAGES, names of modules with a __version__, and answer(request), which
returns a dictionary. The first line of output, before any request, has the versions:
{"versions": {...}}. Then each line of input is a request, and the line that follows it
has the answer with "seconds", the processor time of this process, or {"error": "..."}.
"""

import importlib
import json
import signal
import sys
import time
import warnings


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C needs no traceback
    warnings.simplefilter("ignore")
    script = {"__name__": "script"}
    exec(compile(sys.argv[1], "script", "exec"), script)
    versions = {name: importlib.import_module(name).__version__ for name in script["PACKAGES"]}
    print(json.dumps({"versions": versions}), flush=True)
    for line in sys.stdin:
        begin = time.process_time()
        try:
            answer = script["answer"](json.loads(line))
        except Exception as error:  # the caller receives it and decides
            answer = {"error": f"{type(error).__name__}: {error}"}
        answer["seconds"] = time.process_time() - begin
        print(json.dumps(answer), flush=True)


main()
