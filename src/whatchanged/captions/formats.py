"""``caption --format``: write the output in a format of the field, after all lines of the run are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from whatchanged.errors import OutputError
from whatchanged.links import check_link
from whatchanged.outputs import check_output, check_outputs

if TYPE_CHECKING:
    from whatchanged.records import PairRecord

Form = Literal["ours", "coco", "two-files", "pcl"]


@dataclass(frozen=True)
class Results:
    """The requested output: its path and its format."""

    path: Path
    form: Form

    @property
    def lines(self) -> Path:
        """Return the file of the run's lines: the output itself, or a file beside it.

        Raises OutputError where no file can lie beside the output, because it has no name of its own.
        """
        if self.form == "ours":
            return self.path
        if not self.path.name:
            raise OutputError(f"{self.path}: this output has no name of its own. Name another one.")
        return self.path.with_name(f"{self.path.name}.lines.jsonl")

    def check(self, others: Sequence[Path], replace: bool) -> None:
        """Check that the files can be written and are none of the others. Raises OutputError."""
        if self.form == "ours":
            return
        from whatchanged.evaluation.io.results import results_paths

        if self.form == "two-files" and self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path}: --format two-files writes a folder, this is a file.")
        check_link(self.path)
        for path in results_paths(self.path, self.form):
            if path.parent.is_dir():
                check_output(path, replace, "--resume to continue or --force to replace it")
                check_outputs([path], others)

    def check_pairs(self, records: "Sequence[PairRecord]") -> None:
        """Check that the format fits the pairs. Raises OutputError."""
        if self.form != "ours":
            from whatchanged.evaluation.io.results import check_kinds

            check_kinds(self.form, records)

    def write(self, records: "Sequence[PairRecord]") -> None:
        """Write the captions after all lines are written; ``records`` are those of the data set."""
        if self.form == "ours":
            return
        from whatchanged.evaluation.io.predictions import read_predictions
        from whatchanged.evaluation.io.results import write_results

        known = {record.pair_id: record for record in records}
        results = [(known[said.pair_id], said) for said in read_predictions(self.lines)]
        write_results(self.path, self.form, results)
