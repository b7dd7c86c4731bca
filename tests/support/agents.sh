#!/bin/sh
# agents - fetches the coding agents of tests/e2e/agent_*.sh from the npm registry into a folder.
# SPDX-License-Identifier: MIT
#
# usage: agents.sh DIR [latest]    The versions below are those that the tests passed with; make soak takes the newest.
set -eu
dir=$1 latest=${2:-}
set --
for package in @anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33; do
	[ "$latest" != latest ] || package=${package%@*}@latest
	set -- "$@" "$package"
done
npm install --silent --global --prefix "$dir" --no-audit --no-fund "$@" </dev/null
