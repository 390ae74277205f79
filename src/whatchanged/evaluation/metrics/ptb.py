"""The Penn Treebank tokeniser of the COCO caption evaluation: lower case, most punctuation removed.

A port of the observed behaviour of the Java tokenizer (CoreNLP 3.4.1 with ``-preserveLines -lowerCase``). As
in a generated lexer, every rule is tried at a position and the longest match wins; text that a rule requires
after its token counts towards that length. The tokenizer's peculiarities are reproduced, because published
scores depend on them: brackets become ``-lrb-``, ``gone.The`` is one word, ``??`` is a word. One is not
reproduced: a line break inside a caption counts as a blank here, whereas the COCO wrapper would assign all
later captions to the wrong pair.
"""

import re
from functools import lru_cache

_L = r"[^\W\d_²³¹¼-¾⅐-⅞]"  # a letter of any script
_W = r"[^\W_²³¹¼-¾⅐-⅞]"  # a letter or a digit
_A = "['’]"  # apostrophes, and with opening quotes:
_Q = "['’‘`]"

_ENDINGS = (
    "al ala apr ariz assn aug bancorp bhd bldg blvd bros calif co colo conn corp cos ct dak dec esq est etc "
    "ext feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn mo mon mont neb nev "
    "nov oct okla penn plc ppte ppty pte ptes pty ptys rd rt sep sept seq sq sr sys tel tenn thu thurs tue "
    "tues univ va vt wed wis wisc wyo"
)
_TITLES = (
    "adj adm adv alex assoc asst atty ave brig capt cf cie cmdr col comdr cpl dept det dr drs elec ens ft "
    "gen gov govs hon insp invt jos lieut lt maj messrs mfg mlle mme mr mrs ms msgr mt mtg natl pfc ph pres "
    "prof profs pvt rep reps rev sen sens sfc sgt spc st ste supt vs wm"
)
"""Abbreviations. Those of the first kind end a word even where a letter follows directly."""
_CAPITALISED = "Ark Az Del Ill La Mass Miss Ore Pa Tex Wash ARK AZ DEL ILL LA MASS MISS ORE PA TEX WASH"
_FILES = (
    "bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt "
    "ps py sql tar txt wav x xml zip"
)
_OPENINGS = (
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More "
    "Now Once One Other Our She Since So Some Such That The Their Then There These They This We What When "
    "While Yet You"
)
"""Before one of these words, the dot after a single letter ends a sentence and is dropped."""
_BEFORE_NUMBERS = "art ca fig figs no nos op pp prop"
_JOINED = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3}
"""Words that are split in two: the number of letters of the first part."""


def _any(words: str) -> str:
    return "|".join(words.split())


