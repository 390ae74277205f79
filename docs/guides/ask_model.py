"""Asks a vision-language model on this machine what changed in each pair, and writes predictions.

    python ask_model.py PAIRS OUT.jsonl --split test --url http://127.0.0.1:8080/v1/chat/completions

PAIRS: a data set's folder or a list of pairs. The server speaks OpenAI's chat form (llama.cpp, vLLM, Ollama).
It goes on where it was stopped. Pictures are sent to this machine alone, unless --anywhere is given.
"""

import argparse
import base64
import io
import json
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from whatchanged.datasets import open_dataset
from whatchanged.images import open_image

LOCAL = ("127.0.0.1", "::1", "localhost")
QUESTION = (
    "The first picture was taken before, the second after. Say in one short sentence what changed. "
    "If nothing but the viewpoint or the light changed, answer: there is no change"
)


def data_url(path: Path) -> dict[str, object]:
    """A picture as part of a message, as PNG within a data URL."""
    buffer = io.BytesIO()
    open_image(path).save(buffer, "PNG")
    coded = base64.b64encode(buffer.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{coded}"}}


def ask(url: str, model: str, before: Path, after: Path) -> str:
    """The model's sentence about a pair. Raises OSError or ValueError where there is no usable answer."""
    content = [{"type": "text", "text": QUESTION}, data_url(before), data_url(after)]
    body = {"model": model, "temperature": 0, "messages": [{"role": "user", "content": content}]}
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with build_opener(ProxyHandler({})).open(request, timeout=600) as answer:  # and through no proxy
        told = json.load(answer)
    try:
        sentence = told["choices"][0]["message"]["content"].rpartition("</think>")[2]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"not an answer in OpenAI's chat form: {str(told)[:200]}") from error
    return " ".join(sentence.split())


def main() -> None:
    """Every pair that has no line in the output yet is asked about, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pairs")
    parser.add_argument("out", type=Path)
    parser.add_argument("--split", default="all")
    parser.add_argument("--url", default="http://127.0.0.1:8080/v1/chat/completions")
    parser.add_argument("--model", default="default")
    parser.add_argument("--anywhere", action="store_true", help="let pictures leave this machine")
    given = parser.parse_args()
    if urlsplit(given.url).hostname not in LOCAL and not given.anywhere:
        parser.error(f"{given.url} is not on this machine; pictures are sent there only with --anywhere")
    lines = given.out.read_text(encoding="utf-8").splitlines() if given.out.exists() else []
    done = {json.loads(line)["id"] for line in lines}
    with given.out.open("a", encoding="utf-8") as out:
        for record in open_dataset(given.pairs, split=given.split).records:
            if record.after is None or record.pair_id in done:
                continue
            try:
                caption = ask(given.url, given.model, record.before, record.after)
            except (URLError, OSError, ValueError) as error:
                raise SystemExit(f"{record.pair_id}: {error}. The same command goes on from here.") from error
            out.write(json.dumps({"id": record.pair_id, "caption": caption}) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
