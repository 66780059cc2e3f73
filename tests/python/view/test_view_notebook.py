"""`timeloom.view()`: the page inside a notebook, and a server behind a proxy."""

import html
import http.client
import re
import shutil
import urllib.parse

import pytest
from converted import recorded
from test_view_html import sections_of

import timeloom

pytestmark = pytest.mark.any_python


@pytest.fixture
def run(program, tmp_path):
    return shutil.copytree(recorded("threads", program), tmp_path / "run")


def attribute(view, name):
    (value,) = re.findall(f'{name}="([^"]*)"', view._repr_mimebundle_()["text/html"])
    return html.unescape(value)


def test_a_page_that_asks_nobody(run, monkeypatch):
    monkeypatch.delenv("JUPYTERHUB_PUBLIC_URL", raising=False)
    view = timeloom.view(run, height=333)
    page = attribute(view, "srcdoc")
    assert "connect-src 'none'" in page and [tag for tag, _ in sections_of(page)][:2] == [1, 2]
    assert repr(view) == f"timeline: timeloom view {run}"
    assert "height:333px" in view._repr_mimebundle_()["text/html"]
    view.stop()


def test_two_runs_with_their_sources(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = shutil.copytree(run, tmp_path / "other")
    page = attribute(timeloom.view(timeloom.read(str(run)), other, with_source=True), "srcdoc")
    assert page.count('id="timeloom-data') == 2


def test_a_server_behind_a_proxy(run):
    view = timeloom.view(run, proxy="https://hub.example/user/me/proxy/{port}/")
    address = urllib.parse.urlsplit(attribute(view, "src"))
    port = int(address.path.split("/")[-2])
    assert (address.hostname, address.path) == ("hub.example", f"/user/me/proxy/{port}/")
    token = address.fragment.removeprefix("t=")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    origin = {"Host": "hub.example", "Origin": "https://hub.example", "Sec-Fetch-Site": "same-origin"}
    connection.request("GET", "/", headers={"Host": "hub.example"})
    answer = connection.getresponse()
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"] and answer.read()
    connection.request("POST", "/api/runs", headers={**origin, "X-Timeloom-Token": token})
    assert connection.getresponse().read() == b'{"runs": 1}'
    connection.close()
    view.stop()
    with pytest.raises(OSError):
        http.client.HTTPConnection("127.0.0.1", port, timeout=60).request("GET", "/")


def test_the_proxy_of_a_hub_is_found(run, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_PUBLIC_URL", "https://hub.example/user/me/")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    view = timeloom.view(run)
    assert attribute(view, "src").startswith("https://hub.example/user/me/proxy/")
    view.stop()


@pytest.mark.parametrize("proxy", ["", "http://hub/{port}/"])
def test_no_run(tmp_path, proxy):
    with pytest.raises(timeloom.Error, match="none"):
        timeloom.view(tmp_path / "none", proxy=proxy)
