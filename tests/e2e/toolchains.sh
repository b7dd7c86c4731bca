#!/bin/bash
# toolchains - builds in usual languages run headless, without rules and questions, in an empty and in a used
# home, and change nothing of it. Tools that are not installed are left out.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
# Java reads its home from the passwd file.
options=(--set "sandbox.set-env=JAVA_TOOL_OPTIONS=-Duser.home=$HOME")
unset CCACHE_DIR CARGO_HOME RUSTUP_HOME GOPATH GEM_HOME XDG_CACHE_HOME PIP_CACHE_DIR npm_config_cache
dir=$(new_folder work)
in_home() { (cd "$dir" && timeout 120 "$CORDON" run --headless "${options[@]}" "$@" 2>&1); }
home_is() { # what a session must not change
	(cd "$HOME" && find . -mindepth 1 \( -path ./.local -o -path ./.config \) -prune -o -printf '%p %y %m %s %T@ %l\n' | LC_ALL=C sort)
}
inside() { in_home -- sh -c "$1"; }

# ---- an empty home -------------------------------------------------------------------------------
before=$(home_is)
is "$(inside 'd=${GRADLE_USER_HOME:-$HOME/.gradle}; mkdir -p "$d/a/b" && echo kept >"$d/a/b/f"; cat "$d/a/b/f"')" kept "a tool makes its directory"
is "$(inside 'cat "${GRADLE_USER_HOME:-$HOME/.gradle}/a/b/f"')" kept "which the next session finds"
is "$(inside 'd=${XDG_CACHE_HOME:-$HOME/.cache}; mkdir -p "$d/any" && echo 1 >"$d/any/f" && cat "$d/any/f"')" 1 "any program has a cache"
is "$(inside 'test -w "${XDG_CACHE_HOME:-$HOME/.cache}" && echo yes')" yes "which it finds writable before it makes anything"
is "$(inside 'd=${GEM_HOME:-$HOME/.local/share/gem}; mkdir -p "$d" && echo 1 >"$d/f" && cat "$d/f"')" 1 "also some levels down"
other=$(new_folder other)
is "$(dir=$other inside 'cat "${GRADLE_USER_HOME:-$HOME/.gradle}/a/b/f" 2>/dev/null || echo none')" none "another folder has its own"
like "$(inside 'mkdir "$HOME/documents"')" 'writing ~/documents was refused' "another directory of the home is asked about"
is "$(home_is)" "$before" "the home has not changed"
is "$(cordon_in "$dir" log --json | grep -c '"command"')" 0 "and nothing was a step"

# ---- a used home ---------------------------------------------------------------------------------
mkdir -p "$HOME"/{.cargo/registry,.m2/repository,.cache/pip,.cache/mail,.nuget/NuGet,disk/npm,.ivy2,.gem,.yarn}
echo setting >"$HOME/.cargo/config.toml"
echo token >"$HOME/.cargo/credentials.toml"
echo token >"$HOME/.m2/settings.xml"
echo token >"$HOME/.nuget/NuGet/NuGet.Config"
echo wheel >"$HOME/.cache/pip/w"
echo private >"$HOME/.cache/mail/m"
echo package >"$HOME/disk/npm/p"
ln -s "$HOME/disk/npm" "$HOME/.npm"
ln -s / "$HOME/.bun"
chmod 0 "$HOME/.yarn"
before=$(home_is)
like "$(in_home -- sh -c 'for f in .cargo/config.toml .npm/p; do cat ~/$f; done')" '^setting
package$' "what is there shows, by a link too"
out=$(inside 'for f in .cargo/credentials.toml .m2/settings.xml .nuget/NuGet/NuGet.Config .cache/mail/m; do cat ~/$f; done')
unlike "$out" 'token|private' "secrets and caches of others do not"
unlike "$out" 'credentials.toml: Permission' "a tool is not stopped by a file that it may not read"
out=$(inside 'r=${CARGO_HOME:-$HOME/.cargo}; mkdir -p "$r/git" && echo new >"$r/config.toml" && rm -rf "$r/registry" && cat "$r/config.toml"')
is "$out" new "it may be changed, and things removed"
is "$(inside 'r=${CARGO_HOME:-$HOME/.cargo}; cat "$r/config.toml"; ls "$r"')" $'new\nconfig.toml\ngit' "which lasts"
is "$(home_is)" "$before" "the host's is as before"
unlike "$(inside 'mkdir ~/.bun/made && echo made')" '^made' "a link to / makes nothing of it writable"
chmod 700 "$HOME/.yarn"

