"""The script of docs/guides/vision-language-models.md, against a made-up server on this machine."""

import base64
import io
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from PIL import Image

SCRIPT = Path(__file__).parents[2] / "docs" / "guides" / "ask_model.py"
COLORS = [(200, 20, 20), (20, 200, 20), (20, 20, 200)]


@pytest.fixture
def pairs(tmp_path):
    """Three pairs: the picture before is grey, the one after has the pair's color."""
    lines = ["id,before,after,split,captions"]
    for number, color in enumerate(COLORS):
        for name, fill in ((f"{number}-a.png", (128, 128, 128)), (f"{number}-b.png", color)):
            Image.new("RGB", (24, 16), fill).save(tmp_path / name)
        lines.append(f"pair{number},{number}-a.png,{number}-b.png,test,it is {color[0]} red now")
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "pairs.csv"


class Model(BaseHTTPRequestHandler):
    """Says how red the second picture is. Fails from the request on that the server's ``limit`` names."""

    def do_POST(self):
        self.server.asked += 1
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, *pictures = asked["messages"][0]["content"]
        assert text["type"] == "text" and asked["temperature"] == 0 and asked["model"] == "tiny"
        shown = [_picture(part["image_url"]["url"]).getpixel((0, 0)) for part in pictures]
        assert len(shown) == 2 and shown[0] == (128, 128, 128)
        sentence = f"<think>hm,\nwhat?</think>\n it is {shown[1][0]}\n red now "
        told = {"choices": [{"message": {"content": sentence}}]}
        if self.server.asked > self.server.limit:
            told = {"error": "out of memory"}
        answer = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Nothing on stderr."""


def _picture(url):
    head, _, coded = url.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(coded)))


@pytest.fixture
def server():
    made = HTTPServer(("127.0.0.1", 0), Model)
    made.asked, made.limit = 0, 100
    thread = Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(pairs, out, *options):
    """The script in a process of its own, with a proxy in the environment that it must not use."""
    environment = {**os.environ, "http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, str(SCRIPT), str(pairs), str(out), "--model", "tiny", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def url(server):
    return f"http://127.0.0.1:{server.server_port}/v1/chat/completions"


def test_every_pair_is_asked_about_and_evaluate_reads_the_answers(pairs, server, tmp_path, whatchanged):
    out = tmp_path / "vlm.jsonl"
    server.limit = 2
    stopped = ask(pairs, out, "--url", url(server), "--split", "test")
    assert stopped.returncode == 1 and "pair2: not an answer" in stopped.stderr
    assert "out of memory" in stopped.stderr and len(out.read_text().splitlines()) == 2
    server.limit = 100
    assert ask(pairs, out, "--url", url(server), "--split", "test").returncode == 0
    assert server.asked == 4  # two, the one that failed, and that again
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines == [{"id": f"pair{n}", "caption": f"it is {c[0]} red now"} for n, c in enumerate(COLORS)]
    code, printed, err = whatchanged(
        *("evaluate", out, pairs, "--split", "test", "--no-meteor", "--no-java", "--resamples", "0"),
        *("--json", tmp_path / "scores.json"),
    )
    assert code == 0, err
    assert "overall" in printed
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["overall"]["BLEU-4"] == pytest.approx(100)


def test_pictures_stay_on_this_machine(pairs, tmp_path):
    refused = ask(pairs, tmp_path / "vlm.jsonl", "--url", "http://example.com/v1/chat/completions")
    assert refused.returncode == 2 and "not on this machine" in refused.stderr
    assert not (tmp_path / "vlm.jsonl").exists()


def test_a_server_that_is_not_there_is_named(pairs, server, tmp_path):
    gone = url(server).replace(str(server.server_port), "9")
    stopped = ask(pairs, tmp_path / "vlm.jsonl", "--url", gone)
    assert stopped.returncode == 1 and "pair0: " in stopped.stderr and "goes on from here" in stopped.stderr
