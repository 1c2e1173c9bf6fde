"""Files of every kind that is read: a small real one each, and what is made of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from perdure import Perdure
from perdure.documents.document import LEADS_OUT
from perdure.documents.reader import read_file
from perdure.errors import InvalidInput, Unavailable
from perdure.surfaces.cli.sources import read_sources

PAGE = """<!doctype html><html><head><title>Ann's   notes</title><style>p { color: red }</style>
<meta property="article:published_time" content="2024-03-02T09:30:00Z"><script>var secret = 1;</script></head>
<body><header>Site name</header><nav><ul><li>Home</li><li>About</li></ul></nav>
<main><h1>Moving</h1><p>Ann moved to <b>Oslo</b> in March &amp; likes it.</p>
<ul><li>Buy a bicycle</li><li>Find a dentist</li></ul>
<table><tr><th>Name</th><th>City</th></tr><tr><td>Ben</td><td>Utrecht</td></tr></table>
<pre>x = 1
y = 2</pre><div hidden>Not shown.</div></main><aside>Buy this!</aside><footer>Cookies</footer></body></html>"""


def test_html_keeps_its_structure_and_loses_scripts_styles_and_navigation() -> None:
    read = read_file(PAGE.encode(), "page.html")
    assert read.text == (
        "# Moving\n\nAnn moved to Oslo in March & likes it.\n\n- Buy a bicycle\n- Find a dentist\n\n"
        "| Name | City |\n| Ben | Utrecht |\n\n```\nx = 1\ny = 2\n```"
    )
    assert read.title == "Ann's notes"
    assert read.written_at == datetime(2024, 3, 2, 9, 30, tzinfo=UTC)


def test_pdf_gives_its_text_title_and_date() -> None:
    pytest.importorskip("pypdf", reason="needs the extra `files`")
    read = read_file(
        small_pdf(["Ann moved to Oslo in March.", "She works at Fathom."], title="Ann's notes"), "a.pdf"
    )
    assert read.text == "Ann moved to Oslo in March.\nShe works at Fathom."
    assert (read.title, read.written_at) == ("Ann's notes", datetime(2024, 3, 2, 9, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"%PDF-1.4 broken", "a PDF that can be read"), (b"", "a PDF that can be read")],
)
def test_a_damaged_pdf_is_named(data: bytes, said: str) -> None:
    pytest.importorskip("pypdf", reason="needs the extra `files`")
    with pytest.raises(InvalidInput, match=f"a.pdf: expected {said}"):
        read_file(data, "a.pdf")


def small_pdf(lines: list[str], title: str = "") -> bytes:
    """A PDF of one page with these lines, written out by hand."""
    words = " T* ".join(f"({line.replace('(', chr(92) + '(')}) Tj" for line in lines)
    stream = f"BT /F1 12 Tf 14 TL 72 720 Td {words} ET" if lines else ""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) /CreationDate (D:20240302093000Z) >>",
    ]
    data = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 6 0 R >>\nstartxref\n{len(data)}\n%%EOF"
    )
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def test_docx_gives_headings_lists_and_tables_in_order() -> None:
    docx = pytest.importorskip("docx", reason="needs the extra `files`")
    document = docx.Document()
    document.core_properties.title = "Ann's notes"
    document.core_properties.modified = datetime(2024, 3, 2, 9, 30)
    document.add_heading("Moving", level=1)
    document.add_paragraph("Ann moved to Oslo in March.")
    table = document.add_table(rows=2, cols=2)
    for row, values in zip(table.rows, [("Name", "City"), ("Ben", "Utrecht")], strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    document.add_paragraph("Buy a bicycle", style="List Bullet")
    document.add_paragraph("Find a dentist", style="List Bullet")
    stream = BytesIO()
    document.save(stream)
    read = read_file(stream.getvalue(), "a.docx")
    assert read.text == (
        "# Moving\n\nAnn moved to Oslo in March.\n\n| Name | City |\n| Ben | Utrecht |\n\n- Buy a bicycle\n- Find a dentist"
    )
    assert (read.title, read.written_at) == ("Ann's notes", datetime(2024, 3, 2, 9, 30, tzinfo=UTC))


def test_a_damaged_docx_is_named() -> None:
    pytest.importorskip("docx", reason="needs the extra `files`")
    with pytest.raises(InvalidInput, match=r"a\.docx: expected a DOCX that can be read"):
        read_file(b"PK broken", "a.docx")


@pytest.mark.parametrize(("name", "module"), [("a.pdf", "pypdf"), ("a.docx", "docx")])
def test_a_missing_extra_is_named(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Unavailable, match=r"perdure\[files\]"):
        read_file(b"x", name)


def test_rows_of_a_table_repeat_the_names_of_its_columns() -> None:
    assert read_file(b"Name;City\nAnn;Oslo\nBen;\n", "a.csv").text == "- Name: Ann; City: Oslo\n- Name: Ben"
    assert read_file(b"Name\tCity\nAnn\tOslo, Norway\n", "a.tsv").text == "- Name: Ann; City: Oslo, Norway"


def test_a_mail_file_is_said_by_its_sender() -> None:
    mail = (
        b"From: Ann Smith <ann@example.org>\r\nTo: ben@example.org\r\nSubject: Oslo\r\nDate: Sat, 2 Mar 2024 09:30:00 +0000\r\n"
        b"Content-Type: text/html; charset=utf-8\r\n\r\n<p>I moved to Oslo.</p><script>x</script>"
    )
    read = read_file(mail, "a.eml")
    assert (read.text, read.title, read.speaker) == ("I moved to Oslo.", "Oslo", "Ann Smith")
    assert read.written_at == datetime(2024, 3, 2, 9, 30, tzinfo=UTC)


def test_front_matter_gives_a_notes_title_and_date() -> None:
    note = b'---\ntitle: "Standup"\ndate: 2024-05-01\ntags: [a]\n---\nBen fixed the build.\n'
    read = read_file(note, "a.md")
    assert (read.text, read.title) == ("Ben fixed the build.\n", "Standup")
    assert read.written_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert read_file(b"---\nBen fixed it.\n", "b.md").text == "---\nBen fixed it.\n"


MAIL = (
    b"From: Ann Smith <ann@example.org>\r\nSubject: Oslo\r\nDate: Sat, 2 Mar 2024 09:30:00 +0000\r\n\r\n"
    b"I moved to Oslo yesterday.\r\n\r\nOn Fri, 1 Mar 2024, Ben Hale wrote:\r\n> I live in Utrecht now.\r\n-- \r\nAnn Smith\r\n"
)
EXPORT = (
    "25/03/2024, 21:04 - Ann Lind: I adopted a cat\n25/03/2024, 21:05 - Ben: <Media omitted>\n"
    "02/04/2024, 08:15 - Ann Lind: I moved to Malmo yesterday\n"
)


@pytest.mark.parametrize(
    ("name", "data", "facts", "never"),
    [
        ("page.html", lambda: PAGE.encode(), ["Ann moved to Oslo in March"], ["secret", "Home", "Cookies", "color"]),
        ("a.pdf", lambda: small_pdf(["Ann moved to Oslo in March 2023."], title="Notes"), ["Ann moved to Oslo in March 2023."], ["%PDF"]),
        ("a.eml", lambda: MAIL, ["I moved to Oslo yesterday."], ["Utrecht", "wrote", "--"]),
        ("a.py", lambda: b"# Ben wrote this in 2021\ndef load(): ...\n", ["```python"], []),
        ("plan.svg", lambda: b"<svg><title>Lund office</title><text>Ann sits at desk 4.</text><style>b{}</style></svg>",
         ["Ann sits at desk 4."], ["{}"]),
        ("chat.txt", lambda: EXPORT.encode(), ["I adopted a cat", "I moved to Malmo yesterday"], ["Media"]),
        ("a.csv", lambda: b"name,city\nAnn,Oslo\n", ["name: Ann; city: Oslo"], []),
    ],
)  # fmt: skip
def test_facts_of_a_file_say_what_it_says_and_nothing_else(
    name: str, data: Callable[[], bytes], facts: list[str], never: list[str], tmp_path: Path
) -> None:
    if name.endswith(".pdf"):
        pytest.importorskip("pypdf", reason="needs the extra `files`")
    read = read_file(data(), name)
    options = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
    with Perdure.open(tmp_path / "m.db", **options) as memory:  # type: ignore[arg-type]
        memory.retain(
            "b", read.text, title=read.title or None, speaker=read.speaker or None, timestamp=read.written_at
        )
        stored = list(memory.facts.iterate("b"))
    texts = "\n".join(fact.text for fact in stored)
    assert [fact for fact in facts if fact not in texts] == []
    assert [word for word in never if word in texts] == []
    if name == "chat.txt":
        moved = next(fact for fact in stored if "Malmo" in fact.text)
        assert moved.occurred_start == datetime(2024, 4, 1, tzinfo=UTC)


def test_a_folder_leaves_out_what_is_excluded_installed_or_generated(tmp_path: Path) -> None:
    for name in (
        "notes/a.md", "notes/draft.md", "logs/x.log", "node_modules/lib/index.js", ".git/config", "app.min.js", "photo.png",
        "src/app.py",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Ann moved to Oslo.")
    collected = read_sources([str(tmp_path)], None, "auto", False, ["logs", "draft*"])
    names = [Path(reading.name).relative_to(tmp_path).as_posix() for reading in collected.readings]
    assert names == ["notes/a.md", "src/app.py"]
    reasons = {Path(file).name: reason for file, reason in collected.skipped}
    assert set(reasons) == {"node_modules", "app.min.js", "photo.png"}
    assert ".png" in reasons["photo.png"]


def test_links_that_lead_out_of_a_folder_are_named_and_not_read(tmp_path: Path) -> None:
    folder, outside = tmp_path / "clone", tmp_path / "home"
    for place in (folder / "docs", outside / "letters"):
        place.mkdir(parents=True)
        (place / "a.md").write_text(f"Ann moved to Oslo with {place.name}.")
    (folder / "secret.md").symlink_to(outside / "letters" / "a.md")
    (folder / "letters").symlink_to(outside / "letters")
    (folder / "again.md").symlink_to("docs/../../clone/docs/a.md")
    (folder / "loop.md").symlink_to("loop.md")
    (tmp_path / "link").symlink_to(folder)
    for given in (folder, tmp_path / "link"):
        collected = read_sources([str(given)], None, "auto", False)
        assert [reading.items[0]["content"] for reading in collected.readings] == [
            "Ann moved to Oslo with docs."
        ]
        assert {Path(file).name: reason for file, reason in collected.skipped} == {
            "secret.md": LEADS_OUT, "letters": LEADS_OUT
        }  # fmt: skip


def test_a_chat_export_as_a_text_file_keeps_its_own_dates(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("[13/05/2023, 14:12] Ann: I moved to Oslo.")
    (reading,) = read_sources([str(tmp_path / "chat.txt")], None, "auto", False).readings
    assert "timestamp" not in reading.items[0]
