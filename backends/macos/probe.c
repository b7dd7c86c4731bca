/* probe - checks which features of this Mac the backend can use, one line each. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/probe.h"

#include <errno.h>
#include <string.h>

#include "backends/macos/helper/helper.h"

unsigned mac_version(const char *text)
{
	unsigned major = 0, minor = 0;
	size_t n = strspn(text, "0123456789");

	for (size_t i = 0; i < n && i < 3; i++)
		major = major * 10 + (unsigned)(text[i] - '0');
	if (!n || n > 3 || (text[n] && text[n] != '.'))
		return 0;
	text += n + (text[n] == '.');
	n = strspn(text, "0123456789");
	for (size_t i = 0; i < n && i < 2; i++)
		minor = minor * 10 + (unsigned)(text[i] - '0');
	return text[n] && text[n] != '.' ? 0 : major * 100 + minor;
}

static void look_at_version(const struct mac_host *h, struct probe_report *r)
{
	unsigned v = mac_version(h->version);
	char found[160];
	bool known = v >= MAC_VERSION_OLDEST && v <= MAC_VERSION_NEWEST;

	if (!v)
		snprintf(found, sizeof(found), "the version cannot be read");
	else
		snprintf(found, sizeof(found), "%s, %s", h->version,
			 known			  ? "one that profiles are written for"
			 : v < MAC_VERSION_OLDEST ? "older than what profiles are written for"
						  : "newer than what profiles are written for");
	probe_add(r, "macOS", false, known, found,
		  "a profile may say less here than it means: try with nothing of value first, or "
		  "use "
		  "macOS 13 to 15");
}

static bool look_at_sandbox(const struct mac_os *os, const struct mac_host *h,
			    const char *sandbox_exec, struct probe_report *r)
{
	bool program = os->can_run(os->data, sandbox_exec);
	bool ok = h->has_init || program;
	char found[160];

	if (h->has_init)
		snprintf(found, sizeof(found), "sandbox_init_with_parameters()");
	else if (program)
		snprintf(found, sizeof(found), "%.120s alone", sandbox_exec);
	else
		snprintf(found, sizeof(found), "neither the function nor %.100s", sandbox_exec);
	probe_add(r, "sandbox", true, ok, found,
		  "this macOS has no Seatbelt for programs: run cordon in a Linux virtual machine");
	return ok;
}

static bool look_at_helper(const char *helper, struct probe_report *r)
{
	char found[160];

	if (helper)
		snprintf(found, sizeof(found), "%.150s", helper);
	else
		snprintf(found, sizeof(found), HELPER_PROGRAM " is not beside this program");
	probe_add(r, "helper", true, helper, found, "install cordon anew");
	return helper;
}

static void look_at_integrity(const struct mac_host *h, struct probe_report *r)
{
	bool on = h->sip_known && h->sip;

	probe_add(r, "system integrity protection", false, on,
		  !h->sip_known ? "its state cannot be read"
		  : on		? "on"
				: "off: programs of the system can be debugged and changed",
		  "run csrutil enable from the recovery system");
}

static void look_at_endpoint(const struct mac_host *h, struct probe_report *r)
{
	probe_add(r, "endpoint security", false, h->endpoint_right,
		  h->endpoint_right
			  ? "this program may be a client, as root: changes are asked about, and "
			    "undone"
			  : "no entitlement: of files nothing is asked, what would be is denied, "
			    "and git "
			    "directories are read only",
		  "sign cordon with com.apple.developer.endpoint-security.client, which Apple "
		  "grants");
}

/* Adds the lines that are the same on every Mac, except for what needs a client of Endpoint
 * Security. */
static void add_capabilities(struct probe_report *r, bool client)
{
	const struct {
		const char *name, *found;
		bool ok;
	} list[] = {
		{"file reads", "denied by path", true},
		{"file writes", "allowed by path", true},
		{"undo",
		 client ? "what a change would lose is kept before it is made, as root"
			: "programs change the folders directly: there is none",
		 client},
		{"network", "denied; loopback ports by number", true},
		{"network gate", "a proxy, for programs that take HTTPS_PROXY or ALL_PROXY; no UDP",
		 true},
		{"mach services", "looked up by name", true},
		{"hardening", "no debugger, no core dumps, no DYLD_* variables", true},
		{"process ids", "macOS has no process namespaces: other processes show", false},
		{"system calls", "macOS has no filter for system calls", false},
		{"limits", "for each process; macOS has no groups to limit", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		probe_add(r, list[i].name, false, list[i].ok, list[i].found, "");
}

uint32_t mac_probe(const struct mac_os *os, const char *helper, const char *sandbox_exec,
		   struct probe_report *report, struct err *err)
{
	struct probe_report none = {0}, *r = report ? report : &none;
	struct mac_host h = {0};
	uint32_t bits = BACKEND_FILES | BACKEND_NET;
	int e = os->look_at_host(os->data, &h);

	if (e < 0)
		h = (struct mac_host){0};
	look_at_version(&h, r);
	if (!look_at_sandbox(os, &h, sandbox_exec, r)) {
		err_say(err, -EOPNOTSUPP,
			"the seatbelt backend does not start: this macOS has neither "
			"sandbox_init_with_parameters() nor %s",
			sandbox_exec);
		bits = 0;
	}
	if (!look_at_helper(helper, r)) {
		err_say(err, -ENOENT,
			"the seatbelt backend does not start: there is no " HELPER_PROGRAM
			" beside this program");
		bits = 0;
	}
	look_at_integrity(&h, r);
	look_at_endpoint(&h, r);
	add_capabilities(r, h.endpoint_right);
	probe_report_done(&none);
	return bits;
}
