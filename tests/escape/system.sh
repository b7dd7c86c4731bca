#!/bin/bash
# system - run by root: files that only root may read are closed, and the system's folders cannot be working folders.
# SPDX-License-Identifier: MIT
# also with: BACKEND=bwrap BACKEND=landlock
# root only: an ordinary user may not read these files in any case
. "$(dirname "$0")/../support/lib.sh"
[ "$(id -u)" = 0 ] || skip_all "an ordinary user may not read these files in any case"
if [ -z "${SYSTEM_OF_ITS_OWN:-}" ]; then # a copy of /etc and some of /var, for this test alone
	SYSTEM_OF_ITS_OWN=1 exec unshare -m --propagation private "${0%/*}/${0##*/}"
fi
need_sandbox python3
use_backend
mkdir "$TEST_TMP/system" && cp -a /etc "$TEST_TMP/system/etc" && mount --bind "$TEST_TMP/system/etc" /etc || skip_all "no mounts here"
for d in /var/mail /var/backups; do mkdir -p "$d" && mount -t tmpfs none "$d"; done
secret() { # PATH MODE - a file that has a secret
	mkdir -p "${1%/*}" && echo "SECRET $1" >"$1" && chmod "$2" "$1"
}
secret /etc/kubernetes/admin.conf 600
secret /etc/wireguard/wg0.conf 644 && chmod 700 /etc/wireguard
secret /etc/letsencrypt/archive/a.example/privkey1.pem 600 && chmod 700 /etc/letsencrypt/archive
mkdir -p /etc/letsencrypt/live/a.example && ln -s ../../archive/a.example/privkey1.pem /etc/letsencrypt/live/a.example/privkey.pem
secret /etc/ssl/private/x.key 640 && chmod 710 /etc/ssl/private
secret /etc/test_host_key 600
secret /etc/open.conf 644
secret /etc/granted.conf 600
secret /var/mail/someone 644
secret /var/backups/shadow.bak 644
: >/etc/test.lock && chmod 600 /etc/test.lock
dir=$(new_folder work)
ln -s /etc/shadow "$dir/to-shadow"
closed="/etc/shadow /etc/gshadow /etc/kubernetes/admin.conf /etc/wireguard/wg0.conf /etc/letsencrypt/archive/a.example/privkey1.pem
/etc/letsencrypt/live/a.example/privkey.pem /etc/ssl/private/x.key /etc/test_host_key to-shadow /proc/self/root/etc/shadow"
reads() { # MODE PATH... - what of them is read, a line each
	local mode=$1
	shift
	(cd "$dir" && "$CORDON" run --headless --mode "$mode" -- sh -c 'for f; do head -c 1 "$f" >/dev/null 2>&1 && echo "$f"; done; true' sh "$@" 2>/dev/null)
}
for mode in dynamic static; do
	# shellcheck disable=SC2086 # one word each
	is "$(reads $mode $closed)" "" "$mode: what only root may read is closed"
	is "$(reads $mode /etc/open.conf /etc/passwd)" "/etc/open.conf
/etc/passwd" "$mode: the rest is not"
	is "$(cd "$dir" && "$CORDON" run --headless --mode $mode -- sh -c ': </etc/test.lock && ls /etc/open.conf')" /etc/open.conf "$mode: an empty file is no secret"
done
is "$(reads dynamic /var/mail/someone /var/backups/shadow.bak)" "" "mail and backups ask"
for f in /etc/shadow /etc/ssl/private/x.key /etc/wireguard/wg0.conf /etc/test_host_key; do
	like "$(cd "$dir" && "$CORDON" why read $f)" "^hide .*only root may read it" "why says so: $f"
done
like "$(cd "$dir" && "$CORDON" why read /var/mail/someone)" "^ask" "why: mail"
like "$(cd "$dir" && "$CORDON" why read /etc/open.conf)" "^allow" "why: what everybody reads"

# ---- rules
cp "$HOME/.config/cordon/config" "$TEST_TMP/config"
printf '[rule "mine"]\n\tallow = read /etc/granted.conf\n\tallow = read /etc/ssl/private/x.key\n\tallow = read /etc/**\n' \
	>>"$HOME/.config/cordon/config"
