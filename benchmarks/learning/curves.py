"""Trains PCL, SCORER + CBR and CLIP4IDC, and the rows of their papers' tables, on the same frozen tokens.

    whatchanged synth clevr-pool POOL --scenes 4000 --seed 81 --size 240x160
    whatchanged features POOL TOKENS --run clevr-pcl --variants 2
    whatchanged synth clevr-change VAL --scenes 250 --seed 9200 --size 240x160
    whatchanged synth clevr-change NEAR --scenes 500 --seed 9203 --size 240x160
    whatchanged synth clevr-dc AROUND --scenes 500 --seed 9204 --size 240x160
    python -m benchmarks.learning OUT --pool POOL --tokens TOKENS --val VAL --test near=NEAR \\
      --test around=AROUND --test blender=$BLENDER_DEV --rows all --search --seeds 1,2,3 --record

runs the complete comparison: first --search, then every row of every table with three seeds. It may be
interrupted at any time, and divided into many commands, with one OUT or several. The same command on the same
OUT resumes after the last point of a curve. On an empty OUT it trains the runs that are not recorded yet.
--record adds each run to benchmarks/results/NAME.json as soon as it is tested. The runs that are there stay,
as long as pool, tokens, validation and test sets are the same (see learning_record). --again trains recorded
runs anew.

Each run is a folder OUT/ROW-rate-pairs-seed that ``whatchanged export`` reads. A curve has a point every
--every pairs: the mean of each loss since the previous point, and the scores of VAL's greedy captions against
references and truth. Tests use the last weights. A method that embeds captions is also tested in retrieval,
after its retrieval stage and at the end. No test decides anything.

--search trains each of the three methods with the same few learning rates and another seed, on as many pairs
as the rows. While the lowest (or highest) rate is the best, it also tries half (or twice) that rate. All rows
of a method use the rate with the best CIDEr-D on VAL, unless --rows gives another. (On a third of the pairs,
SCORER's best rate is twice its best rate on all pairs, so the search must use all.)

The rows are recipes (``learning_rows``). All use --vision's tokens, which are stored, frozen and
standardised. All rows draw their pairs from the same stream: seed, stage and task determine the examples of a
step. A step counts as a batch of pairs, even with FDA, which reads a seventh as many. On a CPU, seconds are
processor time.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.learning.record import (
    HIGHEST,
    LOWEST,
    RATE,
    SEARCH_SEED,
    SEARCHED,
    Record,
    best_rate,
    core_hours,
    data_of,
    recorded,
    search_hours,
    search_runs,
)
from benchmarks.learning.rows import METHODS, ROWS, TABLES, chosen, rows_named
from benchmarks.learning.run import Plan, Run, runs_in
from benchmarks.record import RESULTS, add_record_option, read_result
from whatchanged.captioner.bundle import DEFAULT
from whatchanged.cli.console import note
from whatchanged.errors import RecipeError, WhatchangedError

NAME = "learning"
PAIRS, EVERY = 128_000, 12_800


def runs_of(rows: str, seeds: Sequence[int], plan: Plan, known: Record) -> Iterator[Run]:
    """The runs of a command, seed by seed; rows without a rate have the one that the search chose."""
    rates = [(row, best_rate(known.runs, row) if rate is None else rate) for row, rate in chosen(rows)]
    for seed in seeds:
        for row, rate in dict.fromkeys(rates):
            yield Run(row, rate, seed, plan)


def searches(plan: Plan) -> list[Run]:
    """The runs with which the rate search begins."""
    return [_search(row, rate, plan) for row in METHODS for rate in SEARCHED]


def further_searches(plan: Plan, known: Record) -> list[Run]:
    """Where a method's best rate is the lowest or highest of those searched: a run with half or twice it."""
    results = []
    for row in METHODS:
        best = best_rate(known.runs, row)
        rates = [run["rate"] for run in search_runs(known.runs, row)]
        beyond = {min(rates): best / 2, max(rates): best * 2}.get(best)
        if beyond is not None and LOWEST <= beyond <= HIGHEST:
            results.append(_search(row, beyond, plan))
    return results


def _search(row: str, rate: float, plan: Plan) -> Run:
    return Run(row, rate, SEARCH_SEED, replace(plan, tests={}))


