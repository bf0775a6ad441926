"""Every registered format whose games are known in advance under the laws."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import rows

from arena_server.core.formats import FORMATS
from arena_server.core.formats.scheduled import Scheduled
from arena_server.core.formats.testing import LAWS, Law

PLANNED = {name: form for name, form in FORMATS.items() if issubclass(form, Scheduled)}


@pytest.mark.parametrize("name", PLANNED)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("examples", rows([12, 250], 2))
def test_the_laws_hold(law: Law, name: str, examples: int) -> None:
    @settings(deadline=None, max_examples=examples)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(PLANNED[name], data)

    holds()
