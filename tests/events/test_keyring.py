import base64
import traceback

import pytest

from garden.events.keyring import Keyring, KeyringError

KEY = base64.urlsafe_b64encode(bytes(range(224, 256))).decode()


def test_a_keyring_survives_being_written_and_read() -> None:
    keyring = Keyring.generate()
    assert Keyring.parse(keyring.render()).render() == keyring.render()


@pytest.mark.parametrize("text", [f"2:{KEY},10:{KEY}", f" 10:{KEY}\n2:{KEY}\n", f"2:{KEY} , 10:{KEY}"])
def test_entries_are_separated_by_commas_or_white_space_and_sorted_by_number(text: str) -> None:
    assert Keyring.parse(text).versions == (2, 10)


def test_two_generated_keyrings_differ() -> None:
    assert Keyring.generate().render() != Keyring.generate().render()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "entry 1 is not of the form"),
        (f"0:{KEY}", "entry 1 is not of the form"),
        (f"one:{KEY}", "entry 1 is not of the form"),
        (KEY, "entry 1 is not of the form"),
        (f"1:{KEY},1:{KEY}", "version 1 is given twice"),
        (f"1:{KEY},2:{KEY[:-8]}", "entry 2 is 27 bytes long"),
        ("1:a", "entry 1 is not URL-safe base64"),
        (f"1:{KEY.replace('_', '/')}", "entry 1 is not of the form"),
    ],
)
def test_a_malformed_keyring_is_refused_without_quoting_it(text: str, complaint: str) -> None:
    with pytest.raises(KeyringError, match=complaint) as refusal:
        Keyring.parse(text)
    assert KEY[:12] not in refusal.value.message + refusal.value.hint


def test_a_failure_while_sealing_shows_no_key_even_with_its_local_variables() -> None:
    try:
        Keyring.parse(f"3:{KEY}").seal("chain", object())
    except TypeError as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    told = "".join(frames.format())
    assert "Keyring(versions=(3,))" in told
    secret = bytes(range(224, 256))
    for form in (KEY.rstrip("="), repr(secret)[2:-1], secret.hex()):
        assert form not in told


def test_printing_a_keyring_shows_versions_only() -> None:
    assert repr(Keyring.parse(f"3:{KEY}")) == "Keyring(versions=(3,))"
    assert KEY not in str(Keyring.parse(f"3:{KEY}"))
