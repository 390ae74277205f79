"""``whatchanged train``: train a recipe into a run folder."""

from pathlib import Path

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import hold
from whatchanged.cli.options import COMPUTED, PLAN
from whatchanged.cli.train_plan import show_plan
from whatchanged.errors import MissingExtra
from whatchanged.launch import Launch
from whatchanged.processes import launched_number

EXAMPLES = (
    "whatchanged train pcl-tiny -o run --data twin --set vision.kind=patches",
    "whatchanged train -o run --resume",
    "whatchanged train pcl-clevr-paper --plan --rate 50",
)


def train(
    recipe: str | None = typer.Argument(
        None,
        help="A recipe's name or .toml file; not needed with --resume.",
        autocompletion=completion.recipes,
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="The run folder; must be given."),
    data: Path | None = typer.Option(None, "--data", help="Data set folder or pool; sets data.path."),
    features: Path | None = typer.Option(
        None, "--features", help="Stored features, or a pool's stored tokens."
    ),
    init: Path | None = typer.Option(
        None,
        "--init",
        help="Start from the weights of this run, this model (a name or folder), or a file of the "
        "authors' or of CLIP's.",
        autocompletion=completion.models_and_files,
    ),
    from_: str = typer.Option(
        "",
        "--from",
        metavar="STAGE",
        help="With --init: begin with this stage; with `end`, make a run of these weights without training.",
    ),
    set_: list[str] = typer.Option(
        [], "--set", help="KEY=VALUE, for example stage.caption.lr=1e-4; repeatable."
    ),
    resume: bool = typer.Option(False, "--resume", help="Continue the run in the output folder."),
    max_seconds: float | None = typer.Option(
        None, "--max-seconds", help="Stop, ready to resume, after this long."
    ),
    device: str = typer.Option(
        "auto", "--device", help="auto, cpu, cuda or cuda:NUMBER.", rich_help_panel=COMPUTED
    ),
    workers: int = typer.Option(
        0,
        "--workers",
        min=0,
        help="Processes that read examples, for a GPU; 0: threads, enough for a CPU.",
        rich_help_panel=COMPUTED,
    ),
    accumulate: int = typer.Option(
        1,
        "--accumulate",
        min=1,
        help="Split each batch into this many parts: less memory, a third more work.",
        rich_help_panel=COMPUTED,
    ),
    plan: bool = typer.Option(
        False,
        "--plan",
        help="Only print what the recipe will need: weights, memory, operations, hours.",
        rich_help_panel=PLAN,
    ),
    devices: int = typer.Option(
        1, "--devices", min=1, help="With --plan: devices that share each batch.", rich_help_panel=PLAN
    ),
    rate: float = typer.Option(
        10.0,
        "--rate",
        min=1e-6,
        help="With --plan: trillions of operations a second of each device.",
        rich_help_panel=PLAN,
    ),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors on stderr."),
) -> None:
    """Train a recipe. Interrupt it when you like: --resume goes on from the last checkpoint."""
    import json

    from whatchanged.errors import RecipeError
    from whatchanged.recipes.reader import load_recipe

    first = launched_number() == 0
    if output is None:
        if not plan:
            raise typer.BadParameter("name the run's folder", param_hint="--output")
        output = Path()
    elif first and not plan:
        hold(output)
    kept = output / "recipe.toml"
    if resume and kept.is_file():
        if init is not None:
            raise RecipeError(
                f"--init {init}: the run in {output} goes on with its own weights. Leave it out."
            )
        if set_ and recipe is None:
            raise RecipeError(
                f"--set {set_[0]}: the run in {output} goes on with its own recipe. Leave it out."
            )
        recipe = recipe or str(kept)
    stored = "features" if recipe is None else load_recipe(recipe, set_).data.stored_key
    files = {"data.path": data, f"data.{stored}": features}
    paths = [
        f"{key}={json.dumps(str(path.absolute()), ensure_ascii=False)}"
        for key, path in files.items()
        if path is not None
    ]
    loaded = None if recipe is None else load_recipe(recipe, [*set_, *paths])
    try:
        from whatchanged.training.estimate import estimate, expected_vocabulary
        from whatchanged.training.run import run_recipe
    except ModuleNotFoundError as error:
        raise MissingExtra("Training", error.name or "torch", "train") from error

    if plan:
        if loaded is None:
            raise typer.BadParameter("name a recipe", param_hint="RECIPE")
        vocabulary, words = expected_vocabulary(loaded)
        show_plan(loaded, estimate(loaded, vocabulary, devices, accumulate), words, devices, rate)
        return
    launch = Launch(device, workers, accumulate=accumulate, quiet=quiet)
    state = run_recipe(loaded, output, resume, max_seconds, init=init, first_stage=from_, launch=launch)
    if first:
        typer.echo(
            json.dumps({"run": str(output), "finished": state.finished, "seconds": round(state.seconds, 1)})
        )
