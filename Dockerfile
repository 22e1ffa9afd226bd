# A static fbo-node on an empty file system: no shell, no Python. As it stands it
# serves `hub` and `keep`. For `run`, copy /fbo-node into an image of your own that
# has your training: docs/deploy.md.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags="-s -w" -o /out/fbo-node ./cmd/fbo-node && mkdir /out/data

FROM scratch
COPY --from=build /out/fbo-node /fbo-node
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV FBO_DATA_DIR=/data
VOLUME /data
EXPOSE 4001/udp 4001/tcp 9464/tcp
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["/fbo-node", "status", "--running"]
ENTRYPOINT ["/fbo-node"]
CMD ["hub"]
