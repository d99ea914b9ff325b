"""Words are hashed alike wherever they mean the same, in every script."""

from struct import unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.passages.languages import detected_language, language_code
from garden.passages.words import matched_words, query_words, word_hashes


def hashes(text: str, language: str = "en") -> list[int]:
    data = word_hashes(text, language)
    return list(unpack(f"<{len(data) // 4}I", data))


def finds(query: str, text: str, language: str = "en") -> bool:
    """Whether every word of a query that is no stop word matches in a text."""
    found = set(hashes(text, language))
    return all(word.hashes & found for word in query_words(query, [language, "en"]) if not word.is_stop)


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("sailing boats", "She sailed in a boat", "en"),
        ("sleeping children", "The child slept", "en"),
        ("two kids", "2 children", "en"),
        ("Brannoch", "Brannoch's lamp", "en"),
        ("wellbeing", "her well-being", "en"),
        ("well-being", "her wellbeing", "en"),
        ("well being", "her well-being", "en"),
        ("email", "an e-mail", "en"),
        ("o\u2019brien", "Mr O'Brien", "en"),
        ("cafe", "a café", "en"),
        ("CAFE\u0301", "a café", "en"),
        ("\uff26\uff45\uff52\uff52\uff59", "the ferry", "en"),
        ("2026-11-18", "2026-11-18: slept", "en"),
        ("3.5", "ran 3.5 km", "en"),
        ("ami", "chez l'ami", "fr"),
        ("chevaux", "un cheval", "fr"),
        ("Häuser", "das Haus", "de"),
        ("strasse", "die Straße", "de"),
        ("niño", "los niños", "es"),
        ("книги", "читает книгу", "ru"),
        ("黒猫", "昨日は黒猫がいた", "ja"),
        ("猫", "昨日は黒猫がいた", "ja"),
        ("カフェ", "駅前の\uff76\uff8c\uff6a", "ja"),
        ("น้ำเย็น", "เธอดื่มน้ำเย็นทุกวัน", "th"),
        ("고양이", "고양이를 좋아한다", "ko"),
        ("हिन्दी", "वह हिन्दी बोलती है", "hi"),
    ],
)
def test_a_query_finds_a_text(query: str, text: str, language: str) -> None:
    assert finds(query, text, language)
    assert matched_words(text, language, query_words(query, [language]))


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        *(("cat", "a category", "en"), ("2026-11-18", "2026-11-19", "en"), ("ano", "los años", "es")),
        *(("hal", "en häl", "sv"), ("白猫", "昨日は黒猫がいた", "ja"), ("5", "3.5", "en")),
    ],
)
def test_a_query_does_not_find_another_word(query: str, text: str, language: str) -> None:
    assert not finds(query, text, language)


def test_words_keep_their_order_and_number() -> None:
    assert hashes("tea and tea") == [hashes("tea")[0], hashes("and")[0], hashes("tea")[0]]
    assert word_hashes("", "en") == word_hashes("--- ...", "en") == b""


def test_a_query_marks_the_stop_words_of_its_own_language() -> None:
    words = query_words("When did she die?", ["en", "de"])
    assert [word.text for word in words if not word.is_stop] == ["die"]
    assert [word.text for word in query_words("Wo ist die Katze?", ["en", "de"]) if not word.is_stop] == [
        "katze"
    ]


def test_a_query_is_hashed_in_all_languages() -> None:
    (word,) = query_words("Katzen", ["en", "de"])
    assert word.hashes == {*hashes("Katzen", "en"), *hashes("Katzen", "de")}
    assert query_words("tea", []) == query_words("tea", ["en"])


def test_matched_words_are_given_as_written_and_once() -> None:
    words = query_words("tea black cat", ["en"])
    assert matched_words("Tea, TEA and Cats' tea", "en", words) == ("Tea", "TEA", "Cats", "tea")


@given(st.text(), st.sampled_from(("en", "de", "ja", "xx")))
def test_every_text_has_words_and_finds_itself(text: str, language: str) -> None:
    found = set(hashes(text, language))
    assert all(word.hashes & found for word in query_words(text, [language]))


@given(st.text(alphabet="aé'\u2019- 1.,:猫ア", max_size=12))
def test_parts_of_words_find_themselves(text: str) -> None:
    found = set(hashes(text))
    assert all(word.hashes & found for word in query_words(text, ["en"]))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "She came about sleep and stayed for the conversation that was not about it"),
        ("de", "Sie kam wegen des Schlafs und blieb, weil es nicht nur um den Schlaf ging"),
        ("fr", "Elle est venue pour dormir et elle ne sait pas pourquoi la nuit est longue"),
        ("es", "Vino por el sueño y se quedó por la conversación que no era sobre eso"),
        ("it", "È venuta per il sonno e non sa perché la notte è così lunga con lui"),
        ("pt", "Ela veio por causa do sono e não sabe por que a noite é tão longa"),
        ("nl", "Ze kwam omdat het slapen niet ging en is toen voor het gesprek gebleven"),
        ("sv", "Hon kom för att hon inte sov och stannade för det som vi talade om"),
        ("fi", "Hän tuli koska ei nukkunut ja jäi kun se oli hyvä mutta myös pitkä"),
        ("ru", "Она пришла, потому что не спала, и осталась, когда это стало разговором"),
        ("pl", "Przyszła, bo nie spała, i została, gdy to się stało tylko rozmową"),
        ("ja", "眠れないので来たが、話すために残った"),
        ("zh", "她因为睡不着而来"),
        ("th", "เธอมาเพราะนอนไม่หลับ"),
        ("ko", "잠이 오지 않아서 왔다"),
        ("el", "Ήρθε γιατί δεν κοιμόταν"),
        ("en", "Tee, Katze"),
        ("en", ""),
    ],
)
def test_a_language_is_detected(language: str, text: str) -> None:
    assert detected_language(text) == language


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("pt_BR", "pt"),
        (" German ", "de"),
        ("ja", "ja"),
        ("Klingonisch", None),
        (None, None),
    ],
)
def test_a_person_may_name_a_language(name: str | None, code: str | None) -> None:
    assert language_code(name) == code
