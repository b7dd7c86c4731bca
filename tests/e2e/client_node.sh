#!/bin/bash
# client_node - a client of cordon serve in TypeScript, compiled with types made from the schema.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox node
tools=$PWD/build/npm/node_modules
[ -x "$tools/.bin/tsc" ] && [ -x "$tools/.bin/json2ts" ] || skip_all "TypeScript is not here: make test fetches it"
dir=$(new_folder work)
cd "$(new_folder client)" || exit 1
cp "$OLDPWD/tests/support/client.ts" . && ln -s "$tools" node_modules || exit 1
"$tools/.bin/json2ts" -i "$OLDPWD/core/api/protocol.json" -o protocol.d.ts &&
	"$tools/.bin/tsc" --strict --target es2022 --module commonjs --moduleResolution node --types node --skipLibCheck client.ts >said || {
	fail "the client compiles" "$(cat said)"
	done_testing
}
exec node client.js "$CORDON" "$dir"
