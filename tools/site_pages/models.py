"""The page of the shipped models: their cards, and what they must not be used for."""

from whatchanged.captioner.bundle import DEFAULT, open_bundle, shipped

HEAD = """# The shipped models and their limits

The base install brings {count}. They know drawn scenes of cubes, spheres and cylinders, and `{default}` is
the one that is asked unless `--model` names another. When a model is asked at all: [who
answers](../captioning.md#who-answers). `whatchanged models` lists the models and checks their files. How good
they are: [results](../results/clevr.md). Below is each model's card, as it lies in the model's folder.

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
