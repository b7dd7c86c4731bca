/* services - decides which mach services may be looked up. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/services.h"

#include <errno.h>
#include <string.h>

#include "backends/macos/profile/regex.h"
#include "backends/macos/profile/sbpl.h"

const char *const mach_default_allow[] = {
	"com.apple.system.logger",
	"com.apple.system.notification_center",
	"com.apple.CoreServices.coreservicesd",
	"com.apple.lsd.mapdb",
	"com.apple.SecurityServer",
	"com.apple.cfprefsd.daemon",
	"com.apple.cfprefsd.agent",
	"com.apple.fonts",
	"com.apple.FontObjectsServer",
	"com.apple.system.opendirectoryd.libinfo",    /* getpwuid(), getgrgid() */
	"com.apple.system.opendirectoryd.membership", /* getgrouplist() */
	"com.apple.bsd.dirhelper",		      /* confstr(_CS_DARWIN_USER_TEMP_DIR) */
	"com.apple.logd",			      /* os_log() */
	"com.apple.FSEvents",			      /* watchers of folders */
	"com.apple.SystemConfiguration.configd",      /* proxies, the computer's name */
	NULL,
};

const char *const mach_default_block[] = {
	"com.apple.security.authhost",		  /* dialogs that ask for a password */
	"com.apple.coreservices.appleevents",	  /* AppleScript: commands to other programs */
	"com.apple.coreservices.launchservicesd", /* `open`: starts programs outside */
	"com.apple.pasteboard.1",		  /* the clipboard */
	NULL,
};

const char *const mach_default_block_prefixes[] = {
	"com.apple.accessibility.", /* input, and the screen's content */
	"com.apple.tccd",	    /* privacy settings; com.apple.tccd.system too */
	"com.apple.security.syspolicy",
	NULL,
};

static const struct mach_services defaults = {
	.allow = mach_default_allow,
	.block = mach_default_block,
	.block_prefixes = mach_default_block_prefixes,
};

/* ---- names ----------------------------------------------------------------------------------- */

static int check_name(const char *name, struct err *err)
{
	size_t n = strlen(name);
	bool named = false;

	if (!n || n > MACH_NAME_MAX)
		return err_say(err, -EINVAL,
			       "the mach service '%s' has %zu bytes: a name has 1 to %d", name, n,
			       MACH_NAME_MAX);
	for (const char *c = name; *c; c++) {
		if (*c <= ' ' || *c > '~' || *c == '"' || *c == '\\')
			return err_say(
				err, -EINVAL,
				"the mach service '%s' has a character that no name has: "
				"leave blanks, quotes, backslashes and what is not ASCII out",
				name);
		named = named || *c != '*';
	}
	if (named)
		return 0;
	return err_say(err, -EINVAL,
		       "the mach service '%s' names none: say xpc.default = allow if you mean all",
		       name);
}

static int check_list(const char *const *list, struct err *err)
{
	int r = 0;

	for (; r == 0 && list && *list; list++)
		r = check_name(*list, err);
	return r;
}

int mach_services_check(const struct mach_services *m, struct err *err)
{
	int r = check_list(m->allow, err);

	if (r == 0)
		r = check_list(m->block, err);
	if (r == 0)
		r = check_list(m->allow_prefixes, err);
	return r == 0 ? check_list(m->block_prefixes, err) : r;
}

/* ---- the section ----------------------------------------------------------------------------- */

/* Returns the length before the asterisk if the only asterisk is at the end; else 0. */
static size_t prefix_of(const char *name)
{
	size_t n = strcspn(name, "*");

	return name[n] == '*' && !name[n + 1] ? n : 0;
}

static void put_pattern(struct sbpl *s, const char *name)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_ch(&b, '^');
	for (; *name; name++) {
		if (*name == '*')
			buf_str(&b, ".*");
		else
			regex_quote(&b, name, 1);
	}
	buf_ch(&b, '$');
	buf_str(&s->text, "\n\t(global-name-regex #\"");
	buf_add(&s->text, b.data, b.len);
	buf_str(&s->text, "\")");
}

static void put_name(struct sbpl *s, const char *name, bool prefix)
{
	size_t n = prefix_of(name);

	if (strchr(name, '*') && (!n || prefix))
		put_pattern(s, name);
	else if (prefix || n)
		buf_fmt(&s->text, "\n\t(global-name-prefix \"%.*s\")", (int)(n ? n : strlen(name)),
			name);
	else
		buf_fmt(&s->text, "\n\t(global-name \"%s\")", name);
}

static void put_names(struct sbpl *s, const char *rule, const char *const *names,
		      const char *const *prefixes)
{
	if ((!names || !*names) && (!prefixes || !*prefixes))
		return;
	buf_str(&s->text, rule);
	for (; names && *names; names++)
		put_name(s, *names, false);
	for (; prefixes && *prefixes; prefixes++)
		put_name(s, *prefixes, true);
	sbpl_end(s);
}

#define ALLOW  "(allow mach-lookup"
#define DENY   "(deny mach-lookup"
#define REPORT ALLOW " (with report)"

static void report_only(struct sbpl *s, const struct mach_services *m)
{
	sbpl_comment(s, "Mach services: all; what would be denied gets into the log");
	buf_fmt(&s->text, "%s)\n", m->allow_by_default ? ALLOW : REPORT);
	put_names(s, ALLOW, m->allow, m->allow_prefixes);
	put_names(s, REPORT, m->block, m->block_prefixes);
}

void mach_services_write(struct sbpl *s, const struct mach_services *m)
{
	if (!m)
		m = &defaults;
	if (m->report_only && !m->off) {
		report_only(s, m);
		return;
	}
	sbpl_comment(s, m->off		      ? "Mach services: all"
			: m->allow_by_default ? "Mach services: all but those that are blocked"
					      : "Mach services: those that are named");
	if (m->allow_by_default || m->off)
		sbpl_allow_all(s, "mach-lookup");
	if (m->off)
		return;
	put_names(s, ALLOW, m->allow, m->allow_prefixes);
	put_names(s, DENY, m->block, m->block_prefixes);
}

char *profile_mark(const char *session, bool other)
{
	return xasprintf("cordon.%s.%s", other ? "nobody" : "session", session);
}