# Files left by the agent must not misdirect the next start.
inside 'ln -s / "${XDG_CACHE_HOME:-$HOME/.cache}/uv"' >/dev/null
mkdir "$HOME/.cache/uv"
echo host >"$HOME/.cache/uv/f"
like "$(inside 'cat ~/.cache/uv/f')" 'host|uv/f' "a link of the agent's is no mount point"
ok "and nothing was mounted elsewhere" test ! -e /f

# A secret that is created on the host meanwhile.
rm -f "$HOME/.gem/credentials"
start_in "$dir" sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done; cat ~/.gem/credentials >seen 2>/dev/null; touch done'
wait_for 20 test -e "$dir/ready"
echo token >"$HOME/.gem/credentials"
touch "$dir/go"
wait "$pid" 2>/dev/null
is "$(cat "$dir/seen")" "" "a secret that is saved during the session does not show"
rm -f "$dir"/{ready,go,seen,done}

# Others in the same folder: a refused one, and an undo.
dir=$(new_folder shared)
start_in "$dir" sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done
	c=${CARGO_HOME:-$HOME/.cargo} g=${GRADLE_USER_HOME:-$HOME/.gradle}
	mkdir -p "$c" && echo live >"$c/x" && cat "$c/x" && mkdir "$g" && echo live >"$g/y" && cat "$g/y"' >"$TEST_TMP/live" 2>&1
wait_for 20 test -e "$dir/ready"
like "$(inside true)" 'another cordon|in use|runs' "a second session in the folder is refused"
cordon_in "$dir" undo >/dev/null 2>&1
like "$(cordon_in "$dir" cache)" "B  $dir" "the folder's name stays with what its tools keep"
touch "$dir/go"
wait "$pid" 2>/dev/null
is "$(cat "$TEST_TMP/live")" $'live\nlive' "the live session's directories work"
is "$(inside 'cat "${CARGO_HOME:-$HOME/.cargo}/x" "${GRADLE_USER_HOME:-$HOME/.gradle}/y"')" $'live\nlive' "and are kept"
cordon_in "$dir" undo >/dev/null 2>&1
is "$(inside 'cat "${CARGO_HOME:-$HOME/.cargo}/x"')" live "also over an undo"
ln -s nowhere "$HOME/.sbt"
unlike "$(inside 'mkdir ~/.sbt && echo made')" '^made' "a link that leads nowhere is no absent directory"
rm "$HOME/.sbt"
dir=$TEST_TMP/work

# ---- rules are stronger --------------------------------------------------------------------------
mkdir -p "$HOME/.config/cordon" "$HOME/.gradle" "$HOME/.sbt"
echo secret >"$HOME/.sbt/f"
printf '[rule "mine"]\n\tallow = read,write ~/.gradle/**\n\tdeny = read ~/.sbt/**\n' >"$HOME/.config/cordon/config"
inside 'echo 1 >~/.gradle/f' >/dev/null
is "$(cat "$HOME/.gradle/f" 2>&1)" 1 "what a rule lets be written is the host's"
unlike "$(inside 'cat ~/.sbt/f')" secret "what a rule denies does not show"
rm -rf "$HOME/.config/cordon/config" "$HOME/.gradle" "$HOME/.sbt"
use='d=${GRADLE_USER_HOME:-$HOME/.gradle}; mkdir -p "$d" && echo 1 >"$d/f" && cat "$d/f"'
is "$(inside "$use")" 1 "an absent directory is made"
printf '[rule "home"]\n\tallow = read ~/**\n' >"$HOME/.config/cordon/config"
is "$(inside "$use")" 1 "and has another place in a home that a rule shows"
rm "$HOME/.config/cordon/config"
verdict() { cordon_in "$dir" why "$@" --json -- sh | sed -E 's/.*"verdict":"([a-z]+)".*"losers.*/\1/'; }
is "$(verdict connect repo.maven.apache.org:443)" allow "registries can be reached"
is "$(verdict connect example.com:443)" ask "other hosts are asked about"
printf '[network]\n\tregistries = off\n' >"$HOME/.config/cordon/config"
is "$(verdict connect repo.maven.apache.org:443)" ask "network.registries = off"
rm "$HOME/.config/cordon/config"

