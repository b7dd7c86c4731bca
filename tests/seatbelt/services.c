/* services - names of mach services that Macs have. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/seatbelt/eval_priv.h"
#include "core/base/util.h"

/* An oracle: a rule about a service that does not exist has no effect. Collected from the profiles
 * that Apple ships (system.sb, application.sb), that Chromium, Firefox, Codex and nixpkgs publish,
 * and from Apple's sources. An asterisk at the end marks a prefix. */
static const char *const known[] = {
	"com.apple.CoreServices.coreservicesd",
	"com.apple.DiskArbitration.diskarbitrationd",
	"com.apple.FSEvents",
	"com.apple.FontObjectsServer",
	"com.apple.PowerManagement.control",
	"com.apple.SecurityServer",
	"com.apple.SystemConfiguration.DNSConfiguration",
	"com.apple.SystemConfiguration.configd",
	"com.apple.accessibility.*",
	"com.apple.bsd.dirhelper",
	"com.apple.cfprefsd.agent",
	"com.apple.cfprefsd.daemon",
	"com.apple.coreservices.appleevents",
	"com.apple.coreservices.launchservicesd",
	"com.apple.dnssd.service",
	"com.apple.fonts",
	"com.apple.logd",
	"com.apple.logd.events",
	"com.apple.lsd.mapdb",
	"com.apple.networkd",
	"com.apple.ocspd",
	"com.apple.pasteboard.1",
	"com.apple.security.agent",
	"com.apple.security.authhost",
	"com.apple.security.syspolicy",
	"com.apple.security.syspolicy.exec",
	"com.apple.security.syspolicy.kext",
	"com.apple.securityd.xpc",
	"com.apple.system.logger",
	"com.apple.system.notification_center",
	"com.apple.system.opendirectoryd.api",
	"com.apple.system.opendirectoryd.libinfo",
	"com.apple.system.opendirectoryd.membership",
	"com.apple.tccd",
	"com.apple.tccd.system",
	"com.apple.trustd",
	"com.apple.trustd.agent",
};

static bool is_known(const char *name, bool prefix)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		size_t len = strcspn(known[i], "*");

		if (known[i][len] ? strncmp(name, known[i], len) == 0
		    : prefix	  ? strncmp(name, known[i], n) == 0
				  : str_eq(name, known[i]))
			return true;
	}
	return str_starts(name, "cordon.");
}

const char *service_unknown(const struct expr *e)
{
	bool prefix = expr_is_list(e, "global-name-prefix");
	bool names = prefix || expr_is_list(e, "global-name");
	const char *found = NULL;

	for (const struct expr *at = e->first; at && !found; at = at->next) {
		if (at->kind == EXPR_LIST)
			found = service_unknown(at);
		else if (names && at->kind == EXPR_STRING && !is_known(at->text, prefix))
			found = at->text;
	}
	return found;
}
