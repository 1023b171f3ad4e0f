"""Promises under hostile conditions, for as long as one likes: exact answers, and null runs.

``make soak``, or ``python benchmarks/soak.py --answers 1000000 --nulls 20000 --minutes 60``, writes
``results/soak.md`` and ``results/soak.json``. The generators are those of the everyday suite
(``tests/support/hostile.py`` and ``nulls.py``). Blocks have seeds of their own, so that any of them can be
run again: ``--seed S --first BLOCK``; ``--resume`` goes on where the stored results end, if kedge is still at
the same commit. Time is that of the processor.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy.stats import binomtest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))
import hostile  # noqa: E402
import nulls  # noqa: E402

from kedge.search.strategies import spelling  # noqa: E402

DELTA = 0.05
# Cases of one block, and answers asked of each.
CASES, EACH = 50, 24


@dataclass
class Tally:
    """What was counted."""

    statuses: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    commit: str = ""
    broken: list[dict[str, Any]] = field(default_factory=list)
    false_exact: int = 0
    blocks: int = 0
    seconds: float = 0.0
    nulls: int = 0
    claims: int = 0
    false_claims: int = 0
    null_seconds: float = 0.0

    @property
    def exact(self) -> int:
        """How many answers were called exact."""
        return self.statuses["exact"]


def run_block(tally: Tally, seed: int, block: int) -> None:
    """Explain the cases of a block, and put every answer to the judge."""
    start, rng = time.process_time(), np.random.default_rng([seed, block])
    for case in islice(hostile.cases(rng), CASES):
        for e, wrong in hostile.answers(case, rng, EACH):
            tally.statuses[e.status] += 1
            if e.status == "exact":
                tally.families[case.family] += 1
                length = "short" if case.groups is None else "long"
                tally.ways[f"{spelling(e.method)[0]} | {e.evaluator} | {length}"] += 1
            if wrong:
                tally.false_exact += e.status == "exact"
                found = {"block": block, "family": case.family, "text": e.text, "method": e.method}
                tally.broken.append({**found, "threshold": e.threshold, "wrong": wrong})
    tally.blocks += 1
    tally.seconds += time.process_time() - start


def run_null(tally: Tally, number: int) -> None:
    """One null run."""
    start = time.process_time()
    claimed, false = nulls.false_claim(number, DELTA)
    tally.nulls, tally.claims = tally.nulls + 1, tally.claims + claimed
    tally.false_claims += false
    tally.null_seconds += time.process_time() - start


def report(tally: Tally, seed: int, wanted: tuple[int, int]) -> str:
    """The page: numbers, and the verdict that follows from them."""
    share = tally.false_claims / max(tally.nulls, 1)
    # Refuted if even the lower end of the share's interval (99.9%) lies above delta.
    low = binomtest(tally.false_claims, max(tally.nulls, 1)).proportion_ci(0.999).low
    holds = not tally.broken and share <= DELTA and low <= DELTA
    reached = tally.exact >= wanted[0] and tally.nulls >= wanted[1]
    verdict = "the promises held" if holds else "A PROMISE WAS BROKEN"
    goal = "" if reached else f"; {wanted[0]:,} answers and {wanted[1]:,} null runs were the goal"
    families = "\n".join(f"| {name} | {n:,} |" for name, n in sorted(tally.families.items()))
    ways = "\n".join(f"| {name} | {n:,} |" for name, n in sorted(tally.ways.items()))
    statuses = ", ".join(f"{n:,} {name}" for name, n in tally.statuses.most_common())
    return f"""# Soak

Written by `benchmarks/soak.py` (`make soak`), kedge at commit {tally.commit}. **Verdict: {verdict}{goal}.**

Exact answers: {tally.exact:,} on hostile cases (ties, weights whose sums rounding decides, thresholds that
some anchor attains or that lie one bit beside; half of them with a method chosen at random among those that
the model lets one use), each put to brute force over all masked texts, in whole numbers.
False: **{tally.false_exact}**. Answers in all: {statuses}; with anything untrue (interval, length, precision,
baseline, coverage, examples): **{len(tally.broken)}**. Seed {seed}, {tally.blocks:,} blocks of {CASES} cases,
{tally.seconds:,.0f} s of CPU time.

| model | exact answers |
|---|---|
{families}

| method | evaluator | documents | exact answers |
|---|---|---|---|
{ways}

Short documents have up to {hostile.LONGEST} words, long ones up to {hostile.LONG}.

Null runs: {tally.nulls:,} black boxes of which nearly every anchor has a precision just below the threshold
({nulls.SHARE} against {nulls.THRESHOLD}; {nulls.WORDS} words, at most 200 to 800 questions; two thirds are
explained, one third asked for the precision of chosen words), delta = {DELTA}. Claims made: {tally.claims:,};
false ones: **{tally.false_claims}**, a share of {share:.5f} of the runs. Seeds from 0 on;
{tally.null_seconds:,.0f} s of CPU time.
"""


def engine() -> str:
    """The commit that last changed what is tried here, and whether it has been changed since."""

    def git(*command: str) -> str:
        asked = ["git", "-C", str(HERE.parent), *command, "--", "src/kedge"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    return git("log", "-1", "--format=%h") + (" (changed)" if git("status", "--porcelain") else "")


def resumed(stored: dict[str, Any]) -> Tally:
    """What an earlier run counted."""
    known = {name: stored[name] for name in vars(Tally())}
    counted = {name: Counter(known[name]) for name in ("statuses", "families", "ways")}
    return Tally(**{**known, **counted})


def main() -> None:
    """Run until enough was counted or the time is up; what was reached is written after every round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--nulls", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on where the stored results end")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    # Checks of scikit-learn's own, which take a third of the time.
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    tally, end = Tally(commit=engine()), time.monotonic() + 60 * args.minutes
    if args.resume and (stored := args.out / "soak.json").exists():
        earlier = resumed(json.loads(stored.read_text(encoding="utf-8")))
        if earlier.commit != tally.commit:
            sys.exit(f"The stored results are of commit {earlier.commit}, kedge is at {tally.commit}.")
        tally = earlier
    while time.monotonic() < end and (tally.exact < args.answers or tally.nulls < args.nulls):
        if tally.exact < args.answers:
            run_block(tally, args.seed, args.first + tally.blocks)
        # As far with the null runs as with the answers.
        share = 1.0 if tally.exact >= args.answers else tally.exact / args.answers
        while tally.nulls < share * args.nulls and time.monotonic() < end:
            run_null(tally, tally.nulls)
        page = report(tally, args.seed, (args.answers, args.nulls))
        (args.out / "soak.md").write_text(page, encoding="utf-8")
        data = {**vars(tally), "seed": args.seed, "delta": DELTA}
        (args.out / "soak.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(page)
    sys.exit(bool(tally.broken) or tally.false_claims > DELTA * max(tally.nulls, 1))


if __name__ == "__main__":
    main()
