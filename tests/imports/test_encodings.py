"""Files that are not UTF-8: the encoding is detected, or the job asks for it."""

import itertools
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chalicelib.imports.csv import opening
from chalicelib.imports.csv.encodings import KNOWN, Undecided, find_encoding, judge_encoding
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.opening import open_csv
from chalicelib.jobs import store as jobs
from chalicelib.storage import table
from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

LATIN = {"cp1252", "cp1250", "cp1254", "iso8859_2", "mac_roman"}
CATALOGUES = (Path(__file__).parent / "files/catalogues.txt").read_text().splitlines()[1:]
TEXTS = [
    (encoding, words.replace(" ", ","))
    for encodings, words in (line.split(": ") for line in CATALOGUES)
    for encoding in encodings.split()
]
# Brands, signs and prices that a catalogue in any language may have.
FOREIGN = ["", "Møller", "Škoda", "Jalapeño", "Björk", "1ª", "5 µm", "± 2", "Ø 12", "12 €", "„x“"]
# Too little text: it can be words of two languages.
SHORT = [
    ("cp1252", "crème"),
    ("cp1252", "capacità,Škoda"),
    ("cp1252", "Tröja,Kåpa,Märke"),
    ("cp1250", "Červené tričko"),
    ("cp1250", "Férfi póló,Gyűrű,nő"),
    ("cp1251", "Кружка"),
    ("cp1254", "Gömlek,Kırmızı şal"),
    ("gb18030", "红色"),
    ("iso8859_2", "Šálek,Žehlička,Červené"),
    ("euc_kr", "상품명,가격"),
]
# What is no letter is the same in several encodings, and no letter is likelier.
SIGNS = [("cp1252", sign) for sign in ("12 €", "£12", "20 °C", "1½", "kid’s “Best”", "5 ¥")]


def rows(data: bytes, encoding: str = "") -> list[str]:
    return [row.cells[1] for row in open_csv([data], encoding).rows()]


def file(words: str) -> str:
    return "slug,name\n" + "".join(f"p{at},{w}\n" for at, w in enumerate(words.split(",")))


@pytest.mark.parametrize(("encoding", "words"), [*TEXTS, *SIGNS])
def test_the_encoding_of_a_file_is_detected_by_its_words(encoding: str, words: str) -> None:
    assert rows(file(words).encode(encoding)) == words.split(",")


@pytest.mark.parametrize(("encoding", "words"), [*TEXTS, *SHORT])
def test_no_file_is_decoded_to_wrong_words(encoding: str, words: str) -> None:
    """It is decoded, or asked about with the right words among a few."""
    each = words.split(",")
    cut = [each[at : at + size] for size in (1, 3, 8) for at in range(0, len(each), size)]
    brands = FOREIGN if encoding in LATIN else FOREIGN[:1]
    for foreign, part in itertools.product(brands, [each, *cut]):
        text = " ".join([*part, foreign]).strip()
        for written in (text, text.upper()) if "ß" not in text else (text,):
            try:
                data = written.encode(encoding)
                data.decode()
            except UnicodeEncodeError:
                continue  # this encoding has no such brand
            except UnicodeDecodeError:
                _check_decoded(data, written, encoding)


def _check_decoded(data: bytes, text: str, encoding: str) -> None:
    try:
        assert data.decode(judge_encoding([data])) == text
    except Undecided as undecided:
        read = {each.encoding for each in undecided.readings}
        assert encoding in read or any(data.decode(e, "replace") == text for e in read)
        assert len(read) < 6 or len(text) < 16


@pytest.mark.parametrize(("encoding", "words"), SHORT)
def test_an_ambiguous_encoding_is_asked_about_with_both_readings(encoding: str, words: str) -> None:
    with pytest.raises(FileRejected) as caught:
        rows(file(words).encode(encoding))
    assert caught.value.code == "unknown_encoding"
    assert f"{encoding}: " in caught.value.message
    assert words.split(",", maxsplit=1)[0].split(maxsplit=1)[0] in caught.value.message


@pytest.mark.parametrize(("encoding", "words"), [*TEXTS, *SHORT])
def test_a_given_encoding_overrides_the_detected_one(encoding: str, words: str) -> None:
    assert rows(file(words).encode(encoding), encoding) == words.split(",")


