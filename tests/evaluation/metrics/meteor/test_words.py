import pytest

from whatchanged.evaluation.metrics.meteor.words import ANYWHERE, BEFORE_NUMBERS, read_abbreviations, words

ABBREVIATIONS = {"Mr": ANYWHERE, "No": BEFORE_NUMBERS}

# What the program's own class (edu.cmu.meteor.util.Normalizer) prints, in lower case.
PRINTED = {
    "The Cat sat.": "the cat sat .",
    "The cube's red, isn't it?": "the cube 's red , isn 't it ?",
    "Mr. Smith of the U.S. went home... at 3.5 km, 2,000 ft. No. 5 fell. e.g. this": (
        "mr. smith of the us went home ... at 3.5 km , 2,000 ft . no. 5 fell. eg this"
    ),
    "“quoted” ‘single’ ``tick'' rock-n-roll -- end – dash": (
        '" quoted " \' single \' " tick " rock n-roll - end - dash'
    ),
    "it's the 1960's dogs' café's x.y.z. foo. bar a.b .": (
        "it 's the 1960 's dogs ' café 's xyz foo. bar a.b ."
    ),
    "a,b 1,b a,1 1,1 ,,": "a , b 1 , b a , 1 1,1 , ,",
    "wait.... what.. no . . .": "wait .... what .. no . . .",
    "赤い 立方体 İstanbul ΣΑΣ Straße": "赤 い 立 方 体 i̇stanbul σ α σ straße",
    "": "",
}


@pytest.mark.parametrize("sentence", PRINTED)
def test_what_the_program_prints(sentence):
    assert words(sentence, ABBREVIATIONS) == PRINTED[sentence].split()


def test_abbreviations_keep_their_full_stop():
    assert words("Mr. X", ABBREVIATIONS) == ["mr.", "x"]
    assert words("Mr. X", {}) == ["mr", ".", "x"]
    assert words("No. 5", ABBREVIATIONS) == ["no.", "5"]
    assert words("No. X", ABBREVIATIONS) == ["no", ".", "x"]


def test_plain_words_come_out_as_they_are():
    assert words("the cube moved 3 times", {}) == ["the", "cube", "moved", "3", "times"]


def test_the_list_of_abbreviations():
    assert read_abbreviations("#a note\n\nMr\nNo #NUMERIC_ONLY# \n") == ABBREVIATIONS