is "$(verdict write "$HOME/.m2/x")" allow "why knows the homes of tools"
is "$(verdict write "${dir%/*}/_tmp_1_2")" deny "where pnpm 10 looks for the root of a disk it is refused unasked"
for path in .java .local/state/pnpm .conan2 .cache/vcpkg .cache/uv .nuget; do is "$(verdict write "$HOME/$path/x")" allow "also $path"; done
for host in center2.conan.io codeload.github.com api.nuget.org; do is "$(verdict connect $host:443)" allow "and $host"; done
is "$(verdict read "$HOME/.m2/settings.xml")" hide "and what is secret in them"
is "$(SHELL=/bin/sh cordon_in "$dir" why connect registry.npmjs.org:443 | head -n 1 | cut -d ' ' -f 1)" allow "why without a command is about what cordon alone would run"

# ---- cordon cache --------------------------------------------------------------------------------
like "$(cordon_in "$dir" cache)" "B  $dir
.* in all" "cordon cache lists the folders"
start_in "$dir" sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done'
wait_for 20 test -e "$dir/ready"
like "$(cordon_in "$dir" cache --clear 2>&1)" "$dir: a session runs there" "what is in use is not cleared"
touch "$dir/go"
wait "$pid" 2>/dev/null
rm -f "$dir"/{ready,go}
store=$HOME/.local/state/cordon/homes
touch -d '2 days ago' "$store"/work-*
printf '[cache]\n\tsize = 1\n' >"$HOME/.config/cordon/config"
inside_other=$(dir=$other inside 'mkdir -p ~/.m2; sleep 0.1; echo made')
like "$inside_other" made "another folder is used"
ok "cordon cache --trim" cordon_in "$dir" cache --trim
is "$(compgen -G "$store/work-*")" "" "the limit removes what was used least recently"
rm -f "$HOME/.config/cordon/config"
ok "cordon cache --clear --all" cordon_in "$dir" cache --clear --all
is "$(ls "$store")" "" "nothing is left"
like "$(cordon_in "$dir" cache --all 2>&1)" 'usage: cordon cache' "bad use is refused"

# ---- tools ---------------------------------------------------------------------------------------
# tool NAME PROGRAM SCRIPT - the script ends with the word "built".
tools=()
scripts=()
tool() {
	if command -v "$2" >/dev/null; then tools+=("$1") && scripts+=("$3"); else note "$2 is not here"; fi
}
tool cmake cmake 'printf "cmake_minimum_required(VERSION 3.1)\nproject(x C)\nadd_executable(x x.c)\n" >CMakeLists.txt
	echo "int main(void) { return 0; }" >x.c; c=$(command -v ccache)
	cmake -B b ${c:+-DCMAKE_C_COMPILER_LAUNCHER=ccache} . >/dev/null && cmake --build b >/dev/null && ./b/x && echo built'
tool npm npm 'mkdir -p dep && echo "{\"name\":\"dep\",\"version\":\"1.0.0\"}" >dep/package.json && (cd dep && npm pack --silent >/dev/null) &&
	echo "{\"name\":\"x\",\"version\":\"1.0.0\"}" >package.json && npm install --silent --offline --no-audit --no-fund ./dep/dep-1.0.0.tgz && ls node_modules/dep >/dev/null && echo built'
# An npm registry on loopback, inside: it needs no host, and serves the test's own packages.
mkdir -p "$TEST_TMP/bin" && cp "$(dirname "$0")/../support/npm_registry.py" "$TEST_TMP/bin/npm_registry"
registry='mkdir -p dep && echo "{\"name\":\"dep\",\"version\":\"1.0.0\"}" >dep/package.json && (cd dep && npm pack --silent >/dev/null)
	echo "{\"name\":\"x\",\"version\":\"1.0.0\"}" >package.json; npm_registry dep/dep-1.0.0.tgz >port & server=$!
	for i in $(seq 200); do [ -s port ] || sleep 0.05; done; echo "registry=http://127.0.0.1:$(cat port)/" >.npmrc; '
tool npm-registry npm "$registry"'npm install --silent --no-audit --no-fund dep && ls node_modules/dep >/dev/null && kill $server && echo built'
tool pip python3 'python3 -m venv --without-pip v && v/bin/python -c "print(\"built\")"'
# make soak builds with all installed tools.
if [ -n "${CORDON_TEST_THOROUGH:-}" ]; then
	tool cargo cargo 'mkdir -p src dep/src && printf "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[dependencies]\ndep = { git = \"file://$PWD/dep\" }\n" >Cargo.toml
		printf "[package]\nname = \"dep\"\nversion = \"1.0.0\"\n" >dep/Cargo.toml; echo "pub fn f() {}" >dep/src/lib.rs; echo "fn main() { dep::f(); }" >src/main.rs
		(cd dep && git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm a) && cargo build -q --offline 2>/dev/null || cargo build -q && ./target/debug/x && echo built'
	tool go go 'printf "module x\ngo 1.19\n" >go.mod; printf "package main\nfunc main() { println(1) }\n" >m.go; go build -buildvcs=false . && ./x 2>/dev/null && echo built'
	tool gem gem 'mkdir -p lib; echo 1 >lib/g.rb; echo "Gem::Specification.new { |s| s.name = %q(g); s.version = %q(1); s.summary = s.author = %q(x); s.files = [%q(lib/g.rb)] }" >g.gemspec
		gem build -q g.gemspec >/dev/null 2>&1; gem install -q $([ "${GEM_HOME:-}" ] || echo --user-install) --no-document --local ./g-1.gem >/dev/null 2>&1; ruby -e "require %q(g)" && echo built'
	tool bundler bundle 'bundle init >/dev/null 2>&1 && bundle install --local >/dev/null 2>&1 && echo built'
	tool cargo-registry cargo 'mkdir -p src dep/src reg/index/3/d && printf "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[dependencies]\ndep = \"1\"\n" >Cargo.toml
		printf "[package]\nname = \"dep\"\nversion = \"1.0.0\"\n[workspace]\n" >dep/Cargo.toml; echo "pub fn f() {}" >dep/src/lib.rs; echo "fn main() { dep::f(); }" >src/main.rs
		(cd dep && cargo package -q --allow-dirty --no-verify 2>/dev/null) && mv dep/target/package/dep-1.0.0.crate reg && sum=$(sha256sum <reg/dep-1.0.0.crate) &&
		printf "{\"name\":\"dep\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"%s\",\"features\":{},\"yanked\":false}\n" "${sum%% *}" >reg/index/3/d/dep &&
		cargo --config "source.crates-io.replace-with=\"reg\"" --config "source.reg.local-registry=\"$PWD/reg\"" build -q && ./target/debug/x &&
		ls "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/dep-1.0.0/src/lib.rs >/dev/null && echo built'
	tool composer composer 'mkdir dep && echo "{\"name\":\"a/dep\",\"version\":\"1.0.0\"}" >dep/composer.json
		echo "{\"name\":\"a/b\",\"repositories\":[{\"packagist.org\":false},{\"type\":\"path\",\"url\":\"dep\"}],\"require\":{\"a/dep\":\"1.0.0\"}}" >composer.json
		COMPOSER_ALLOW_SUPERUSER=1 composer -q install && ls vendor/autoload.php vendor/a/dep/composer.json >/dev/null && echo built'
	# older ones make their store in the project: cordon-config(5)
	[ "$(cd / && pnpm --version 2>/dev/null | cut -d. -f1)" -lt 12 ] 2>/dev/null && note "pnpm is older than 12" ||
		tool pnpm pnpm "$registry"'pnpm add dep >out 2>&1 && ls node_modules/dep/package.json >/dev/null && kill $server && [ ! -e .pnpm-store ] && echo built || cat out'
	tool yarn yarn "$registry"'yarn add --silent --registry "http://127.0.0.1:$(cat port)/" dep >out 2>&1 && ls node_modules/dep/package.json >/dev/null && kill $server && echo built || cat out'
	tool gradle gradle 'echo "task hello { doLast { println \"built\" } }" >build.gradle && gradle -q --no-daemon --offline hello 2>&1'
	tool chromium chromium 'echo "<p>built</p>" >x.html # as drivers of tests start it
		XDG_CONFIG_HOME=$PWD/settings chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/data" --host-resolver-rules="MAP * ~NOTFOUND" \
			--dump-dom "file://$PWD/x.html" 2>/dev/null | grep -o built'
	tool maven mvn 'mvn -q -o help:help >out 2>&1; grep -q "No plugin found\|Maven Help Plugin\|offline" out && echo built || cat out'
	tool pre-commit pre-commit 'git init -q . && git add -A; pre-commit run -a 2>&1 | grep -q "is not a file" && pre-commit clean >/dev/null 2>&1; echo built'
fi
tool vim vim 'vim -es -c "normal ix" -c wq t.txt; grep -qx x t.txt && echo built'

build() { # NAME SCRIPT OPTIONS...
	local out name=$1 script=$2
	shift 2
	dir=$(new_folder "$name-$RANDOM")
	out=$(in_home "$@" -- sh -c "$script")
	like "${out##*$'\n'}" '^built$' "$name ${*:-native} in ${where}"
	unlike "$out" 'was refused' "$name ${*:-native} in ${where}: no question"
}
# Does not run there: cordon-limits(7).
not_on_landlock=" gradle chromium pnpm "
landlock=
"$CORDON" doctor --json | grep -qE '^\{"backend":"landlock","whole".*"starts":true' && landlock=1
for where in "an empty home" "a used home"; do
	[ "$where" = "a used home" ] || rm -rf "$HOME"/.[a-km-z]*
	[ "$where" = "an empty home" ] || mkdir -p "$HOME"/{.cargo,.m2/repository,.gem,.npm,.cache/{pip,go-build,ccache,yarn},.local/share/gem}
	before=$(home_is)
	for i in "${!tools[@]}"; do
		build "${tools[i]}" "${scripts[i]}"
		[ -z "$landlock" ] || [ "$where" = "an empty home" ] || [[ $not_on_landlock == *" ${tools[i]} "* ]] ||
			build "${tools[i]}" "${scripts[i]}" --backend landlock
	done
	is "$(home_is)" "$before" "nothing of $where has changed"
done
# In a repository that was set up on the host: git-lfs writes its hooks and settings only once.
if command -v git-lfs >/dev/null; then
	dir=$(new_folder lfs)
	(cd "$dir" && git init -q && git lfs install --local >/dev/null && echo 'big filter=lfs diff=lfs merge=lfs -text' >.gitattributes)
	out=$(inside 'head -c 100000 /dev/zero >big && git add . && git -c user.name=a -c user.email=a@b commit -qm 1 &&
		git cat-file -p HEAD:big | grep -q ^oid && rm big && git checkout -q -- big && wc -c <big')
	is "$out" 100000 "git-lfs"
else
	note "git-lfs is not here"
fi
done_testing
