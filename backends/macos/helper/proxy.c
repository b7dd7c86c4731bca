/* proxy - the helper as a session's proxy: confines itself, then serves. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "backends/macos/helper/helper.h"
#include "core/base/buf.h"
#include "core/net/upstream.h"
#include "core/proxy/proxy.h"

struct own {
	const struct mac_os *os;
	const struct order *order;
};

/*
 * The proxy applies this profile before it accepts the first connection. It runs no other program,
 * and its code is mapped already. The profile allows TCP connections, the socket that the keeper
 * has bound, and name look-ups: the resolver's socket, the mach services of Apple's own profiles
 * for programs with a network, and files that libinfo reads.
 */
const char helper_proxy_profile[] =
	"(version 1)\n"
	"(deny default)\n"
	"(allow sysctl-read)\n"
	"(allow ipc-posix-shm-read* (ipc-posix-name \"apple.shm.notification_center\"))\n"
	"(allow process-info* (target self))\n"
	"(allow file-read-metadata\n"
	" (literal \"/\") (literal \"/etc\") (literal \"/var\") (literal \"/private\")\n"
	" (literal \"/private/etc\") (literal \"/private/var\") (literal \"/private/var/run\"))\n"
	"(allow file-read*\n"
	" (literal \"/dev/null\") (literal \"/dev/random\") (literal \"/dev/urandom\")\n"
	" (literal \"/private/etc/hosts\") (literal \"/private/etc/resolv.conf\")\n"
	" (literal \"/private/var/run/resolv.conf\") (literal \"/private/etc/services\")\n"
	" (literal \"/private/etc/protocols\") (literal \"/private/etc/localtime\")\n"
	" (subpath \"/private/var/db/timezone\") (subpath \"/usr/share/zoneinfo\"))\n"
	"(allow file-read* file-map-executable\n"
	" (subpath \"/usr/lib\") (subpath \"/System/Library\"))\n"
	"(allow network-outbound (remote tcp \"*:*\"))\n"
	"(allow network-inbound (local tcp \"localhost:*\"))\n"
	"(allow network-outbound (remote unix-socket (path-literal "
	"\"/private/var/run/mDNSResponder\")))\n"
	"(allow mach-lookup\n"
	" (global-name \"com.apple.SystemConfiguration.DNSConfiguration\")\n"
	" (global-name \"com.apple.SystemConfiguration.configd\")\n"
	" (global-name \"com.apple.dnssd.service\")\n"
	" (global-name \"com.apple.system.notification_center\")\n"
	" (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n";

/* Changes the user, loads the network's own proxies, which the profile would prevent, and applies
 * the profile. */
static int confine(void *data)
{
	const struct own *own = data;
	AUTO_BUF struct buf notes = BUF_INIT; /* not used: the keeper has shown them */
	char why[200];
	int r = human_become(&own->order->human);

	if (r < 0)
		return r;
	upstream_load(&notes);
	r = own->os->deny_attach(own->os->data);
	if (r < 0 && r != -EINVAL) /* -EINVAL: it is denied already */
		return r;
	return own->os->apply(own->os->data, helper_proxy_profile, NULL, why, sizeof(why));
}

void helper_proxy(const struct mac_os *os, const struct order *o)
{
	struct own own = {.os = os, .order = o};
	const struct proxy_host host = {.data = &own, .confine = confine};
	const struct proxy_spec spec = {.host = &host,
					.sock = HELPER_KEEPER,
					.listener = HELPER_LISTENER,
					.secret = o->word};

	proxy_run(&spec);
}
