"""Several ranks as data, text, HTML and payload."""

import base64
import json
import zlib
from pathlib import Path

import make_ranks_fixture
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_ranks_fixture import ACTIVATION, PARAMETERS, members, rank
from random_recordings import recordings

import memtrack
from memtrack.analysis.ranks import imbalance, rank_peak
from memtrack.rankfacts import RankFacts, rank_from_json, rank_of_environment
from memtrack.ranks import Ranks
from memtrack.reports.ranks import MOST_REPORTS, build_ranks_report
from memtrack.reports.rankspayload import MIME_TYPE, encode_ranks, payload_bytes
from memtrack.reports.rankstable import ranks_html, render_ranks

FIXTURE = Path(make_ranks_fixture.__file__).parent / "fixtures" / "ranks" / "ranks.json"
SMALL, LARGE = PARAMETERS + 4 * ACTIVATION, PARAMETERS + 12 * ACTIVATION


@pytest.fixture(scope="module")
def report():
    return build_ranks_report("train", 4, members())


def unpacked(payload):
    """The payload with the columns of its reports as bytes: how they are packed is zlib's affair."""
    for row in payload["ranks"]:
        if row["report"]:
            row["report"]["buffers"] = zlib.decompress(base64.b64decode(row["report"]["buffers"]))
    return payload


def test_the_fixture_is_what_the_script_writes():
    written = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert unpacked(written) == unpacked(make_ranks_fixture.payload())


def test_the_payload_says_who_is_fullest_and_why(report):
    payload = encode_ranks(report)
    mean = (SMALL + LARGE + SMALL) / 3
    assert (payload["max_rank"], payload["max_peak"], payload["mean_peak"]) == (
        1,
        LARGE,
        round(mean),
    )
    assert payload["imbalance"] == LARGE / mean
    assert [row["rank"] for row in payload["ranks"]] == [0, 1, 3]
    assert payload["missing"] == [2]
    first = payload["categories"][0]
    assert first["id"] == "activation"
    assert first["bytes"] == [4 * ACTIVATION, 12 * ACTIVATION, 4 * ACTIVATION]
    assert first["difference"] == round(LARGE - mean)
    by_path = {row["path"]: row["bytes"] for row in payload["layers"]}
    assert by_path["model.head"] == [PARAMETERS + 3 * n * ACTIVATION for n in (1, 3, 1)]
    assert by_path["model.body"] == [n * ACTIVATION for n in (1, 3, 1)]


def test_the_text_is_the_answer_then_what_happened_then_a_row_a_rank(report):
    assert render_ranks(report) == (
        "Rank 1 peaks at 1.23 GiB, 1.73 × the mean of 3 ranks (731 MiB)\n"
        "- Of the 533 MiB above the mean, 533 MiB are activations: 1.17 GiB there, 667\n"
        "  MiB on average\n"
        "- By layer most of it is model.head: 964 MiB on rank 1, 564 MiB on average\n"
        "- No recording of: rank 2\n"
        "- Rank 3 left no end: it was killed or still runs. Recorded until step 2\n"
        "\n"
        "rank      peak  of the highest  reserved  where       steps   a step  state\n"
        "   0   464 MiB            37 %            model.body      2  4.00 µs  complete\n"
        "   1  1.23 GiB           100 %            model.body      2  4.00 µs  complete\n"
        "   3   464 MiB            37 %            model.body      2           no end"
    )
    page = ranks_html(report, "zh_CN")
    assert page.count("<tr>") == 4 and "rank 1 的峰值为 1.23 GiB" in page
    assert "<script" not in page


def test_equal_ranks_are_alike_and_one_rank_is_its_own_mean():
    same = [(RankFacts(n, 2), "", lambda: rank(0, 1)) for n in range(2)]
    found = build_ranks_report("train", 2, same)
    assert str(found.headline) == "2 ranks peak alike, at 464 MiB" and not found.details
    alone = build_ranks_report("train", 1, same[:1])
    assert str(alone.headline) == "Rank 0 peaks at 464 MiB"
    assert alone.imbalance.ratio == 1.0


@given(st.lists(recordings(), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_parts_sum_to_each_peak_and_their_differences_to_that_of_the_peaks(all_data):
    ranks = [found for data in all_data if (found := rank_peak(data)) is not None]
    if not ranks:
        return
    for one in ranks:
        assert sum(one.categories.values()) == sum(one.layers.values()) == one.peak.bytes
    found = imbalance(ranks)
    peaks = [one.peak.bytes for one in ranks]
    assert found.most == max(peaks) == peaks[found.fullest]
    for place, peak in enumerate(peaks):
        assert sum(share.bytes[place] for share in found.categories) == peak
    rounding = len(found.categories) / 2
    told = sum(share.difference for share in found.categories)
    assert abs(told - (max(peaks) - sum(peaks) / len(peaks))) <= rounding


def test_of_many_ranks_the_fullest_keep_their_report_and_the_payload_its_bound():
    many = [(RankFacts(n, 40), "", lambda n=n: rank(0, 1 + n % 20)) for n in range(40)]
    payload = encode_ranks(build_ranks_report("train", 40, many))
    kept = [row["rank"] for row in payload["ranks"] if row["report"]]
    assert kept == [16, 17, 18, 19, 36, 37, 38, 39] and len(kept) == MOST_REPORTS
    assert payload_bytes(payload) < 1_000_000


def test_ranks_show_themselves_and_refuse_what_is_of_one_rank():
    ranks = Ranks("train", 4, members())
    assert (len(ranks), list(ranks), ranks.missing) == (3, [0, 1, 3], (2,))
    assert ranks.peaks == {0: SMALL, 1: LARGE, 3: SMALL}
    assert ranks[1].peak.bytes == LARGE
    assert set(ranks._repr_mimebundle_()) == {"text/plain", "text/html", MIME_TYPE}
    table = ranks.to_pandas()
    assert table["peak_bytes"].tolist() == [SMALL, LARGE, SMALL]
    assert (table["activation_bytes"] + table["parameter_bytes"]).tolist() == [SMALL, LARGE, SMALL]
    with pytest.raises(
        memtrack.UsageError, match=r"There is no recording of rank 2\. Known: 0, 1, 3"
    ):
        ranks[2]
    for ask in (lambda: ranks.data, ranks.report, ranks.summary):
        with pytest.raises(memtrack.UsageError, match=r"several ranks\. Name one of them"):
            ask()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"RANK": "one"}, None),
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, (3, 8, 1)),
        ({"LOCAL_RANK": "1"}, (1, 2, 1)),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, (2, 4, -1)),
    ],
)
def test_the_environment_of_torchrun_and_mpirun_tells_the_rank(environment, expected):
    found = rank_of_environment(environment)
    told = None if found is None else (found.rank, found.world_size, found.local_rank)
    assert told == expected
    assert found is None or rank_from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize(
    "told",
    [None, [], {}, {"rank": 2, "world_size": 2}, {"rank": True, "world_size": 2}, {"rank": "0"}],
)
def test_facts_of_another_program_are_no_rank(told):
    assert rank_from_json(told) is None
