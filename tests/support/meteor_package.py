"""A folder like the reference package's, with small tables."""

import gzip
import zipfile


def make_package(folder, senses, paraphrases):
    """``folder/meteor`` as ``tables.read_tables`` reads it. ``paraphrases``: pairs of phrases."""
    (folder / "meteor" / "data").mkdir(parents=True)
    with zipfile.ZipFile(folder / "meteor" / "meteor-1.5.jar", "w") as jar:
        jar.writestr("nonbreaking/english.prefixes", "#comment\n\nMr\nNo #NUMERIC_ONLY#\n")
        jar.writestr("function/english.words", "the\nof\n")
        jar.writestr("synonym/english.synsets", "".join(f"{w}\n{n}\n" for w, n in senses.items()))
        jar.writestr("synonym/english.exceptions", "mouse\nmice\n")
    write_paraphrases(folder / "meteor" / "data" / "paraphrase-en.gz", sorted(paraphrases))


def write_paraphrases(path, entries):
    """The table at ``path``, which is returned."""
    lines = "".join(f"0.5\n{one}\n{other}\n" for one, other in entries)
    path.write_bytes(gzip.compress(lines.encode()))
    return path
