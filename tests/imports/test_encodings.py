"""Bytes that are no UTF-8 are read in their encoding, or asked about."""

import pytest

from chalicelib.imports.csv.encodings import KNOWN, judged, named
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.records import open_csv, read

TEXTS = [
    ("cp1252", "Größe,Übergröße für Mädchen,Weiße Straße"),
    ("cp1252", "Prix réduit,Étagère,crème brûlée à l’œuf,forêt,naïve"),
    ("cp1252", "Niño,Señal,año,corazón,¿Qué?,12 €"),
    ("cp1252", "Tröja,Kåpa,Märke"),
    ("cp1250", "Zażółć gęślą jaźń,Koszulka męska,Zdjęcie"),
    ("cp1250", "Příliš žluťoučký kůň,Hrnek,Cena Kč"),
    ("cp1250", "Férfi póló,Gyűrű,nő"),
    ("cp1251", "Синяя кружка,Цена,Количество,Футболка белая"),
    ("cp1253", "Μπλε κούπα,Τιμή"),
    ("cp1254", "Mavi bardak,Gömlek,Kırmızı şal,Çanta"),
    ("koi8_r", "Синяя кружка,Цена"),
    ("mac_roman", "Größe,Übergröße für Mädchen,Weiße Tasse"),
    ("mac_roman", "Étagère,crème brûlée à l’œuf,forêt"),
    ("gb18030", "产品名称,价格,库存,蓝色杯子,白色衬衫"),
    ("big5", "產品名稱,價格,藍色杯子,白色襯衫"),
    ("cp932", "商品名,価格,在庫,青いマグカップ,シャツ"),
    ("euc_kr", "상품명,가격,파란 머그컵,흰 셔츠"),
]
# Too little to tell by: each can be words of two languages.
SHORT = [
    ("cp1252", "crème"),
    ("cp1252", "Mão,pão"),
    ("cp1250", "Červené tričko"),
    ("cp1251", "Кружка"),
    ("gb18030", "红色"),
]


def rows(data: bytes, encoding: str = "") -> list[str]:
    table = open_csv([data], encoding)
    records = list(table.records())
    for record in records:
        part = data[record.offset : record.offset + record.length]
        assert list(read(part, table.format, record.offset, record.line)) == [record]
    return [record.cells[1] for record in records]


def file(words: str) -> str:
    return "slug,name\n" + "".join(f"p{at},{w}\n" for at, w in enumerate(words.split(",")))


@pytest.mark.parametrize(("encoding", "words"), TEXTS)
def test_a_file_is_read_in_the_encoding_that_its_words_are_in(encoding: str, words: str) -> None:
    assert rows(file(words).encode(encoding)) == words.split(",")


@pytest.mark.parametrize(("encoding", "words"), [*TEXTS, *SHORT])
def test_no_file_is_read_as_other_words(encoding: str, words: str) -> None:
    for text in [words, *words.split(",")]:
        if text.isascii():
            continue
        data = text.encode(encoding)
        try:
            assert data.decode(judged(data)) == text
        except FileRejected as rejected:
            assert rejected.code == "unknown_encoding"


@pytest.mark.parametrize(("encoding", "words"), SHORT)
def test_what_can_be_two_things_is_asked_about_and_both_are_shown(
    encoding: str, words: str
) -> None:
    with pytest.raises(FileRejected) as caught:
        rows(file(words).encode(encoding))
    assert caught.value.code == "unknown_encoding"
    assert f"{encoding}: " in caught.value.message
    assert words.split(",", maxsplit=1)[0].split(maxsplit=1)[0] in caught.value.message


@pytest.mark.parametrize(("encoding", "words"), [*TEXTS, *SHORT])
def test_an_encoding_that_somebody_says_overrules_what_is_found(encoding: str, words: str) -> None:
    assert rows(file(words).encode(encoding), encoding) == words.split(",")


def test_what_is_no_ascii_is_looked_for_far_into_a_file() -> None:
    plain = "".join(f"p{at},plain\n" for at in range(20_000))
    data = ("slug,name\n" + plain).encode() + "z,Größe für Weiße\n".encode("mac_roman")
    pieces = [data[at : at + 50_000] for at in range(0, len(data), 50_000)]
    assert list(open_csv(pieces).records())[-1].cells == ["z", "Größe für Weiße"]


def test_a_byte_that_its_encoding_has_not_is_an_error_of_its_row() -> None:
    data = file("商品名,価格").encode("cp932") + b"bad,\x85\xff\nz,last\n"
    table = open_csv([data], "shift_jis")
    cells = [record.cells for record in table.records()]
    assert "\0" in cells[2][1]
    assert cells[3] == ["z", "last"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("UTF-8", "utf-8"),
        ("utf8", "utf-8"),
        ("Shift_JIS", "cp932"),
        ("GBK", "gb18030"),
        ("windows-1250", "cp1250"),
        ("Latin-1", "cp1252"),
        ("MacRoman", "mac_roman"),
        *((known, known) for known in KNOWN),
    ],
)
def test_an_encoding_has_the_names_that_people_use(said: str, meant: str) -> None:
    assert named(said) == meant


def test_an_encoding_that_nobody_knows_is_refused_with_those_that_are() -> None:
    with pytest.raises(FileRejected) as caught:
        named("rot13")
    assert caught.value.code == "unknown_encoding"
    assert "cp1250" in caught.value.message
