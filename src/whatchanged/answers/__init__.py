"""The answer for a pair: a model's caption where a model was trained on such pictures, else the measured
answer.
"""

from whatchanged.answers.answer import MEASURED, Answer, AnswerVerdict
from whatchanged.answers.answerer import Answerer, describe

__all__ = ["MEASURED", "Answer", "AnswerVerdict", "Answerer", "describe"]
