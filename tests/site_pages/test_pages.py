"""The pages of models and metrics."""

import json
import re

from site_pages.metrics import metrics_page
from site_pages.models import models_page

from whatchanged.captioner.bundle import shipped


def test_every_shipped_models_card_is_there_without_its_head_for_hubs():
    page = models_page()
    for name in shipped():
        assert f"\n## {name}\n" in page
    assert "What it cannot do" in page and "pipeline_tag" not in page and "\n---\n" not in page


def test_the_signature_is_that_of_a_report():
    page = metrics_page()
    (text,) = re.findall(r"```json\n(.*?)```", page, re.S)
    signature = json.loads(text)
    assert signature["tokenizer"] == "ptb" and signature["pairs"] == {"overall": 2}
    assert signature["references_per_pair"] == {"min": 1, "mean": 1.5, "max": 2}
    (line,) = re.findall(r"```text\n(.*?)\n```", page, re.S)
    assert "tokenizer ptb" in line and "1-2 references a pair" in line
