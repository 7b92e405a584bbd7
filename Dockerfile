# syntax=docker/dockerfile:1
FROM golang:1.26 AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
# Modules change less often than the code: a layer of their own.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /outbox-cdc ./cmd/outbox-cdc

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /outbox-cdc /outbox-cdc
# Not root; by number, so that Kubernetes can check runAsNonRoot.
USER 65532:65532
# A container's loopback is reached by nobody: metrics and health must listen
# on all its addresses.
ENV OUTBOX_CDC_LISTEN_ADDRESS=0.0.0.0:9855
EXPOSE 9855
ENTRYPOINT ["/outbox-cdc"]