_NUMBER = r"(?:\d*(?:[.:,]\d+)+|\d+)"
_MAIL = r"\s\"<>|(){}"  # not in an address
_IN_URL, _ENDS_URL = r"\s\"<>|()", r"\s\"<>|.!?(){},-"  # not in a URL; not its last character
_HOST = rf"(?:www\.(?:[^{_ENDS_URL}]+\.)+[A-Za-z]{{2,4}}|(?:[^{_ENDS_URL}`'_$]+\.)+(?:com|net|org|edu))"
_FACE = r"[<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]]"
_EASTERN_FACE = r"[-^x=~<>']_[-^x=~<>']|\([-^x=~<>'][_.]?[-^x=~<>']\)|\([-^x=~<>']-[-^x=~<>'`]\)"
_ENTITY = (
    "[AEIOUaeiou](?:acute|grave|uml)|(?i:amp|lt|gt|quot)|apos|nbsp|[mn]dash|MD|HT|TL|[UL]R|[OC]DQ|Q[CLR]"
)
_NAME = "[A-Za-z0-9_:.-]"  # in the names of markup
_MARKUP = (
    rf"<[!?][A-Za-z-][^>]*>|</[A-Za-z]{_NAME}*\s*>|"
    rf"<[A-Za-z]{_NAME}*(?:\s+[A-Za-z]{_NAME}*(?:\s*=\s*(?:'[^']*'|\"[^\"]*\"))?)*\s*/?\s*>"
)
_SLASHED = r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
_RULES = tuple(
    re.compile(rule)
    for rule in (
        # Group 1 is the token; of two rules that match equally far the first wins.
        # Apostrophes: n't, clitics, words that contain one.
        r"([A-Za-z]+)(?i:n['’‘`]t)",
        rf"((?i:n['’‘`]t){_L}*)",
        rf"({_A}(?i:[sdm]|re|ve|ll))(?![A-Za-z])",
        r"(’(?i:[sdm]|re|ve|ll))",
        rf"({_L}{_W}*(?:[.!?]{_L}{_W}*)*){_A}(?i:[sdm]|re|ve|ll)",
        rf"((?:{_W}+[-_])*(?i:[dol]){_Q}{_W}{{2,}}(?:[-_]{_W}+)*)",
        rf"([A-HJ-XZn]{_Q}{_L}{{2,}}|{_L}+[aeiouyAEIOUY]{_Q}[aeiouA-Z]{_L}*|[oO]{_Q}[oO])",
        rf"((?i:n?e{_A}er|nor{_A}easter|li{_A}l|qu{_A}{_L}+|c'mon|ma{_A}am|ev{_A}ry|s{_A}mores|cont{_A}d\.|somethin{_A}|dunkin{_A}|nat{_A}l|ol{_A}|[dlj]{_A}))",
        rf"((?i:[jy]{_A}))(?i:{_L})",
        rf"({_A}[nN]{_A})",
        rf"((?i:{_A}(?:em|till?|cause)))",
        rf"((?i:{_A}n))(?:\s|$)",
        rf"({_A}[2-9]0[sS])",
        rf"({_A}\d\d)(?:\s|$)",
        r"((?i:'t))(?i:is|was)",
        rf"((?i:more))(?i:{_A}n)(?![\w.])",
        *(rf"((?i:{word[:cut]}))(?i:{word[cut:]})(?!{_W}|{_A}{_L})" for word, cut in _JOINED.items()),
        # Numbers, fractions, currencies.
        rf"([-+±]?{_NUMBER})",
        r"([A-Za-z0-9][A-Za-z0-9.,]*(?:-(?:[A-Za-z](?:\.[A-Za-z])+\.|[A-Za-z0-9]+))+)",
        r"((?:\d+[- \u00a0])?\d+/\d+)",
        r"([A-Z]+\$)",
        # Dots that are kept.
        rf"((?i:ph\.d|{_any(_ENDINGS)}|{_any(_TITLES)})\.)",
        rf"((?:{_any(_CAPITALISED)})\.)",
        rf"((?i:{_any(_BEFORE_NUMBERS)})\.)\s?\d",
        r"([A-Za-z](?:\.[A-Za-z])*\.)",
        rf"(({_W}+(?:[-_]{_W}+)*|{_L}{_W}*(?:[.!?]{_L}{_W}*)*)\.)[,;:]",
        rf"([A-Za-z])\.\s+(?:(?:{_any(_OPENINGS)})(?:\s|$)|{_MARKUP})",
        rf"((?i:ph\.d|{_any(_ENDINGS)})\.){_L}",
        rf"((?:{_any(_CAPITALISED)})\.){_L}",
        # The net, markup, smileys.
        rf"((?i:https?://)[^{_IN_URL}]+[^{_ENDS_URL}]|{_HOST}(?:/[^{_IN_URL}]+[^{_ENDS_URL}])?)",
        rf"(<?[A-Za-z0-9][^{_MAIL}]*@(?:[^.{_MAIL}]+\.)*[^.{_MAIL}]+>?)",
        rf"(@[A-Za-z_][A-Za-z_0-9]*|#{_L}+|#+|@+|[CcFf]#|[Cc]\+\+|_+|(?:\\?\*)+|<<|>>|&(?:#\d+|{_ENTITY});)",
        rf"({_MARKUP})",
        rf"({_FACE})(?![A-Za-z0-9])",
        rf"({_EASTERN_FACE})",
        # Words run across . ! ? without a blank, hyphens, underscores and slashes.
        rf"({_L}{_W}*(?:[.!?]{_L}{_W}*)*)",
        rf"({_W}+)",
        rf"({_W}+(?:[-_‐‑]{_W}+)+)",
        rf"([A-Za-z](?:\.[A-Za-z])+\.(?:-{_W}+)+)",
        rf"({_SLASHED}(?:\\?/{_SLASHED}){{1,2}})",
        r"([A-Z]+(?:(?:[+&]|&amp;)[A-Z]+)+)",
        rf"({_W}+(?:\.{_W}+)*\.(?i:{_any(_FILES)}))(?:[\s.?!,]|$)",
        # Runs of punctuation, and any single character.
        r"([!?]{2,}|--+|\.{3,}|''|``)",
        r"(\S)",
    )
)

