"""Automatic slugs."""

from itertools import islice

import pytest

from chalicelib.values import slugs


@pytest.mark.parametrize(
    ("key", "slug"),
    [
        ("TS-1", "ts-1"),
        ("X" * 120, "x" * 120),
        ("X" * 121, "x" * 120 + "-60f45886"),
        ("TS 1", "ts-1-57f41a46"),
        ("Ü", "u-63d969d5"),
        ("§", "s-f0a79178"),
        ("--", "product-242c1465"),
    ],
)
def test_a_valid_key_is_its_own_slug_and_others_get_a_checksum(key: str, slug: str) -> None:
    assert slugs.of_key(key) == slugs.of_key(key.swapcase()) == slug


def test_the_slug_of_a_long_name_is_cut_at_a_word() -> None:
    assert slugs.of_name(f"{'x' * 119} y") == "x" * 119
    assert slugs.of_name("x" * 121) == slugs.of_key("x" * 120) == "x" * 120
    assert slugs.of_key("x" * 121).startswith(f"{'x' * 120}-")
    assert slugs.of_name("?!") == "product"


def test_letters_of_other_scripts_are_transliterated() -> None:
    assert slugs.of_name("Синяя кружка") == "sinyaya-kruzhka"


def test_a_taken_slug_gets_a_number() -> None:
    assert [*islice(slugs.numbered_slugs("hat"), 3)] == ["hat", "hat-2", "hat-3"]
