"""What a search matches (docs/listing.md, Search)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.listing import Index, words

SCRIPTS = st.text(st.characters(exclude_categories=[]), max_size=12)


def finds(search: str, *texts: str) -> bool:
    index = Index.build(sort="1", facets={}, texts=texts)
    return index.matches({}, words.search_terms(search))


@pytest.mark.parametrize(
    ("search", "text"),
    [
        ("b", "T-Shirt blau"),
        ("SHIRT", "T-Shirt blau"),
        ("t-shirt", "T-Shirt blau"),
        ("shirt t", "T-Shirt blau"),
        ("tsh-blu", "TSH-BLU-01"),
        ("blu", "TSH-BLU-01"),
        ("blu-01", "TSH-BLU-01"),
        ("01", "TSH-BLU-01"),
        ("417", "20417"),
        ("0417", "#20417"),
        ("20417", "A20417"),
        ("417", "заказ20417"),
        ("417", "20417@example.com"),
        ("ete", "Été"),
        ("ÉTÉ", "ete"),
        ("strasse", "Straße"),
        ("ofﬁce", "office"),
        ("ｓｈｉｒｔ", "shirt"),
        ("シャツ", "青いシャツ"),
        ("いシャツ", "青いシャツ"),
        ("shirt", "シャツshirt"),
        ("ガ", "ガラス"),
        ("ｶﾞ", "ガラス"),
        ("衣", "中国の衣"),
        ("国の衣", "中国の衣"),
        ("ส", "เสื้อ"),
        ("هن", "مُهَنَّد هند"),
        ("احمد", "أحمد"),
        ("אבג", "אָבָג"),
        ("ספר", "בית־ספר"),
        ("σισυφος", "ΣΊΣΥΦΟΣ"),
        ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("йод", "ЙОД"),
        ("KIRMIZI", "kırmızı"),
        ("istanbul", "İSTANBUL"),
        ("lodz", "Łódź"),
        ("smorrebrod", "SMØRREBRØD"),
        ("aether", "Æther"),
        ("葛城", "葛\U000e0100城"),
        ("sku-1", "\u202aSKU-1\u202c"),
        ("1", "1\ufe0f\u20e3"),
        ("हिन्दी", "हिन्दी"),
        ("한국", "한국어"),
        ("🙂", "smile🙂"),
        ("smile", "🙂smile"),
        ("❤", "I❤️NY"),
        ("#1", "#1"),
        ("1", "#1"),
        ("50%", "50%"),
        ("a/b", "a/b|c"),
        ("c", "a/b|c"),
        ("o'brien", "O'Brien"),
        ("brien", "O'Brien"),
        ("o\u2019brien", "O'Brien"),
        ("o'brien", "O\u2019Brien"),
        ("tsh-blu", "TSH\u2013BLU\u201101"),
        ("tsh\u2014blu", "TSH-BLU-01"),
        ("ada@example.com", "ada@example.com"),
        ("example.com", "ada@example.com"),
        ("lovelace", "ada.lovelace@example.com"),
        ("berlin", "@hats.berlin"),
        ("co", "soft\u00adware co\u00adtton"),
        ("cotton", "co\u00adtton"),
        ("b", "a\x00b"),
        ("x" * 100, "x" * 10_000),
        ("ab c d e f g h i j", "a ab b c d e f g h i j k"),
    ],
)
def test_a_term_matches_the_start_of_a_word_or_of_a_part_within_it(search: str, text: str) -> None:
    assert finds(search, text)


@pytest.mark.parametrize(
    ("search", "text"),
    [
        ("hirt", "T-Shirt"),
        ("17", "20417"),
        ("17", "заказ20417"),
        ("17a", "заказ417a"),
        ("blue", "blu"),
        ("blu red", "blu"),
        ("sh-blu", "TSH-BLU-01"),
        ("ハ", "バ"),
        ("न्दी", "हिन्दी"),
        ("com", "ada@example.com"),
        ("com", "a@example.com"),
        ("xy", "x y"),
        ("a b c d e f g h i", "a b c d e f g h"),
    ],
)
def test_a_term_does_not_match_the_middle_of_a_word(search: str, text: str) -> None:
    assert not finds(search, text)


@settings(max_examples=300, deadline=None)
@given(SCRIPTS)
def test_every_text_matches_itself_in_any_case_and_script(text: str) -> None:
    found = words.index_words([text])
    for variant in (text, words.fold(text), text + " "):
        terms = words.search_terms(variant)
        assert all(any(word.startswith(term) for word in found) for term in terms)


def test_letters_match_their_capitals_in_every_script() -> None:
    letters = [chr(code) for code in range(0x110000) if chr(code).isalpha()]
    spelled = ((one, one.upper(), one.lower()) for one in letters)
    assert [same[0] for same in spelled if len({*map(words.fold, same)}) > 1] == []


def test_invisible_characters_are_ignored() -> None:
    """The other format characters of Unicode are visible in Arabic, Syriac, Kaithi and others."""
    unseen = "\u00ad\u061c\u180e\u200b\u200d\u200f\u202a\u202e\u2060\u2069\ufeff\ufff9\U000e0020"
    assert words.fold(f"a{unseen}b") == "ab"


@settings(max_examples=300, deadline=None)
@given(SCRIPTS)
def test_words_can_be_stored_as_part_of_a_key(text: str) -> None:
    for word in words.index_words([text]):
        assert 1 <= len(word) <= words.LONGEST_WORD
        assert 1 <= len(word.encode()) <= 4 * words.LONGEST_WORD
        assert word.split() == [word]
        assert words.fold(word) == word


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("ab- ", max_size=6), max_size=4), st.lists(SCRIPTS, max_size=3))
def test_exact_texts_have_their_own_word_besides_longer_ones(
    texts: list[str], exact: list[str]
) -> None:
    found = words.index_words(texts, exact)
    assert {words.whole_word(text) for text in exact} - {""} <= set(found)
    assert len(found) == len(set(found))
    others = set(found) - {words.whole_word(text) for text in exact}
    assert not any(a != b and b.startswith(a) for a in others for b in found)


@pytest.mark.parametrize("text", ["7" * 10_000, "青" * 10_000, "a-" * 5_000, "ab " * 3_000])
def test_ten_thousand_characters_are_cut_into_few_words(text: str) -> None:
    assert 1 <= len(words.index_words([text])) <= 10_000


def test_sort_values_that_would_break_a_key_are_refused() -> None:
    fields: dict[str, Any] = {"facets": {}, "texts": []}
    for sort in ("a#b", "a+b"):
        with pytest.raises(ValueError, match="#"):
            Index.build(sort=sort, **fields)
