"""Scripts and styles without blanks: nothing else is taken out of them."""

from __future__ import annotations

from arena_server.web import blanks
from arena_server.web.bundle import _COMMENT
from arena_server.web.languages import STATIC, texts_of


def test_literals_and_words_of_a_script_stay_as_they_are() -> None:
    script = """const a = { b : 1 }; // it's
return /[a ,"`]+ , \\/ {2}/g.test (c) ? `x , ${ d({ e : "f , 'g" }) } , y` : 1 + +h / 2 / i; /* no "j */
case 'k , l' : return ! m in [ n ];

o (p,
  { q },
) ;
r
(`;
 `)"""
    lines = blanks.script(script).splitlines()
    assert lines == [
        'const a={b:1};return /[a ,"`]+ , \\/ {2}/g.test(c)?'
        '`x , ${ d({ e : "f , \'g" }) } , y`:1 + +h / 2 / i;'
        "case 'k , l':return!m in[n];o(p,{q},);r",
        # Here the line may have ended a statement.
        "(`;",
        " `)",
    ]


def test_selectors_and_strings_of_a_style_stay_as_they_are() -> None:
    style = (
        '.a :is(b, c) > d,\n  e { top: 0; content: " : { ; } "; }\n@media (x: 1) { f { g: calc(1px + 2px) } }'
    )
    bare = '.a :is(b,c) > d,e{top:0;content:" : { ; } "}@media (x:1){f{g:calc(1px + 2px)}}'
    assert blanks.style(style) == bare


def test_every_script_has_the_same_texts() -> None:
    for path in STATIC.glob("js/**/*.js"):
        source = _COMMENT.sub("", path.read_text(encoding="utf-8"))
        found = blanks.script(source)
        assert [*texts_of(found)] == [*texts_of(source)], path.name
        assert blanks.script(found) == found, path.name
