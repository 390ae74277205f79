"""Read the file of a drawn data set that describes the bird in each picture."""

from pathlib import Path

from whatchanged.errors import DatasetError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.worlds.birds.bird import Bird, bird_from_json

TRUTH = "birds.json"


def read_truth(root: Path) -> dict[str, Bird]:
    """Return the bird of each picture by file name; {} if the data set does not show this world.

    Raises DatasetError if the file cannot be read or an entry does not describe a bird.
    """
    path = root / TRUTH
    if not path.is_file():
        return {}
    try:
        found = read_json(read_regular_text(path))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: not JSON ({error}). Copy or draw the set again.") from error
    if not isinstance(found, dict):
        raise DatasetError(f"{path}: wanted an object of pictures' names and birds.")
    birds = {}
    for name, looks in found.items():
        try:
            birds[name] = bird_from_json(looks)
        except ValueError as error:
            raise DatasetError(f"{path}: {name!r} is no bird ({error}).") from error
    return birds
