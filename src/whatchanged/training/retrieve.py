"""Computes, with a run's method, the similarity of each caption and each pair among the changed pairs of a
data set.
"""

from dataclasses import replace
from pathlib import Path

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import preparation
from whatchanged.errors import DatasetError, OutputError, RecipeError
from whatchanged.evaluation.io.similarity import Similarity, is_names, write_similarity
from whatchanged.launch import USUAL, Launch
from whatchanged.training.batches import read_examples
from whatchanged.training.data.captions import prepare
from whatchanged.training.data.examples import DatasetSource
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.device import choose_device
from whatchanged.training.run_folder import checkpoint_file, open_run, read_recipe
from whatchanged.training.validation import similarity


def retrieve_run(
    run: Path,
    dataset: Path,
    output: Path,
    split: str = "all",
    checkpoint: str = "auto",
    launch: Launch = USUAL,
) -> Similarity:
    """Write the similarities that a run's method computes on a data set. Pairs known to be unchanged are left
    out.

    checkpoint: as in ``checkpoint_file``, except that "auto" is the retrieval stage's best checkpoint if it
    exists.
    launch: only ``launch.device`` is used. Raises RecipeError for a run whose method has no retrieval, and
    DatasetError where no captioned pair is left. Raises OutputError where ``output`` exists, or where a
    ``.json`` file with the name of ``output`` exists and does not list pairs. If a killed command left the
    list of pairs without the matrix, the list is written anew.
    """
    if output.suffix != ".npy":
        raise OutputError(f"{output}: the similarities are a NumPy array. Choose a name that ends in .npy.")
    names = output.with_suffix(".json")
    for file in (output, names):
        if file.exists() and not (file == names and is_names(names)):
            raise OutputError(f"{file}: exists already. Choose another name.")
    recipe, method, _ = open_run(run, adapted(run) if checkpoint == "auto" else checkpoint)
    if not recipe.method.embeds_captions:
        raise RecipeError(
            f"{run}: its method does not embed captions. Name a run of one that does (clip4idc)."
        )
    if not recipe.data.on_disk:
        raise RecipeError(f"{run}: it was trained on a pool. Name a run that was trained on a data set.")
    found = open_dataset(dataset, split=split, pictures=not recipe.vision.stored)
    records = [r for r in found.records if r.captions and r.changed is not False]
    if not records:
        raise DatasetError(f"{dataset}: no captioned pair with a change in split {split}.")
    read, where = picture_reader(recipe.vision, recipe.data.stored, dataset), choose_device(launch.device)
    method.to(where)
    words = preparation(recipe.data.preparation)
    prepared = [prepare(record, words) for record in records]
    source = DatasetSource(prepared, [(i, 0) for i in range(len(prepared))], read, {})
    examples = read_examples(source, range(len(source)))
    made = similarity(method, ((example, example.record.captions) for example in examples), where)
    made = replace(made, texts=tuple(caption for record in records for caption in record.captions))
    write_similarity(output, made)
    return made


def adapted(run: Path) -> str:
    """Return the name of the run's last retrieval stage with a saved best checkpoint, or "auto" if no such
    stage exists.
    """
    stages = [stage.name for stage in read_recipe(run).stages[:-1] if "retrieval" in stage.tasks]
    return next((name for name in reversed(stages) if checkpoint_file(run, name).is_file()), "auto")
