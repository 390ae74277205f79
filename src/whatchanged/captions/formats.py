"""``caption --format``: write the output in a common format of captions, after all lines of the run are
written.
"""

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
        """Return the path of the file with the lines of the run.

        This file is the output itself, or a file beside the output. Raises OutputError if the path of the
        output has no file name, such as ``/``.
        """
        if self.form == "ours":
            return self.path
        if not self.path.name:
            raise OutputError(f"{self.path}: this output has no name of its own. Name another one.")
        return self.path.with_name(f"{self.path.name}.lines.jsonl")

    def check(self, others: Sequence[Path], replace: bool) -> None:
        """Check that the files can be written and that none of the files is one of the ``others``.

        Raises OutputError.
        """
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
        """Write the captions in the requested format, after all lines are written.

        records: the records of the data set.
        """
        if self.form == "ours":
            return
        from whatchanged.evaluation.io.predictions import read_predictions
        from whatchanged.evaluation.io.results import write_results

        known = {record.pair_id: record for record in records}
        results = [(known[said.pair_id], said) for said in read_predictions(self.lines)]
        write_results(self.path, self.form, results)
