# sameas in an image that needs neither root nor a file system that can be written to:
#   docker build -t sameas .
#   docker run --rm --read-only --tmpfs /tmp -v "$PWD:/data" --user "$(id -u):$(id -g)" sameas \
#       align left.csv right.csv -o links.csv
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
ARG EXTRAS=web
# The demo compiles the kernels once, for all containers.
RUN python -m venv /opt/sameas \
 && /opt/sameas/bin/pip install --no-cache-dir ".[${EXTRAS}]" \
 && NUMBA_CACHE_DIR=/opt/sameas/kernels /opt/sameas/bin/sameas demo > /dev/null \
 && chmod -R a+rX /opt/sameas

FROM python:3.13-slim
COPY --from=build /opt/sameas /opt/sameas
ENV PATH=/opt/sameas/bin:$PATH NUMBA_CACHE_DIR=/tmp/kernels PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
RUN useradd --no-log-init --no-create-home --uid 10001 sameas
USER sameas
WORKDIR /data
# Numba uses compiled kernels only from a folder that it can write to.
ENTRYPOINT ["sh", "-c", "cp -r /opt/sameas/kernels /tmp/kernels 2> /dev/null; exec sameas \"$@\"", "sameas"]
CMD ["--help"]
