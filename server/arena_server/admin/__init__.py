"""The organiser's door: metrics, health and orders over HTTP, on a port of its own.

`monitor` counts on the loop's thread; `desk` asks the loop from another; `metrics` puts what
they say in the words of Prometheus; `door` is the HTTP server, in a thread of its own;
`access` is who may come in, and where; `client` is the other end, for `arena admin`.
Nothing here is loaded before the referee listens, or at all without an admin port.
"""
