"""The commands, without starting Java a hundred times: METEOR has tests of its own."""

import pytest


@pytest.fixture(autouse=True)
def no_java(monkeypatch):
    monkeypatch.setenv("WHATCHANGED_JAVA", "/no/such/java")