secret /etc/ssl/private/y.key 600
for mode in dynamic static; do
	is "$(reads $mode /etc/granted.conf /etc/ssl/private/x.key /etc/kubernetes/admin.conf /etc/ssl/private/y.key /etc/shadow)" "/etc/granted.conf
/etc/ssl/private/x.key" "$mode: a rule opens what it names, and no more"
done
like "$(cd "$dir" && "$CORDON" why read /etc/granted.conf)" "^allow" "why: the same"
cp "$TEST_TMP/config" "$HOME/.config/cordon/config"

# ---- more than is looked through
mkdir -p /var/opt && mount -t tmpfs none /var/opt
python3 -c 'import os
for i in range(25):
    os.mkdir(f"/var/opt/d{i}")
    for j in range(1000): open(f"/var/opt/d{i}/{j}", "w").close()
    open(f"/var/opt/d{i}/key", "w").write("SECRET")
    os.chmod(f"/var/opt/d{i}/key", 0o600)'
is "$(reads static /var/opt/d*/key)" "" "no secret beyond the first 20 000 names is read"
like "$(cd "$dir" && "$CORDON" run --headless --mode static -- true 2>&1)" "system directories cannot be read inside.*--ro DIR opens it" "and that is said"
is "$(reads static /etc/open.conf)" "/etc/open.conf" "other trees stay as they are"
umount /var/opt

# ---- over the API
if [ "$BACKEND" = native ]; then
	cd "$dir" || exit 1
	coproc serve { exec timeout 60 "$CORDON" serve 2>/dev/null; }
	printf '%s\n' '{"request_id":1,"type":"session.start","payload":{"working_directories":[{"path":"'"$dir"'"}]}}' \
		'{"request_id":2,"type":"fs.read","payload":{"path":"/etc/shadow"}}' \
		'{"request_id":4,"type":"fs.read","payload":{"path":"/etc/open.conf"}}' >&"${serve[1]}"
	answer=
	while read -r line <&"${serve[0]}"; do
		answer+=$line$'\n'
		[[ $answer != *'"request_id":2,'*'"request_id":4,'* && $answer != *'"request_id":4,'*'"request_id":2,'* ]] || break
	done
	printf '%s\n' '{"request_id":5,"type":"session.stop"}' >&"${serve[1]}"
	# shellcheck disable=SC2154 # coproc sets it
	wait "$serve_PID"
	like "$(grep '"type":"response","request_id":2' <<<"$answer")" '"status":"error"' "fs.read does not read it"
	like "$(grep '"type":"response","request_id":4' <<<"$answer")" '"status":"ok"' "but the rest"
fi

# ---- working folders
for folder in /etc /etc/ssl /usr /usr/lib /var /var/lib /boot /home /root /opt /srv; do
	[ -d "$folder" ] || continue
	like "$(cd "$folder" && "$CORDON" run --headless -- true 2>&1)" "too much to hand to an agent" "$folder is refused as a working folder"
done
mkdir -p /etc/own && secret /etc/own/key 600
is "$(cd /etc/own && "$CORDON" run --headless --rw /etc/own -- sh -c 'cat key; echo x >new; cat new')" "SECRET /etc/own/key
x" "it is one when it is named"

# ---- package managers and compilers
inside() { (cd "$dir" && "$CORDON" run --headless -- "$@" 2>&1); }
printf 'int main(void) { return 0; }\n' >"$dir/a.c"
command -v gcc >/dev/null && is "$(inside sh -c 'gcc a.c -o a && ./a && echo ok')" ok "gcc"
command -v pip3 >/dev/null && like "$(inside pip3 --version)" '^pip ' "pip"
command -v npm >/dev/null && like "$(inside npm --version)" '^[0-9]' "npm"
command -v apt-cache >/dev/null && like "$(inside apt-cache policy bash)" 'Installed: [0-9]' "apt-cache"
command -v dpkg >/dev/null && like "$(inside dpkg -s bash)" 'Status: install ok' "dpkg"
done_testing
