"""The languages of bots without a Dockerfile: one table, and what a file of a contest takes of it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.submissions.dockerfile import check_dockerfile
from arena_server.terms.languages import IMAGES, LANGUAGES, Language
from arena_server.terms.submissions import SubmissionRules
from arena_server.terms.tables import SubmissionsTable

STARTERS = Path(__file__).parents[3] / "client" / "starters"


@all_of("language", LANGUAGES.values())
def test_its_dockerfile_is_one_that_the_server_takes(language: Language) -> None:
    check_dockerfile(language.dockerfile(language.image).encode(), IMAGES, network=False)


@all_of("language", LANGUAGES.values())
def test_it_has_a_starter_that_is_run_with_the_same_tools(language: Language) -> None:
    text = (STARTERS / language.name / "README.md").read_text(encoding="utf-8")
    _, *builds, run = re.split("\n", re.search(r"```sh\n(.*?)\n```", text, re.DOTALL)[1])  # type: ignore[index]
    tool = {"cc": "gcc", "c++": "g++", "python3": "python", "./starter": "./bot"}
    first = shlex.split(run)[0]
    assert language.run[0] == tool.get(first, first)
    words = [shlex.split(line)[0] for line in builds]
    assert [tool.get(word, word) for word in words] == [
        word for word in shlex.split(language.build) if "=" not in word
    ][:1]


def test_the_rules_of_a_file_without_these_keys_are_the_usual_ones() -> None:
    assert SubmissionsTable().rules() == SubmissionRules()
    assert {name: LANGUAGES[name].image for name in LANGUAGES} == SubmissionRules().languages


@pytest.mark.parametrize(
    ("keys", "languages"),
    [
        ({"images": ["python:3.12-slim"]}, {"python": "python:3.12-slim"}),
        ({"images": ["gcc:14", "x"]}, {"c": "gcc:14", "cpp": "gcc:14"}),
        (
            {"images": ["gcc:14", "x"], "languages": {"c": "x", "go": "x"}},
            {"c": "x", "cpp": "gcc:14", "go": "x"},
        ),
        ({"images": ["debian"]}, {}),
    ],
)
def test_a_language_is_taken_whose_image_is(keys: dict[str, object], languages: dict[str, str]) -> None:
    assert SubmissionsTable.model_validate(keys).rules().languages == languages


def test_the_page_has_the_table() -> None:
    page = (STARTERS.parents[1] / "docs" / "submit.md").read_text(encoding="utf-8")
    for name, each in LANGUAGES.items():
        file = "`Bot.java`, with the class `Bot`" if name == "java" else f"`{each.file}`"
        build = f" `{each.build}` " if each.build else " "
        assert f"| `{name}` | {file} |{build}| `{' '.join(each.run)}` | `{each.image}` |" in page
