"""The answer for a pair: a model's sentence where one knows the pictures, else what was measured."""

from whatchanged.answers.answer import MEASURED, Answer, AnswerVerdict
from whatchanged.answers.answerer import Answerer, describe

__all__ = ["MEASURED", "Answer", "AnswerVerdict", "Answerer", "describe"]