def test_a_long_text_without_blanks_takes_linear_time() -> None:
    data = b"slug,name\na," + b"x" * 60_000 + b"\nb,\xc8erven\xe9\n"
    began = time.process_time()
    with pytest.raises(Undecided):
        open_csv([data])
    assert time.process_time() - began < 3, "it was 20 s, and four times as much for twice the text"


@pytest.mark.parametrize("encoding", ["cp1250", "cp1252", "mac_roman", "cp932", "utf-8"])
def test_non_ascii_text_decides_at_any_distance(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(opening, "_HELD", 70_000)  # a large file, for so small a test
    words = {"cp1250": "Zażółć gęślą jaźń", "cp932": "青いマグカップ"}.get(encoding, "Größe Weiße")
    plain = "".join(f"p{at},plain\n" for at in range(20_000))
    data = ("slug,name\n" + plain).encode() + f"y,{words}\nz,{words}".encode(encoding)
    reads: list[int] = []

    class File:
        def __iter__(self) -> Iterator[bytes]:
            reads.append(1)
            begun = len(reads)
            for at in range(0, len(data), 50_000):
                assert len(reads) == begun, "S3 may close a connection that waits for minutes"
                yield data[at : at + 50_000]

    table = open_csv(File())
    rows = list(table.rows())
    assert table.format.encoding == encoding
    assert (len(rows), len(reads)) == (20_002, 2)
    assert [row.cells for row in rows[-2:]] == [["y", words], ["z", words]]


@pytest.mark.parametrize("held", [1 << 22, 70_000])
@pytest.mark.parametrize("before", [0, 80_000])
@pytest.mark.parametrize(
    ("encoding", "word"), [("utf-8", "é"), ("gb18030", "产品名称 价格 库存 蓝色杯子 白色衬衫")]
)
def test_the_first_non_ascii_letter_may_be_cut_between_pieces(
    monkeypatch: pytest.MonkeyPatch, encoding: str, word: str, before: int, held: int
) -> None:
    monkeypatch.setattr(opening, "_HELD", held)
    data = b"slug,name\n" + b"p,plain\n" * (before // 8) + b"z," + word.encode(encoding) + b"\n"
    cut = data.index(word.encode(encoding)) + 1
    first = [data[:70_100], data[70_100:cut]] if before else [data[:cut]]
    table = open_csv([*first, data[cut:]])
    assert table.format.encoding == encoding
    assert list(table.rows())[-1].cells == ["z", word]


def test_ambiguous_text_is_asked_about_at_any_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_HELD", 70_000)
    plain = "".join(f"p{at},plain\n" for at in range(20_000))
    data = ("slug,name\n" + plain).encode() + "z,Červené tričko\n".encode("cp1250")
    with pytest.raises(Undecided) as caught:
        open_csv([data])
    assert "cp1250" in [reading.encoding for reading in caught.value.readings]


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1250", "Zażółć gęślą jaźń,Łódź"),
        ("cp1250", "Férfi póló,Gyűrű,nő"),
        ("iso8859_2", "Příliš žluťoučký kůň,Šálek"),
        ("cp1254", "Kırmızı şal,Çanta,Gömleği"),
        ("cp1252", "Crème brûlée,Forêt"),
    ],
)
def test_words_that_are_equal_in_several_encodings_do_not_decide(
    desk: Desk, encoding: str, words: str
) -> None:
    """`für` is equal in several; text far after it may not be."""
    plain = "".join(f"p{at},plain,9\n" for at in range(70_000))
    data = f"slug,name,price\na,für,9\n{plain}z,{words.replace(',', ' ')},9\n".encode(encoding)
    job_id = desk.put(data)
    desk.uploaded(job_id)
    job = desk.job(job_id)
    known = [each["encoding"] for each in job["encodings"]] or [job["encoding"]]
    assert encoding in known
    assert job["status"] == ("NEEDS_MAPPING" if job["encodings"] else "RUNNING")


