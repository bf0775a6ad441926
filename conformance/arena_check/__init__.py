"""Conformance to PROTOCOL.md, for bots and for servers: what `arena check` runs.

clauses  the rules by id                      bot/bench     a scripted referee; the other modules of bot/
cases    case, verdict, suite                               and of server/ hold the cases
wire     one connection, all of it logged     bot/process   the process under test
runner   a suite, one bench a case            server/bench  two scripted clients
report   text, JSON, JUnit
"""
