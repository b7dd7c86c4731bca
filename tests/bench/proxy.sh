# shellcheck shell=bash disable=SC2154
# proxy - the rows about the proxy of the landlock backend, against tinyproxy, with the same client, server and file;
# sourced by bench.sh. All are at addresses of the loopback device.
# SPDX-License-Identifier: MIT

# proxied SIDE URL... - milliseconds of curl through it, or "-"
proxied() {
	local side=$1
	shift
	if [ "$side" = tiny ]; then
		ms curl -sf -o /dev/null --noproxy '' -x http://127.0.0.1:47801 "$@"
	else
		# shellcheck disable=SC2016 # the proxy is known inside
		ms in_dir native "$cordon" run --headless --backend landlock --allow-domain 127.0.0.1:47800 -- \
			sh -c 'exec curl -sf -o /dev/null --noproxy "" -x "$HTTP_PROXY" "$@"' sh "$@"
	fi
}
# Without the time of an empty run, which is not the proxy's.
proxy_file() {
	local none=0
	[ "$1" = tiny ] || none=$(ms in_dir native "$cordon" run --headless --backend landlock -- true)
	less "$(proxied "$1" http://127.0.0.1:47800/large)" "$none"
}
proxy_requests() {
	local none=0
	[ "$1" = tiny ] || none=$(ms in_dir native "$cordon" run --headless --backend landlock -- true)
	less "$(proxied "$1" 'http://127.0.0.1:47800/small?[1-200]')" "$none"
}
rows_proxy() {
	local server tiny
	wanted "through the proxy" || return 0
	if ! command -v tinyproxy >/dev/null || ! "$cordon" doctor --json | grep '"backend":"landlock","whole"' | grep -q '"starts":true'; then
		print_row "300 MB through the proxy" "" "" "" "" 1.25 "skipped: no tinyproxy, or no Landlock"
		return 0
	fi
	mkdir "$base/www" && truncate -s 300M "$base/www/large" && echo x >"$base/www/small"
	printf 'Port 47801\nListen 127.0.0.1\nMaxClients 100\nLogLevel Critical\n' >"$base/tiny.conf"
	python3 -m http.server --bind 127.0.0.1 -d "$base/www" 47800 >/dev/null 2>&1 &
	server=$!
	tinyproxy -d -c "$base/tiny.conf" >/dev/null 2>&1 &
	tiny=$!
	for _ in $(seq 100); do
		curl -sf -o /dev/null --noproxy '' -x http://127.0.0.1:47801 http://127.0.0.1:47800/ && break
		sleep 0.05
	done
	# At least 0.8 of its speed.
	by_turns proxy_file tiny proxy
	show "300 MB through the proxy" 1.25 ratio tiny proxy
	by_turns proxy_requests tiny proxy
	show "200 requests through the proxy" 1.25 ratio tiny proxy
	kill $tiny $server
}
