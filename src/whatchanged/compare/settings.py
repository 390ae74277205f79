"""How closely the pairs of one comparison are looked at."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.compare.ignore import Ignored
from whatchanged.measured.measure import check_sensitivity
from whatchanged.measured.signature import LENGTH


@dataclass(frozen=True)
class Settings:
    """What an answer depends on beside the pictures.

    model        the model that answers in any case; None: whichever knows the pictures, else the measurement
    sensitivity  2 finds differences half as strong as 1 does
    strict       every pixel that differs is a change
    ignored      places in which differences do not count
    read_text    text that changed is quoted where it is read beyond doubt
    """

    model: str | None = None
    sensitivity: float = 1.0
    strict: bool = False
    ignored: tuple[Ignored, ...] = ()
    read_text: bool = False

    def __post_init__(self) -> None:
        check_sensitivity(self.sensitivity)

    def identity(self) -> dict[str, Any]:
        """What stored answers must share to be used again; ignored boxes count pair by pair."""
        from whatchanged import __version__

        model = self.model
        if model is not None and Path(model).is_dir():
            card = Path(model) / "bundle.json"
            model = f"{Path(model).resolve()} {card.stat().st_mtime_ns if card.is_file() else ''}"
        return {
            "whatchanged": __version__,
            "signature": LENGTH,
            "model": model,
            "sensitivity": self.sensitivity,
            "strict": self.strict,
            "read_text": self.read_text,
        }
