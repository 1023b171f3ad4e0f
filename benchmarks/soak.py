"""Promises under hostile conditions, for as long as one likes: exact answers, and null runs.

``make soak``, or ``python benchmarks/soak.py --answers 1000000 --nulls 20000 --minutes 60``, writes
``results/soak.md`` and ``results/soak.json``. The generators are those of the everyday suite
(``tests/support/hostile.py`` and ``nulls.py``). Blocks have seeds of their own, so that any of them can be
run again: ``--seed S --first BLOCK``; ``--jobs 2`` shares them out among two processes; ``--resume`` goes on
where the stored results end, if kedge is still at the same commit. Time is that of the processor.
"""

import argparse
import json
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from engine import engine
from scipy.stats import binomtest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))
import hostile  # noqa: E402
import nulls  # noqa: E402

from kedge.search.strategies import spelling  # noqa: E402

DELTA = 0.05
# Cases of one block, answers asked of each, and null runs that are made at a time.
CASES, EACH, BATCH = 50, 24, 25


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

    def add(self, other: "Tally") -> None:
        """Count what another one counted, too."""
        for name, value in vars(other).items():
            if name != "commit":
                setattr(self, name, getattr(self, name) + value)


def run_block(seed: int, block: int) -> Tally:
    """Explain the cases of a block, and put every answer to the judge."""
    tally, start, rng = Tally(), time.process_time(), np.random.default_rng([seed, block])
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
    return replace(tally, blocks=1, seconds=time.process_time() - start)


def run_nulls(first: int, last: int) -> Tally:
    """Null runs of the numbers from the first up to the last, which is left out."""
    start = time.process_time()
    claims = [nulls.false_claim(number, DELTA) for number in range(first, last)]
    claimed, false = (sum(column) for column in zip(*claims, strict=True))
    seconds = time.process_time() - start
    return Tally(nulls=len(claims), claims=claimed, false_claims=false, null_seconds=seconds)


@dataclass(frozen=True)
class Goal:
    """How many exact answers and null runs are wanted, and until when."""

    answers: int
    nulls: int
    end: float

    def reached(self, tally: Tally) -> bool:
        """Whether there is nothing left to do."""
        return tally.exact >= self.answers and tally.nulls >= self.nulls


def results(tally: Tally, goal: Goal, seed: int, first: int, jobs: int) -> Iterator[Tally]:
    """What processes count, in the order in which it was asked for, so that a run can go on where it ended.

    Blocks and null runs are handed out as long as the goal is not reached, both at the same pace; the caller
    adds each result to the tally that is passed in.
    """
    block, null = first + tally.blocks, tally.nulls
    pending: deque[Future[Tally]] = deque()
    with ProcessPoolExecutor(jobs, initializer=prepare) as pool:
        while True:
            while len(pending) < 2 * jobs and not goal.reached(tally) and time.monotonic() < goal.end:
                share = min(tally.exact / max(goal.answers, 1), 1.0)
                if null < goal.nulls and null <= share * goal.nulls:
                    last = min(null + BATCH, goal.nulls)
                    pending.append(pool.submit(run_nulls, null, last))
                    null = last
                elif tally.exact < goal.answers:
                    pending.append(pool.submit(run_block, seed, block))
                    block += 1
                else:
                    break
            if not pending:
                return
            yield pending.popleft().result()


def prepare() -> None:
    """What each process begins with."""
    warnings.simplefilter("ignore")
    # Checks of scikit-learn's own, which take a third of the time.
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)


def report(tally: Tally, seed: int, goal: Goal) -> str:
    """The page: numbers, and the verdict that follows from them."""
    share = tally.false_claims / max(tally.nulls, 1)
    # Refuted if even the lower end of the share's interval (99.9%) lies above delta.
    low = binomtest(tally.false_claims, max(tally.nulls, 1)).proportion_ci(0.999).low
    holds = not tally.broken and share <= DELTA and low <= DELTA
    verdict = "the promises held" if holds else "A PROMISE WAS BROKEN"
    if not goal.reached(tally):
        verdict += f"; {goal.answers:,} answers and {goal.nulls:,} null runs were the goal"
    families = "\n".join(f"| {name} | {n:,} |" for name, n in sorted(tally.families.items()))
    ways = "\n".join(f"| {name} | {n:,} |" for name, n in sorted(tally.ways.items()))
    statuses = ", ".join(f"{n:,} {name}" for name, n in tally.statuses.most_common())
    return f"""# Soak

Written by `benchmarks/soak.py` (`make soak`), kedge at commit {tally.commit}. **Verdict: {verdict}.**

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


def resumed(stored: dict[str, Any]) -> Tally:
    """What an earlier run counted."""
    known = {name: stored[name] for name in vars(Tally())}
    counted = {name: Counter(known[name]) for name in ("statuses", "families", "ways")}
    return Tally(**{**known, **counted})


def main(given: Sequence[str] | None = None) -> None:
    """Run until enough was counted or the time is up; what was reached is written after every block."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--nulls", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the work")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on where the stored results end")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    args = parser.parse_args(given)
    tally, goal = Tally(commit=engine()), Goal(args.answers, args.nulls, time.monotonic() + 60 * args.minutes)
    if args.resume and (stored := args.out / "soak.json").exists():
        earlier = json.loads(stored.read_text(encoding="utf-8"))
        if (earlier["commit"], earlier["seed"]) != (tally.commit, args.seed):
            sys.exit(
                f"The stored results are of commit {earlier['commit']} and seed {earlier['seed']}, "
                f"but kedge is at {tally.commit} and the seed is {args.seed}."
            )
        tally = resumed(earlier)
    for counted in results(tally, goal, args.seed, args.first, args.jobs):
        tally.add(counted)
        write(tally, args.seed, goal, args.out)
    sys.stdout.write(report(tally, args.seed, goal))
    sys.exit(bool(tally.broken) or tally.false_claims > DELTA * max(tally.nulls, 1))


def write(tally: Tally, seed: int, goal: Goal, out: Path) -> None:
    """Both files, each in one step, so that a run that is stopped leaves whole ones."""
    data = json.dumps({**vars(tally), "seed": seed, "delta": DELTA}, indent=1) + "\n"
    for name, content in (("soak.md", report(tally, seed, goal)), ("soak.json", data)):
        begun = out / f"{name}.part"
        begun.write_text(content, encoding="utf-8")
        begun.replace(out / name)


if __name__ == "__main__":
    main()
