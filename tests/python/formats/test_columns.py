"""The tables as columns, in packages that read them: texts are dictionaries, and the rows equal the JSON rows."""

import json

import pytest
from archives import make_archive
from converted import converter, recorded

import timeloom

pytestmark = [pytest.mark.any_python, pytest.mark.one_python]

TABLES = ("paths", "flat", "events")
TEXTS = {
    "paths": {"process", "thread", "kind", "name", "file", "module", "category", "parameter.result"},
    "flat": {"process", "thread", "kind", "name", "file", "module", "category"},
    "events": {"process", "thread", "event", "name", "text"},
}


@pytest.fixture(params=TABLES)
def table(request):
    return request.param


@pytest.fixture
def opened(program, table):
    return timeloom.read(recorded("threads", program)).table(table)


@pytest.fixture
def file(program, tmp_path, table):
    return converter(program, recorded("threads", program), tmp_path)("arrow", f"--{table}")


@pytest.fixture
def expected(program, tmp_path, table):
    file = converter(program, recorded("threads", program), tmp_path)("json", f"--{table}", name="rows.json")
    return ordered(json.loads(file.read_text()))


def ordered(rows):
    """Threads come in any order, the rows of each in order of time."""
    return sorted(rows, key=lambda row: (row["process"], row["thread"]))


def test_pyarrow(opened, file, expected, table):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    columns = pyarrow.table(opened)
    columns.validate(full=True)
    assert ordered(columns.to_pylist()) == expected
    assert {field.name for field in columns.schema if pyarrow.types.is_dictionary(field.type)} == TEXTS[table]
    with ipc.open_file(file) as reader:
        of_file = reader.read_all()
    of_file.validate(full=True)
    assert of_file.schema == columns.schema and ordered(of_file.to_pylist()) == expected
    for column in of_file.columns:
        for chunk in column.chunks:
            words = chunk.dictionary.to_pylist() if pyarrow.types.is_dictionary(column.type) else []
            assert len(set(words)) == len(words)
    parquet.write_table(columns, file.with_suffix(".parquet"))
    assert ordered(parquet.read_table(file.with_suffix(".parquet")).to_pylist()) == expected


def test_pandas(opened, file, expected, table):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for frame in (pandas.DataFrame.from_arrow(opened), pandas.read_feather(file)):
        texts = {name for name in frame.columns if isinstance(frame[name].dtype, pandas.CategoricalDtype)}
        assert texts == TEXTS[table]
        rows = [{key: None if pandas.isna(value) else value for key, value in row.items()} for row in frame.to_dict("records")]
        assert ordered(rows) == expected


def test_polars(opened, file, expected, table):
    polars = pytest.importorskip("polars")
    for frame in (polars.DataFrame(opened), polars.read_ipc(file), polars.scan_ipc(file).collect()):
        assert {name for name in frame.columns if frame[name].dtype == polars.Categorical} == TEXTS[table]
        assert ordered(frame.to_dicts()) == expected
        frame.write_parquet(file.with_suffix(".parquet"))
        assert ordered(polars.read_parquet(file.with_suffix(".parquet")).to_dicts()) == expected


def test_duckdb(opened, expected):
    duckdb = pytest.importorskip("duckdb")
    query = duckdb.sql("select * from opened")
    rows = [dict(zip(query.columns, row)) for row in query.fetchall()]
    assert ordered(rows) == expected


@pytest.mark.parametrize("regions, index", [(100, "int8"), (1_000, "int16"), (40_000, "int32")])
def test_places_in_a_dictionary_are_as_small_as_can_be(tmp_path, regions, index):
    pyarrow = pytest.importorskip("pyarrow")
    events = [event for i in range(regions) for event in ((2 * i, f"function {i}"), (2 * i + 1, None))]
    run = timeloom.read(make_archive(tmp_path / "run", {"MainThread": events}))
    columns = pyarrow.table(run.events())
    assert str(columns.schema.field("name").type.index_type) == index
    assert columns["name"].to_pylist() == [f"function {i // 2}" for i in range(2 * regions)]
    frame = run.to_pandas(table="events")
    assert list(frame["name"]) == columns["name"].to_pylist()
    assert run.to_polars(table="events")["name"].to_list() == columns["name"].to_pylist()


def test_no_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    run = timeloom.read(make_archive(tmp_path / "empty", {"MainThread": []}))
    for name in TABLES:
        assert pyarrow.table(run.table(name)).num_rows == 0 == len(polars.DataFrame(run.table(name)))
        assert len(run.to_pandas(table=name)) == 0
