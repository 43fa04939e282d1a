# The service's image: API, worker, an exchange's own process, `fundadmin` and `fundctl` of one
# build (docs/deploy.md).
#
#   docker build --build-arg VERSION=$(node -p "require('./package.json').version") \
#     --build-arg REVISION=$(git rev-parse HEAD) --tag fund-movement-orchestrator .
#
# glibc, since Temporal's core is built for it. Pin NODE_IMAGE to a digest where builds must repeat.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
# A registry of your own: --secret id=npmrc,src=$HOME/.npmrc. It is in no layer.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm npm ci
COPY . .
# Nothing optional stays: that is compilers of tests, and a chain for development.
RUN npm run build -- --into /app \
  && npm prune --omit=dev --omit=optional \
  && cd node_modules && rm -rf .cache .installed-from \
       @temporalio/core-bridge/sdk-core @temporalio/core-bridge/releases/*-apple-* \
       @temporalio/core-bridge/releases/*-windows-* \
  && find @prisma/client/runtime -name 'query_compiler_*' ! -name '*.postgresql.*' -delete && cd .. \
  && mv node_modules deploy/image/bin /app/ \
  && chmod -R a+rX,go-w /app

FROM ${NODE_IMAGE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="fund-movement-orchestrator" \
      org.opencontainers.image.description="Guarded transfers of funds between venues, driven by Temporal and recorded in Postgres" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Temporal's core reads the system's certificates, which the slim image lacks. tini is process 1: it
# passes signals on to what has no handler of its own yet, such as a start that hangs or a migration.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
COPY --from=build --chown=0:0 /app /app
WORKDIR /app
ENV NODE_ENV=production PATH=/app/bin:$PATH
# It owns nothing, and nothing is written: the root file system may be read-only.
USER 65532:65532
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/main.js", "all"]
EXPOSE 8100 9465
# Alive, not ready: some platforms replace what is unhealthy, and a database that is away is no
# reason to replace a worker. What waits for a ready service asks `healthy /readyz`.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["healthy", "/healthz"]
STOPSIGNAL SIGTERM
