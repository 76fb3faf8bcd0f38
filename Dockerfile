# An image of `pieria serve`: docs/deploy.md says how to run it.
#
# Any Debian or Ubuntu image with Python 3.11 or newer among its packages serves as the base.
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BASE} AS build
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv
WORKDIR /build
COPY requirements/image.txt requirements/
RUN python3 -m venv /usr/local/pieria \
    && /usr/local/pieria/bin/pip install --quiet --no-cache-dir --require-hashes --requirement requirements/image.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN /usr/local/pieria/bin/pip install --quiet --no-cache-dir --no-deps --no-build-isolation .
# MODEL=yes adds the local model (84 MB), so that memories are found by meaning. Without it, recall compares words.
ARG MODEL=no
RUN mkdir -p /usr/local/pieria/share/pieria/models \
    && if [ "$MODEL" = yes ]; then \
        PIERIA_MODELS=/usr/local/pieria/share/pieria/models /usr/local/pieria/bin/pieria models install --quiet; fi
# Leave out what no server uses: the installer, downloads from model hubs, tools to make models, declarations
# for type checkers and compilers, and what is compiled of large packages but never imported.
RUN cd /usr/local/pieria/lib/python3*/site-packages \
    && /usr/local/pieria/bin/pip uninstall --quiet --yes hatchling trove-classifiers pluggy tomlkit \
        huggingface-hub httpx httpcore hf-xet fsspec filelock tqdm setuptools pip \
    && rm -rf onnxruntime/transformers onnxruntime/quantization onnxruntime/tools numpy/distutils numpy/f2py \
    && find . -type f \( -name '*.pyi' -o -name '*.h' -o -name '*.a' -o -name '*.pxd' \) -delete \
    && find . -depth -type d \( -name tests -o -name __pycache__ \) -exec rm -rf {} + \
    && /usr/local/pieria/bin/python -m compileall -q -x '/(numpy|onnxruntime|pygments)/' . \
    && /usr/local/pieria/bin/pieria demo --scenes all >/dev/null

FROM ${BASE}
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 ca-certificates \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin pieria \
    && install -d -o pieria -g pieria -m 0700 /data
COPY --from=build /usr/local/pieria /usr/local/pieria
ENV PATH=/usr/local/pieria/bin:$PATH \
    PIERIA_DATA=/data \
    PIERIA_MODELS=/usr/local/pieria/share/pieria/models \
    PIERIA_FETCH_MODEL=off \
    PYTHONDONTWRITEBYTECODE=1
USER pieria
WORKDIR /data
VOLUME /data
EXPOSE 7411
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
    CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:7411/health', timeout=2)"]
ENTRYPOINT ["pieria"]
CMD ["serve", "--host", "0.0.0.0"]