def test_a_file_with_some_lines_in_utf8_is_asked_about() -> None:
    """Two characters of GBK may be one letter in UTF-8."""
    data = "slug,name\na,模\nb,蓝色杯子\nc,白色衬衫\n".encode("gbk")
    assert data.splitlines()[1].decode() == "a,ģ"
    with pytest.raises(Undecided) as caught:
        open_csv([data])
    readings = {reading.encoding: reading.samples for reading in caught.value.readings}
    assert readings["gb18030"] == ["模", "蓝色杯子", "白色衬衫"]
    assert "utf-8" in readings


@pytest.mark.parametrize(
    ("encoding", "words", "bad"),
    [("shift_jis", "商品名,価格", b"\x85\xff"), ("cp1252", "Größe,Weiße", b"\xe2\x80\x9d")],
)
def test_a_byte_outside_the_encoding_is_an_error_of_its_row(
    encoding: str, words: str, bad: bytes
) -> None:
    data = file(words).encode(encoding) + b"bad," + bad + b'\n"quoted","' + bad + b'"\nz,last\n'
    table = open_csv([data], encoding)
    *_, plain, quoted, last = table.rows()
    assert plain.cells[1] == quoted.cells[1] and "\0" in plain.cells[1]
    assert (quoted.problem, last.cells) == (None, ["z", "last"])


@pytest.mark.parametrize(
    ("name", "encoding"),
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
def test_common_names_of_encodings_are_accepted(name: str, encoding: str) -> None:
    assert find_encoding(name) == encoding


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FileRejected) as caught:
        find_encoding("rot13")
    assert caught.value.code == "unknown_encoding"
    assert "cp1250" in caught.value.message


# --- Through the whole job ------------------------------------------------------------------------


def catalogue(words: str) -> str:
    return "slug,name,price\n" + "".join(f"p{at},{w},9\n" for at, w in enumerate(words.split(",")))


def names(desk: Desk) -> list[str]:
    return [product["name"] for _, product in sorted(desk.products().items())]


@pytest.fixture
def czech(desk: Desk) -> Any:
    """A job that asks for the encoding of one Czech name."""
    return desk.waiting(catalogue("Červené tričko").encode("cp1250"))


def test_an_import_that_may_not_ask_fails_for_its_encoding(desk: Desk) -> None:
    data = catalogue("Červené tričko").encode("cp1250")
    job = desk.imported(data, onUnknownColumns="fail")
    assert (job["status"], job["error"]["code"]) == ("FAILED", "unknown_encoding")


def choose(desk: Desk, job: Any, encoding: str) -> None:
    path = f"/api/admin/jobs/{job['id']}/mapping"
    assert desk.shop.post(path, {"encoding": encoding}).status == 200


