"""Makes the page of the shipped models: their cards, and what they must not be used for."""

from whatchanged.captioner.bundle import DEFAULT, open_bundle, shipped

HEAD = """# The shipped models and their limits

The base install contains {count}. They know drawn scenes of cubes, spheres and cylinders. `{default}` is used
unless `--model` names another one. See [who answers](../captioning.md#who-answers) for when a model is used
at all. `whatchanged models` lists the models and checks their files. See [results](../results/clevr.md) for
how good they are. Below is the card from each model's folder.

"""


def models_page() -> str:
    """The cards of all shipped models, one section each."""
    names = sorted(shipped(), key=lambda name: name != DEFAULT)  # the default first
    count = "one model" if len(names) == 1 else f"{len(names)} models"
    return HEAD.format(count=count, default=DEFAULT) + "\n".join(map(_section, names))


def _section(name: str) -> str:
    """One card without its head for model hubs, its headings one level down."""
    text = (open_bundle(name).folder / "README.md").read_text(encoding="utf-8")
    _, _, body = text.removeprefix("---\n").partition("\n---\n")
    lines = [f"#{line}" if line.startswith("#") else line for line in body.strip().splitlines()]
    return "\n".join(lines) + "\n"
