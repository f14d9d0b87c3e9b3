"""Evaluates each case of `.ci/nightly.d/cel.sh` with cel-python, to which numbers of JSON are integers or doubles."""

import json
import sys

import celpy
from celpy.adapter import json_to_cel

environment = celpy.Environment()
programs = {}


def evaluate(case):
    rule = case["rule"]
    try:
        if rule not in programs:
            programs[rule] = environment.program(environment.compile(rule))
        answer = programs[rule].evaluate({"args": json_to_cel(json.loads(case["arguments"]))})
    except (celpy.CELEvalError, ValueError):
        # A `ValueError` is its word for an integer of more than 64 bits.
        return None
    return bool(answer)


decided = {}
counts = {"agree": 0, "weaker": 0, "undecided": 0, "wrong": 0}
with open(sys.argv[1], encoding="utf-8") as cases:
    for line in cases:
        case = json.loads(line)
        answer = evaluate(case)
        yes, total = decided.get(case["rule"], (0, 0))
        decided[case["rule"]] = (yes + (answer is not None), total + 1)
        if answer is None:
            kind = "undecided"
        elif answer == case["accepts"]:
            kind = "agree"
        elif answer and not case["whole"]:
            kind = "weaker"
        else:
            kind = "wrong"
            if counts[kind] < 10:
                print(answer, case)
        counts[kind] += 1
print(f"{len(programs)} rules:", counts)
mute = {rule: shares for rule, shares in decided.items() if shares[0] * 10 < shares[1] * 9}
for rule, shares in mute.items():
    print("seldom decided:", rule, shares)
sys.exit(counts["wrong"] > 0 or bool(mute))