def logged(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The messages of the log so far."""
    return [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()]


def test_choosing_an_encoding_continues_the_job(desk: Desk) -> None:
    encoding, words = SHORT[0]
    job = desk.waiting(catalogue(words).encode(encoding))
    assert (job["encoding"], job["columns"]) == (None, [])
    samples = {each["encoding"]: each["samples"] for each in job["encodings"]}
    assert samples[encoding][0] in words
    assert len({tuple(each) for each in samples.values()}) == len(samples) > 1
    assert desk.products() == {}
    done = desk.answered(job, encoding=encoding)
    assert (done["status"], done["encoding"], done["encodings"]) == ("COMPLETED", encoding, [])
    assert names(desk) == words.split(",")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"columns": {"Cena": "price"}}, ("encoding", "required")),
        ({"format": "shopify"}, ("encoding", "required")),
        ({"encoding": "rot13"}, ("encoding", "unknown_encoding")),
        ({"encoding": "cp1250", "columns": {"Cena": "price"}}, ("columns", "not_yet")),
        ({"delimiter": "x"}, ("delimiter", "not_allowed")),
    ],
)
def test_nothing_but_the_encoding_can_be_answered_first(
    desk: Desk, czech: Any, answer: Any, fault: Any
) -> None:
    assert desk.refused_answer(czech, **answer) == fault


def test_the_columns_can_be_asked_about_after_the_encoding(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    header = ["Nazev vyrobku", "Skladove cislo XY", "Cena"]
    job = desk.waiting(f"{','.join(header)}\nČervené tričko,T-1,9\n".encode("cp1250"))
    assert logged(capsys).count("import asks for an encoding") == 1
    assert job["columns"] == []
    asked = desk.answered(job, encoding="windows-1250")
    assert (asked["status"], asked["encoding"]) == ("NEEDS_MAPPING", "cp1250")
    assert logged(capsys).count("import asks for a mapping") == 1
    assert [each["column"] for each in asked["columns"]] == header
    fields = dict(zip(header, ("name", "sku", "price"), strict=True))
    done = desk.answered(asked, columns=fields)
    assert (done["status"], done["created"]) == ("COMPLETED", 1)
    assert logged(capsys).count("import planned") == 1
    assert names(desk) == ["Červené tričko"]


def test_a_late_planner_does_not_ask_again(
    desk: Desk, czech: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.meanwhile("UpdateItem", lambda: choose(desk, czech, "cp1250"))
    capsys.readouterr()
    desk.uploaded(czech["id"])  # once more, and asks again
    assert "import asks for an encoding" not in logged(capsys)
    assert desk.job(czech["id"])["status"] == "QUEUED"
    desk.work()
    assert desk.finished(czech["id"])["created"] == 1


def test_a_late_planner_does_not_start_with_an_outdated_answer(desk: Desk, czech: Any) -> None:
    choose(desk, czech, "cp1252")
    desk.meanwhile("UpdateItem", lambda: choose(desk, czech, "cp1250"))
    desk.work()
    desk.uploaded(czech["id"])
    assert desk.finished(czech["id"])["created"] == 1
    assert names(desk) == ["Červené tričko"]


@pytest.mark.parametrize("csv", ["name,price\nHat,2\n", "what,is,this\n1,2,3\n"])
def test_a_job_cancelled_during_planning_stays_cancelled(
    desk: Desk, csv: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job_id = desk.send(csv)
    desk.meanwhile("UpdateItem", lambda: desk.cancel(job_id))
    desk.uploaded(job_id)
    assert not {"import asks for a mapping", "import planned"} & set(logged(capsys))
    desk.work()
    assert desk.job(job_id)["status"] == "CANCELLED"
    assert desk.products() == {}


def test_a_job_deleted_during_planning_is_not_created_again(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    gone = partial(table.batch_write, deletes=[jobs.key(job_id)])
    desk.meanwhile("UpdateItem", gone)
    desk.uploaded(job_id)
    assert (jobs.find(job_id), desk.messages(), desk.products()) == (None, [], {})


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        *(
            ("windows-1255", "ספל לבן"),
            ("windows-1256", "كوب أبيض"),
            ("windows-1257", "Puodelis žalias"),
        ),
        *(("tis-620", "แก้วสีขาว"), ("cp866", "Чашка белая"), ("cp852", "Hrnček žltý")),
        *(("cp437", "Krügerl grün"), ("iso-8859-15", "Café œuf"), ("x-mac-cyrillic", "Чашка")),
        *(("iso-2022-jp", "白いカップ"), ("utf-7", "Kaffee süß"), ("MacCyrillic", "Чашка синяя")),
    ],
)
def test_any_encoding_may_be_named(desk: Desk, encoding: str, name: str) -> None:
    codec = "mac_cyrillic" if "yrillic" in encoding else encoding
    data = f"name,sku,price\r\n{name},A,5.00\r\n{name} 2,B,6.00\r\n".encode(codec)
    job = desk.imported(data, encoding=encoding)
    assert job["errors"] == [] and job["created"] == 2
    assert {p["name"] for p in desk.products().values()} == {name, f"{name} 2"}


@pytest.mark.parametrize("encoding", ["utf-32", "cp037", "rot13", "hex", "no such", "punycode"])
def test_what_is_no_encoding_of_a_csv_is_refused(desk: Desk, encoding: str) -> None:
    answer = desk.post("name,price\nA,1\n", encoding=encoding)
    assert answer.status == 422 and "Save the file as CSV UTF-8" in answer.text


def test_maccyrillic_is_not_taken_for_greek(desk: Desk) -> None:
    names = ["Чашка большая красная", "Тарелка глубокая", "Ложка чайная", "Вилка столовая"]
    rows = "".join(f"{name} {at};A{at};5.00\n" for at, name in enumerate(names))
    desk.imported(f"name;sku;price\n{rows}".encode("mac_cyrillic"))
    found = {p["name"] for p in desk.products().values()}
    assert found == {f"{name} {at}" for at, name in enumerate(names)}
