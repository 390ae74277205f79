"""The commands without Java, and without METEOR's large table: both have tests of their own."""

import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics.meteor import tables


@pytest.fixture(autouse=True)
def no_java(monkeypatch):
    monkeypatch.setenv("WHATCHANGED_JAVA", "/no/such/java")


@pytest.fixture(autouse=True)
def no_meteor(monkeypatch):
    def missing(metric):
        raise MetricUnavailable(f"{metric}: left out of the tests of commands.")

    monkeypatch.setattr(tables, "reference_package", missing)
