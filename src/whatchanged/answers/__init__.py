"""The answer for a pair: a model's sentence where one knows the pictures, else what was measured."""

from whatchanged.answers.answer import MEASURED, Answer, Verdict
from whatchanged.answers.answerer import Answerer

__all__ = ["MEASURED", "Answer", "Answerer", "Verdict"]
