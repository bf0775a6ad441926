"""A whole contest in virtual time: the referee's own core among simulated bots, wires and disks.

Everything happens out of one seed, with no socket, clock or file: the same seed gives the
same bytes. The server never imports this; `arena simulate` and the tests do.
"""
