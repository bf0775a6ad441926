# Three images: `engines` has the built-in bots with the compiler that they need, `database` PostgreSQL, `referee` (the
# default) the server alone.
#   docker build -t insertion-arena:referee .
#   docker build -t insertion-arena:engines --target engines .
#   docker build -t insertion-arena:database --target database .
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md ./
COPY protocol protocol
COPY client client
COPY conformance conformance
COPY engines engines
COPY server server
COPY cli cli
COPY learning learning
COPY museum museum
# pip stays in this stage: an image has no use for its 12 MB.
RUN python -m venv --without-pip /opt/arena

FROM build AS build-engines
RUN pip --python /opt/arena/bin/python install --no-cache-dir --constraint constraints.txt ".[engines]" ./museum

FROM build AS build-referee
RUN pip --python /opt/arena/bin/python install --no-cache-dir --constraint constraints.txt ".[server,postgres]" ./museum
# The symbols of compiled modules are 10 MB.
RUN apt-get update && apt-get install -y --no-install-recommends binutils \
    && find /opt/arena -name "*.cpython-*.so" -exec strip --strip-unneeded {} +

FROM python:3.12-slim AS base
# A named volume takes its owner from the folder that it covers.
# `site` may read the database, and nothing else (deploy/database.sh).
RUN useradd --create-home --uid 10001 arena && useradd --create-home --uid 10002 site && install -d -o arena /data /run/arena /home/arena/.cache
COPY deploy/restarted.sh /opt/restarted.sh
ENV PATH=/opt/arena/bin:$PATH PYTHONUNBUFFERED=1
USER arena
WORKDIR /data
ENTRYPOINT ["arena"]
CMD ["--help"]

FROM base AS engines
COPY --from=build-engines /opt/arena /opt/arena
# For x86-64-v3, or the processor here if it has less: others compile at the first use, as without this.
RUN arena engines --compile all

FROM base AS database
USER root
# The version is that of the base's Debian. The package makes a cluster of its own, which is not used.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/lib/postgresql /etc/postgresql && ln -s /usr/lib/postgresql/*/bin /opt/postgresql
ENV PATH=/opt/postgresql:$PATH PGHOST=/run/arena PGDATABASE=arena
COPY deploy/database.sh /opt/database.sh
USER arena
ENTRYPOINT ["/opt/database.sh"]
CMD []

FROM base AS referee
COPY --from=build-referee /opt/arena /opt/arena
COPY examples /etc/arena
