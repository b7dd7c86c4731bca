#!/bin/bash
# large_tree - secrets and other names of protected files are found anywhere in a tree before the agent runs.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3 cc
dir=$(new_folder work)
cd "$dir" || exit 1
run() { timeout 120 "$CORDON" run --headless "$@" 2>&1; }

# ---- secrets ---------------------------------------------------------------------------------------

places=(. a/b/c/d/e/f node_modules/x vendor/y target .venv/lib)
mkdir -p "$HOME/over/sub" "$HOME/shown/sub" && places+=("$HOME/shown" "$HOME/shown/sub")
over=() fs=$(df --output=fstype . | tail -n 1)
if [ "$fs" != overlay ]; then
	over=(--overlay "$HOME/over") places+=("$HOME/over" "$HOME/over/sub")
else
	skip "no .env file can be read in an overlay" "a file system that overlays can be made on"
fi
for p in "${places[@]}"; do mkdir -p "$p" && echo SECRET >"$p/.env.local" && echo harmless >"$p/.env.example"; done
for mode in dynamic static; do
	out=$(run --mode $mode "${over[@]}" --ro "$HOME/shown" -- sh -c 'for p; do cat "$p/.env.local" "$p/.env.example"; done' - "${places[@]}")
	unlike "$out" SECRET "$mode: no .env file can be read: in bulky directories, below others, in an overlay, in a --ro folder"
	is "$(grep -c '^harmless$' <<<"$out")" "${#places[@]}" "$mode: examples can"
	out=$(run --mode $mode --set "rule.r.allow=read $dir/vendor/y/.env.local" -- cat vendor/y/.env.local)
	is "$out" SECRET "$mode: a rule opens one"
