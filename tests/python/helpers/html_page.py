"""The data in a page of `timeloom view --html`, as docs/formats/view-http.md describes it."""

import base64
import gzip
import re
import struct

DATA = re.compile(r'<script type="application/octet-stream" id="timeloom-data(?:-2)?">([A-Za-z0-9+/=]*)</script>')


def sections_of(page):
    """[(tag, bytes), ...] of the text of a page with one run; the last tag is 0."""
    (sections,) = each_data_of(page)
    return sections


def each_data_of(page):
    """The sections of each run of a page."""
    return [_sections(text) for text in DATA.findall(page)]


def _sections(text):
    data = gzip.decompress(base64.b64decode(text, validate=True))
    at, sections = 0, []
    while True:
        tag, size = struct.unpack_from("<2I", data, at)
        sections.append((tag, data[at + 8 : at + 8 + size]))
        at += 8 + (size + 7) // 8 * 8
        if tag == 0:
            assert at == len(data)
            return sections
