# One image for the referee and for the built-in bots. Build: docker build -t insertion-arena .
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md ./
COPY protocol protocol
COPY client client
COPY engines engines
COPY server server
RUN python -m venv /opt/arena \
 && /opt/arena/bin/pip install --no-cache-dir --constraint constraints.txt ".[all]"

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 arena && mkdir /data && chown arena /data
COPY --from=build /opt/arena /opt/arena
COPY examples /etc/arena
ENV PATH=/opt/arena/bin:$PATH PYTHONUNBUFFERED=1
USER arena
WORKDIR /data
ENTRYPOINT ["arena"]
CMD ["--help"]