done
[ "$(id -u)" != 0 ] || is "$(find . "${over[@]:1}" -name .env.local | wc -l)" $((6 + ${#over[@]})) "the host has them all"

# ---- a large tree ----------------------------------------------------------------------------------

mkdir big && cd big && git init -q . && mkdir conf
python3 -c 'import os
for i in range(10000): os.makedirs("p%d/m%d/d%d" % (i % 40, i % 250, i))'
for p in p0 p39/m239/d9999 p7/m7/d7/x/y/z; do mkdir -p $p && echo SECRET >$p/.env; done
mkdir -p p7/m7/d7/lib && ln -s ../../../../conf/envrc p7/m7/d7/lib/.envrc
git init -q p9/m9/d9 && git -C p9/m9/d9 config core.hooksPath ../../../hooks
out=$(run -- sh -c 'for p; do cat $p/.env; done' - p0 p39/m239/d9999 p7/m7/d7/x/y/z)
unlike "$out" SECRET "no .env of 10 000 directories can be read"
out=$(run -- sh -c 'echo evil >conf/envrc')
like "$out" "conf/envrc" "the first change of all does not reach the target of a link of a protected name"
is "$(cat p7/m7/d7/lib/.envrc 2>/dev/null)" "" "and nothing was written"
out=$(run -- sh -c 'mkdir hooks; echo evil >hooks/pre-commit')
is "$(cat hooks/pre-commit 2>/dev/null)" "" "nor a hook that a nested repository names"

# ---- what a start has seen is not read again -------------------------------------------------------

mkdir -p "$dir"/few/{a,b} && cd "$dir/few" || exit 1
python3 -c 'for i in range(10000): open("%s/f%d" % ("ab"[i % 2], i), "x").close()'
cd "$dir/big" || exit 1
sleep 4 # what changed within the last seconds is read each time
run -- true >/dev/null
seen=$(echo "$HOME"/.local/state/cordon/seen/big-*)
# Only these tell each change of names by a directory's time (seen.h).
case $fs in
ext4 | xfs | btrfs | tmpfs) keeps=1 ;;
*) keeps='' && skip "a start keeps what it has seen" "a file system with such times" ;;
esac
[ -z "$keeps" ] || ok "a start keeps what it has seen of a large tree" test -s "$seen"
is "$(run -- sh -c "ls '$seen' 2>&1 | grep -c 'No such'")" 1 "where the agent does not see it"
mkdir "$HOME/old" && echo SECRET >"$HOME/old/.env"
all=$(find . -name .env -printf '%h\n')
# Each kind of change of the tree between two starts.
echo SECRET >p3/m43/d43/.env          # a new secret
echo SECRET >p4/m44/d44/x && mv p4/m44/d44/x p4/m44/d44/.env
mv "$HOME/old" p5/m45/d45/old         # a directory that is older than the last start
mv p6/m46 p6/moved && echo SECRET >p6/moved/d46/.env
mkdir p7/m47/d47/new && echo SECRET >p7/m47/d47/new/.env
ln -s ../../../conf/other p8/m48/d48/.envrc
mv p9/m9/d9 p9/m9/d9.git && git -C p9/m9/d9.git config core.hooksPath ../../../more
touch -d '10 days ago' p3/m43/d43 p4/m44/d44 p8/m48/d48
sleep 4 # until the times tell
# shellcheck disable=SC2086
unlike "$(run -- sh -c 'for p; do cat $p/.env; done' - $all p3/m43/d43 p4/m44/d44 p5/m45/d45/old p6/moved/d46 p7/m47/d47/new)" \
	SECRET "a change of a directory is seen by the next start"
run -- sh -c 'echo evil >conf/other; mkdir more; echo evil >more/pre-commit' >/dev/null
is "$(cat conf/other more/pre-commit 2>/dev/null)" "" "and so are new names of protected files"
if [ -n "$keeps" ] && command -v strace >/dev/null && run -- true >/dev/null &&
	strace -f -qq -y -e trace=getdents64 -o "$HOME/trace" "$CORDON" run --headless -- true 2>/dev/null; then
	n=$(grep -o "<$dir/big[^>]*>" "$HOME/trace" | sort -u | wc -l) # the keeper begins to watch some
	note "$n directories are read"
	ok "a start reads few of 10 000 directories that it has seen" test "$n" -lt 3000
else
	skip "a start reads few directories" "strace, or such times"
fi
[ -z "$keeps" ] || printf '\0' | dd of="$seen" bs=1 seek=2000 conv=notrunc status=none
unlike "$(run -- sh -c 'for p; do cat $p/.env; done' - p3/m43/d43 p5/m45/d45/old)" SECRET "a damaged record hides the same"

cd "$dir/few" && run -- true >/dev/null
[ -z "$keeps" ] || ok "a start keeps what it has seen of two directories with 5000 files each" test -s "$HOME"/.local/state/cordon/seen/few-*
echo SECRET >b/.env
unlike "$(run -- cat b/.env)" SECRET "and finds a new secret there"

# ---- a tree that takes longer than a start may -----------------------------------------------------

cd "$dir" && mkdir -p late/slow1/deep late/slow2 && cd late && echo SECRET >slow1/deep/.env || exit 1
cat >"$HOME/slow.c" <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
DIR *opendir(const char *name)
{
	static DIR *(*real)(const char *);

	if (strstr(name, "late/slow") && !strstr(name, "deep"))
		usleep(1100000);
	real = real ? real : (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
	return real(name);
}
C
cc -shared -fPIC -o "$HOME/slow.so" "$HOME/slow.c" -ldl || exit 1
run_slow() { LD_PRELOAD=$HOME/slow.so run --set sandbox.search-seconds="$1" -- cat slow1/deep/.env; }
out=$(run_slow 1)
is $? 125 "a start that cannot search the folder in time is refused"
like "$out" "slow.*raise sandbox.search-seconds" "and says what to do"
out=$(run_slow 20)
unlike "$out" SECRET "with more time all is searched"
like "$out" "agent starts when all of it has been searched" "and the human hears what the start waits for"
out=$(run_slow 0)
like "$out" "directories were not looked at.*slow1/deep" "without a search to the end the start says what can be read"
done_testing
