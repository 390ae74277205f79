"""From a run to similarities: every caption of a data set's changed pairs against each of these pairs."""

from pathlib import Path

from torch import nn

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, OutputError, RecipeError
from whatchanged.evaluation.retrieval import Similarity, write_similarity
from whatchanged.training.batches import Example
from whatchanged.training.data.pictures import reader
from whatchanged.training.run_folder import checkpoint_file, choose_device, open_run, read_recipe
from whatchanged.training.validation import similarity


def retrieve_run(
    run: Path, dataset: Path, output: Path, split: str = "all", device: str = "auto", checkpoint: str = "auto"
) -> Similarity:
    """Write the similarities of the run's method on a data set; pairs known as unchanged are left out.

    checkpoint: as in ``checkpoint_file``, but "auto" is the best of the retrieval stage where that was kept.
    Raises RecipeError for a run whose method has no retrieval, DatasetError where no captioned pair is left,
    OutputError where ``output`` or the names beside it exist.
    """
    if output.suffix != ".npy":
        raise OutputError(f"{output}: the similarities are a NumPy array. Choose a name that ends in .npy.")
    for file in (output, output.with_suffix(".json")):
        if file.exists():
            raise OutputError(f"{file}: exists already. Choose another name.")
    recipe, method, _ = open_run(run, adapted(run) if checkpoint == "auto" else checkpoint)
    if getattr(recipe.method, "variant", "") in ("ft1", "ft2"):
        raise RecipeError(f"{run}: a baseline has no retrieval stage. Name a run of clip4idc.")
    found = open_dataset(dataset, split=split, pictures=recipe.vision.kind != "features")
    records = [r for r in found.records if r.captions and r.changed is not False]
    if not records:
        raise DatasetError(f"{dataset}: no captioned pair with a change in split {split}.")
    read, where = reader(recipe.vision, recipe.data.features, dataset), choose_device(device)
    assert isinstance(method, nn.Module)
    method.to(where)

    def example(index: int) -> Example:
        record = records[index]
        after = record.before if record.after is None else record.after
        return Example(record, record.captions[0], read(record.before), read(after))

    captioned = ((example(i), record.captions) for i, record in enumerate(records))
    made = similarity(method, captioned, where)
    write_similarity(output, made)
    return made


def adapted(run: Path) -> str:
    """The name of the run's last retrieval stage whose best checkpoint was kept; "auto" without one."""
    stages = [stage.name for stage in read_recipe(run).stages[:-1] if "retrieval" in stage.tasks]
    return next((name for name in reversed(stages) if checkpoint_file(run, name).is_file()), "auto")
