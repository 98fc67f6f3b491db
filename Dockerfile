# docker build -t redoubt .      docker run --rm redoubt solve "river_swim(horizon=10,start=3)"
# Files: docker run --rm -v "$PWD:/work" redoubt solve problem.json -o solution.h5
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates
COPY . /source
WORKDIR /source
RUN make demo && strip build/redoubt

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libhdf5-103-1 libarchive13 libfmt9 && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/build/redoubt /usr/local/bin/redoubt
WORKDIR /work
ENTRYPOINT ["redoubt"]