def carry_out(runs: Iterable[Run], plan: Plan, known: Record, options: argparse.Namespace) -> Record:
    """Train, test and record each run that is not recorded yet; all that is known then."""
    for run in runs:
        before = known.by_key.get((run.row, run.rate, run.plan.pairs, run.seed, run.settings))
        if before is not None and not options.again and not run.folder.exists():
            missing = [name for name in run.plan.tests if name not in before["tests"]]
            lacks = f", without the test {', '.join(missing)} (--again trains it anew)" if missing else ""
            note(f"{run.folder.name}: recorded{lacks}")
            continue
        run.train()
        run.test()
        point = run.curve()[-1]
        shown = ", ".join(f"{name} {point[name]:.1f}" for name in ("CIDEr-D", "type right", "wholly true"))
        note(f"{run.folder.name}: {point['pairs']:,} pairs, {point['seconds']:.0f} s: {shown}")
        known = gathered(known, plan)
        if options.record:
            known.write(options.record)
    return known


def gathered(known: Record, plan: Plan) -> Record:
    """What is known, and all runs of OUT that have come to their end."""
    results = (run.result() for run in runs_in(plan))
    return known.with_runs(plan.tests_told, [result for result in results if result is not None])


def hours_of_all() -> str:
    """How long the whole comparison takes, as the recorded runs tell."""
    file = RESULTS / f"{NAME}.json"
    if not file.exists():
        return "No run is recorded, so the hours of the whole comparison are not known."
    runs = read_result(file).figures["runs"]
    rows = rows_named("all")
    hours, search = core_hours(runs, rows, 3, PAIRS), search_hours(runs, PAIRS)
    if hours is None or search is None:
        return "Not every method is recorded, so the hours of the whole comparison are not known."
    return (
        f"--rows all --seeds 1,2,3 is {3 * len(rows)} runs of {PAIRS:,} pairs, some {hours:.0f} hours of one"
        f" core after the recorded seconds, and {search:.1f} hours for --search."
    )


def place_of_test(text: str) -> tuple[str, Path]:
    """NAME=FOLDER of a test set."""
    name, _, folder = text.partition("=")
    if not name.isidentifier() or not folder:
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=FOLDER, as in near=NEAR")
    return name, Path(folder)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=hours_of_all(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--vision", default=DEFAULT, help="a model or run whose vision all rows share")
    parser.add_argument("--pool", type=Path, required=True, help="drawn triples to train on")
    parser.add_argument("--tokens", type=Path, required=True, help="their tokens, made by --vision")
    parser.add_argument("--val", type=Path, required=True, help="a drawn data set for the curves")
    parser.add_argument(
        "--test",
        type=place_of_test,
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="a data set with known scenes for the test at the end; several, each with its own --test",
    )
    parser.add_argument(
        "--rows",
        default="methods",
        help=f"NAME[=RATE],...: all, a table ({', '.join(TABLES)}), or a row ({', '.join(ROWS)});"
        f" without a rate the one that was searched, else {RATE:g}",
    )
    parser.add_argument("--search", action="store_true", help="search the methods' rates first")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="to train on, each run")
    parser.add_argument("--every", type=int, default=EVERY, help="pairs between two points of a curve")
    parser.add_argument("--seeds", default="1", help="several, as in 1,2,3")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--again", action="store_true", help="train recorded runs anew")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="of every row"
    )
    add_record_option(parser, NAME)
    return parser.parse_args()


def main() -> None:
    """Read the command line; train, test, record."""
    options = parse()
    torch.set_num_threads(1)
    try:
        seeds = [int(seed) for seed in options.seeds.split(",")]
    except ValueError as error:
        raise RecipeError(f"--seeds {options.seeds}: write numbers, as in 1,2,3.") from error
    if SEARCH_SEED in seeds:
        raise RecipeError(f"--seeds: {SEARCH_SEED} is the seed of the search. Choose others.")
    list(chosen(options.rows))  # stops here where a name is wrong
    data = data_of(options.pool, options.tokens, options.val)
    plan = Plan(
        **{name: getattr(options, name) for name in ("out", "vision", "pool", "tokens", "val")},
        **{name: getattr(options, name) for name in ("pairs", "every", "resamples")},
        tests=dict(options.test),
        data=data,
        settings=tuple(options.settings),
    )
    known = recorded(options.record, data) if options.record else Record(data)
    known = known.with_runs(plan.tests_told, ())  # stops here where a test set is not the recorded one
    if options.search:
        known = carry_out(searches(plan), plan, known, options)
        while further := further_searches(plan, known):
            known = carry_out(further, plan, known, options)
    known = carry_out(runs_of(options.rows, seeds, plan, gathered(known, plan)), plan, known, options)
    print(f"{options.out}: done." if not options.record else RESULTS / f"{options.record}.json")


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
