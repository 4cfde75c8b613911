#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile.py FILE: a container engine's system-call profile, checked and as
the lines that degrade (tests/lib/degrade.c) takes."""
import json
import sys

KEYS = {"comment", "defaultAction", "defaultErrnoRet", "architectures",
        "syscalls"}
CALL_KEYS = {"comment", "names", "action", "errnoRet", "args"}
OPS = {"SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE", "SCMP_CMP_EQ",
       "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ"}


def arguments(rule):
    words = []
    for arg in rule.get("args", []):
        assert arg["op"] in OPS, arg
        words += [str(arg["index"]), arg["op"], str(arg["value"]),
                  str(arg.get("valueTwo", 0))]
    # Engines make one rule of each where an index comes twice.
    indices = [arg["index"] for arg in rule.get("args", [])]
    assert len(set(indices)) == len(indices), rule
    return words


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        profile = json.load(f)
    assert set(profile) <= KEYS, set(profile) - KEYS
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    print("default", profile["defaultErrnoRet"])
    seen = set()
    for rule in profile["syscalls"]:
        assert set(rule) <= CALL_KEYS, rule
        words = arguments(rule)
        if rule["action"] == "SCMP_ACT_ERRNO":
            words.append("errno=%d" % rule["errnoRet"])
        else:
            assert rule["action"] == "SCMP_ACT_ALLOW", rule
        for name in rule["names"]:
            assert words or name not in seen, name + " twice"
            seen.add(name)
            print(name, *words)


main()