_VANISHED = re.compile(r"[.,:;?!\-–—―‐‑…'’‘‛`\"“”„«»‹›]|--+|\.{3,}|''|``|&(?i:quot|apos|nbsp|[mn]dash|MD);")
_SPELLED = {
    "(": "-lrb-",
    ")": "-rrb-",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
    "€": "$",
    "¤": "$",
    "£": "#",
    "¢": "cents",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "⅓": "1/3",
    "⅔": "2/3",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
}
_SMILEY = re.compile(f"{_FACE}|{_EASTERN_FACE}")
_BLANK = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\U00010000-\U0010ffff]")
_ACROSS_BLANKS = re.compile(r"[<\d]|(?<![A-Za-z])[A-Za-z]\.\s")
"""Where one of these occurs, a token may contain a blank or depend on what follows one: markup, mixed
fractions, "no. 5"."""


def ptb(caption: str) -> str:
    """Return the caption's words, separated by single blanks."""
    small = caption.split()
    letters = "".join(small)
    if letters.isascii() and letters.isalpha() and letters.islower() and _JOINED.keys().isdisjoint(small):
        return " ".join(small)
    text = _BLANK.sub(" ", caption.replace("\u00ad", ""))
    if _ACROSS_BLANKS.search(text):
        return " ".join(_words(text))
    return " ".join(word for chunk in text.split() for word in _chunk(chunk))


@lru_cache(maxsize=1 << 16)
def _chunk(chunk: str) -> tuple[str, ...]:
    """Return the words of text without blanks."""
    if chunk.isascii() and chunk.isalpha() and chunk.lower() not in _JOINED:
        return (chunk.lower(),)
    return tuple(_words(chunk))


def _words(text: str) -> list[str]:
    words, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        matches = [match for rule in _RULES if (match := rule.match(text, at))]
        token = max(matches, key=lambda match: match.end())[1]
        at += len(token)
        if not _VANISHED.fullmatch(token):
            words.append(_spelled(token))
    return words


def _spelled(token: str) -> str:
    """Return the token as the program prints it: in lower case, brackets and currencies by name."""
    if _SMILEY.fullmatch(token):
        return token.replace("(", "-lrb-").replace(")", "-rrb-").lower()
    if token[0] == "<":
        token = re.sub(r"\s", "\u00a0", token)
    if re.fullmatch(r"(?i:n['’‘`]t|['’](?:[sdm]|re|ve|ll))", token):
        token = token.replace("’", "'").replace("‘", "`")
    if re.fullmatch(r"\d+ \d+/\d+", token):
        token = token.replace(" ", "\u00a0")
    return re.sub("(?i:&amp;)", "&", _SPELLED.get(token.lower(), token)).lower()
