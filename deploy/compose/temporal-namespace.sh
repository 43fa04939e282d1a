#!/bin/sh
# The namespace of the runs. Workers register the search attributes themselves.
set -eu
until temporal operator cluster health; do sleep 2; done
temporal operator namespace describe --namespace default ||
  temporal operator namespace create --namespace default --retention 2160h
