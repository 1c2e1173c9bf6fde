"""Files of the kinds that people have, retained by the command line: what they say is a fact, what only shows it is not."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

HTML = b"""<html><head><title>Team</title><style>.a{color:red}</style><script>track('Maya')</script></head>
<body><nav><a href="/">Home</a><a href="/shop">Shop</a></nav><main><p>Maya Okafor moved to Porto in March 2024.</p></main>
<footer>Imprint</footer></body></html>"""
SVG = b"""<svg xmlns="http://www.w3.org/2000/svg"><title>Rota</title><script>alert(1)</script>
<path d="M0 0L9 9"/><text x="1" y="2">Maya leads the design team.</text></svg>"""
CODE = b'''"""Maya wrote the billing service in 2023."""


def charge(total: int) -> int:
    # The rate is agreed with the bank every year.
    return total * 3
'''


def _docx() -> bytes:
    docx = pytest.importorskip("docx", reason="needs the extra `files`")
    document = docx.Document()
    document.add_heading("Moving", level=1)
    document.add_paragraph("Maya Okafor moved to Porto in March 2024.")
    document.add_paragraph("Maya plays the cello.", style="List Bullet")
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def _pdf() -> bytes:
    pytest.importorskip("pypdf", reason="needs the extra `files`")
    stream = "BT /F1 12 Tf 14 TL 72 720 Td (Maya Okafor moved to Porto in March 2024.) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    rows = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}"
    return (
        data
        + f"{head}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF".encode()
    )


MOVED = "Maya Okafor moved to Porto in March 2024."


@pytest.mark.parametrize(
    ("name", "data", "facts", "never"),
    [
        ("moving.pdf", _pdf, [MOVED], ["Helvetica"]),
        ("moving.docx", _docx, [MOVED, "Maya plays the cello."], []),
        ("team.html", lambda: HTML, [MOVED], ["Shop", "track", "Imprint", "color"]),
        ("rota.svg", lambda: SVG, ["Maya leads the design team."], ["alert", "M0 0"]),
        ("billing.py", lambda: CODE, ["Maya wrote the billing service in 2023."], []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_gives_the_facts_that_it_states(
    cli: Any, name: str, data: Callable[[], bytes], facts: list[str], never: list[str]
) -> None:
    Path(cli.folder / name).write_bytes(data())
    ran = cli("retain", name, "--json")
    assert ran.code == 0, ran.err
    texts = [fact["text"] for fact in cli("facts", "list", "--json").json["facts"]]
    for fact in facts:
        assert any(fact.rstrip(".") in text for text in texts), texts
    assert not [text for text in texts for word in never if word in text]
