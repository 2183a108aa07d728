#!/usr/bin/env bash
# Lock files name packages and hashes, not where one of us happened to download them.
! grep -nE '"resolved": "https?:|index-url|registry=' \
  package-lock.json ui-tests/package-lock.json requirements/* .npmrc ui-tests/.npmrc
