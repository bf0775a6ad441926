"""Every registered format under the laws."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.formats import FORMATS

from .laws import LAWS, Law


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_laws_hold(law: Law, name: str) -> None:
    @settings(deadline=None)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(FORMATS[name], data)

    holds()
