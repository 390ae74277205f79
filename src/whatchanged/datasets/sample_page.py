"""One self-contained HTML page of a data set: its counts, and sample pairs with all that is known of them.

Everything that comes from the data set is escaped. Pictures are embedded as small JPEGs, and the page's own
policy forbids scripts and anything from outside.
"""

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path

from whatchanged.datasets import Dataset
from whatchanged.datasets.published import unit
from whatchanged.datasets.reading import SPLITS
from whatchanged.datasets.statistics import Summary
from whatchanged.errors import ImageError
from whatchanged.images import open_image
from whatchanged.records import Box, PairRecord

THUMBNAIL = 320
"""Pixels of the longer side."""

MOST_CAPTIONS = 12

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1120px;padding:24px;color:#1c1e21;
background:#f4f5f7}
h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:32px 0 12px}p{margin:4px 0 16px;color:#555}
table{border-collapse:collapse;background:#fff;width:100%}
th,td{padding:6px 10px;border-bottom:1px solid #e3e5e8;text-align:right}
th:first-child,td:first-child{text-align:left}
.pairs{display:grid;grid-template-columns:repeat(auto-fill,minmax(500px,1fr));gap:16px}
article{background:#fff;border:1px solid #e3e5e8;border-radius:8px;padding:14px;overflow-wrap:anywhere}
h3{font-size:14px;margin:0 0 8px}.badge{font-weight:500;background:#e8eef9;color:#1d4f9e;border-radius:10px;
padding:1px 9px;margin-left:6px}.badge.none{background:#eee;color:#555}
.views{display:flex;gap:8px}figure{flex:1;margin:0;min-width:0;max-width:320px}figcaption{font-size:12px;color:#666}
.view{position:relative;line-height:0}.view img{width:100%;border-radius:4px;background:#ddd}
.box{position:absolute;border:2px solid #f5a623;border-radius:2px;box-sizing:border-box}
.gone{font-size:13px;line-height:1.4;background:#fbe9e7;color:#8c2f1c;padding:18px;border-radius:4px}
ol{margin:10px 0 0;padding-left:22px}li{margin:2px 0}.facts{font-size:12px;color:#666;margin:8px 0 0}
"""


def sample_page(dataset: Dataset, summaries: Sequence[Summary], samples: int = 12) -> str:
    """The page; ``samples`` pairs a split, spread evenly over it in the order of the records."""
    title = f"{dataset.name}: {len(dataset.records):,} {unit(dataset.records)}"
    body = [f"<h1>{html.escape(title)}</h1>", f"<p>{html.escape(str(dataset.root))}</p>", _table(summaries)]
    report = dataset.report
    remarks = [*report.differences, *report.notes, *(f"left out: {text}" for text in report.damaged[:20])]
    if report.missing:
        remarks.append(f"missing pictures: {len(report.missing):,}, left out for it: {len(report.skipped):,}")
    if remarks:
        body.append("<h2>To know</h2><ul>" + "".join(f"<li>{html.escape(r)}</li>" for r in remarks) + "</ul>")
    for split in SPLITS:
        records = [record for record in dataset.records if record.split == split]
        chosen = spread(records, samples)
        if chosen:
            body.append(f"<h2>{split}: {len(chosen)} of {len(records):,}</h2>")
            body.append(f'<div class="pairs">{"".join(_pair(r, dataset.class_names) for r in chosen)}</div>')
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def spread(records: Sequence[PairRecord], most: int) -> list[PairRecord]:
    """At most ``most`` records at even distances, the middle of each stretch."""
    if len(records) <= most:
        return list(records)
    return [records[(2 * i + 1) * len(records) // (2 * most)] for i in range(most)]


def _table(summaries: Sequence[Summary]) -> str:
    head = ("split", "records", "groups", "captions", "captions each", "words a caption", "different words")
    rows = [
        (
            s.split,
            f"{s.pairs:,}",
            f"{s.groups:,}",
            f"{s.captions:,}",
            f"{s.captions_a_pair.least} - {s.captions_a_pair.most} (mean {s.captions_a_pair.mean:.1f})",
            f"{s.words_a_caption.least} - {s.words_a_caption.most} (mean {s.words_a_caption.mean:.1f})",
            f"{s.vocabulary:,}",
        )
        for s in summaries
    ]
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{cells}</table>"


def _pair(record: PairRecord, class_names: Sequence[str]) -> str:
    kind = record.change_type or {True: "changed", False: "none", None: None}[record.changed]
    badge = (
        f'<span class="badge{" none" if kind == "none" else ""}">{html.escape(kind)}</span>' if kind else ""
    )
    views = [_view("picture" if record.after is None else "before", record.before, record.boxes[0])]
    if record.after is not None:
        views.append(_view("after", record.after, record.boxes[1]))
    captions = "".join(f"<li>{html.escape(caption)}</li>" for caption in record.captions[:MOST_CAPTIONS])
    facts = []
    if len(record.captions) > MOST_CAPTIONS:
        facts.append(f"{len(record.captions) - MOST_CAPTIONS} more captions")
    if record.labels is not None:
        named = all(0 <= label < len(class_names) for label in record.labels)
        facts.append("class " + ", ".join(class_names[i] if named else str(i) for i in record.labels))
    if record.same_class is not None:
        facts.append("same class" if record.same_class else "different classes")
    if record.viewpoint_iou is not None:
        facts.append(f"overlap of the views {record.viewpoint_iou:.2f}")
    facts += [f"{key}: {value}" for key, value in record.extra.items()]
    return (
        f"<article><h3>{html.escape(record.pair_id)}{badge}</h3>"
        f'<div class="views">{"".join(views)}</div>'
        + (f"<ol>{captions}</ol>" if captions else "<p>no captions</p>")
        + (f'<p class="facts">{html.escape("; ".join(facts))}</p>' if facts else "")
        + "</article>"
    )


def _view(role: str, path: Path, box: Box | None) -> str:
    """A thumbnail with the box of what changed; a message where the picture cannot be read."""
    try:
        image = open_image(path)
    except ImageError as error:
        reason = html.escape(str(error))
        return f'<figure><div class="gone">{reason}</div><figcaption>{role}</figcaption></figure>'
    width, height = image.size
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=80)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    frame = ""
    if box is not None:
        x, y, w, h = box
        frame = (
            f'<div class="box" style="left:{100 * x / width:.2f}%;top:{100 * y / height:.2f}%;'
            f'width:{100 * w / width:.2f}%;height:{100 * h / height:.2f}%"></div>'
        )
    return (
        f'<figure><div class="view"><img alt="{role}" src="data:image/jpeg;base64,{data}">{frame}</div>'
        f"<figcaption>{role}: {html.escape(path.name)}</figcaption></figure>"
    )
