"""Words as the Java tokenizer was seen to print them (CoreNLP 3.4.1, after the COCO filter)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.metrics.caption_metrics import TOKENISERS
from whatchanged.evaluation.metrics.ptb import ptb

SEEN = [
    ("isn't don’t can't won't isn`t don‘t", "is n't do n't ca n't wo n't is n`t do n`t"),
    ("John's dogs' it’s 1960's", "john 's dogs it 's 1960 's"),
    ("he'd I'm they're we've she'll", "he 'd i 'm they 're we 've she 'll"),
    ("can't've he'll've well-known's", "ca n't 've he 'll 've well-known 's"),
    ("the'car k'the x'x it'sa", "the car k the x x it sa"),
    ("o'clock O'Brien d'you l'eau ne'er li'l", "o'clock o'brien d'you l'eau ne'er li'l"),
    ("'em 'til 'cause c'mon ma'am 'n' '90s ol'", "'em 'til 'cause c'mon ma'am 'n' '90s ol'"),
    ("rock'n'roll more'n y'all 'tis j'ai '60s", "rock 'n' roll more 'n y' all 't is j' ai '60s"),
    ("cannot Gonna gotta wanna gimme lemme", "can not gon na got ta wan na gim me lem me"),
    ("dunno dont cannots cannot. gimme'", "dunno dont cannots can not gim me"),
    ("mid-air black-and-white the_car 3-d 3.5-inch", "mid-air black-and-white the_car 3-d 3.5-inch"),
    ("-left left- a--b x–y x — y - --", "left left a b x y x y"),
    ("-3 +5 2 -3 - 3 1+1 2-1=1", "-3 +5 2 -3 3 1 +1 2-1 = 1"),
    ("'99 '10s '5", "'99 10s 5"),
    ("1,000.50 .5 12:30 3/4 1-2 2010-11-12 5.", "1,000.50 .5 12:30 3/4 1-2 2010-11-12 5"),
    ("5.a 1:30pm 1.5m", "5 a 1:30 pm 1.5 m"),
    ("10am 5x5 50% $5 US$5 5'2", "10am 5x5 50 % $ 5 us$ 5 5 2"),
    ("1 1/2 cups", "1\u00a01/2 cups"),
    ("and/or people/cars people / cars w/ hat w/the", "and/or people/cars people / cars w / hat w/the"),
    ("wait... … .... . . . .. wait...what", "wait wait what"),
    ("\"big\" ‘big’ “big” «big» ``big''", "big big big big big"),
    ("A&B AT&T a & b a&b &amp; &lt;", "a&b at&t a & b a & b & <"),
    ("Mr. etc. vs. a.m. U.S. Ph.D. approx. e.g.", "mr. etc. vs. a.m. u.s. ph.d. approx e.g."),
    ("a. X. type b. a.b. ab.cd.", "a. x. type b. a.b. ab.cd"),
    ("sat. sun. in. fig. no. may.", "sat sun in fig no may"),
    ("no. 5 fig. 3 No.5 no. five", "no. 5 fig. 3 no. 5 no five"),
    ("Jan. st. ave. dept. ft. mt. inc. co.", "jan. st. ave. dept. ft. mt. inc. co."),
    ("Mass. mass. Miss. miss.", "mass. mass miss. miss"),
    ("<b>bold</b> <unk> <a href='x'> <3 a<b", "<b> bold </b> <unk> <a\u00a0href='x'> < 3 a < b"),
    ("€5 £5 ½ 1½ ½-inch 5¢", "$ 5 # 5 1/2 1 1/2 1/2 inch 5 cents"),
    ("(a) [b] {c}", "-lrb- a -rrb- -lsb- b -rsb- -lcb- c -rcb-"),
    ("gone.The car?car a!b car,car 3.the", "gone.the car?car a!b car car 3 the"),
    ("what?! wow!! no??? yes! eh?", "what ?! wow !! no ??? yes eh"),
    (":) :-) ;D", ":-rrb- :--rrb- ;d"),
    ("café 日本語 İ Ünï-cödé é. é's é/é", "café 日本語 i̇ ünï-cödé é é 's é / é"),
    ("a@b.com @user #tag http://a.b/c. www.a.com,", "a@b.com @user #tag http://a.b/c www.a.com"),
    ("# * ** ~ ^ | \\ = + _ @ %", "# * ** ~ ^ | \\ = + _ @ %"),
    ("it’sa it'sa A'ib sa'Q X'jk j' O'o", "it 's a it sa a'ib sa'q x'jk j' o'o"),
    ("<< a >> @@ #* c# C++ A+B R$", "<< a >> @@ # * c# c++ a+b r$"),
    (":[ ;-) >:( :'( x=D ^_^ (-_-)", ":[ ;--rrb- >:-lrb- :'-lrb- x =d ^_^ -lrb--_--rrb-"),
    ("1.png a-b.png me.txt, 1.foo", "1.png a-b png me.txt 1 foo"),
    ("type b. The cube, type b. the cube, so.: x", "type b the cube type b. the cube so. x"),
    ("nat'l ev'ry 'emx a,b-c a/b/c/d", "nat'l ev'ry 'em x a,b-c a/b/c / d"),
    ("&eacute; &foo; &LT; a.com/b a.com/bc", "&eacute; & foo < a.com / b a.com/bc"),
    ("a\u00adb \U0001f600 a\u200b", "ab a"),
]


@pytest.mark.parametrize("caption, words", SEEN)
def test_as_java_was_seen_to_print(caption, words):
    assert ptb(caption) == words


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\u2028", "\u2029", "\x0b", "\x0c", "\x85"])
def test_line_breaks_are_blanks(line_break):
    assert ptb(f"the cube{line_break}moved") == "the cube moved"


@given(st.text())
def test_words_are_separated_by_single_blanks(text):
    words = ptb(text)
    assert words == words.strip(" ") and "  " not in words and "\n" not in words


@given(
    st.lists(
        st.from_regex("[a-z]{2,9}", fullmatch=True).filter(
            lambda w: w[-3:] not in ("not", "nna", "tta", "mme")
        )
    )
)
def test_small_letters_stay(words):
    assert ptb(" ".join(words)) == " ".join(words)


def test_plain_leaves_all_as_it_is():
    assert TOKENISERS["plain"]("The  Cube, moved.") == "The  Cube, moved."
    assert TOKENISERS["ptb"]("The  Cube, moved.") == "the cube moved"
