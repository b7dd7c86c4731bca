/* forms - checks that the value of a setting has the form that the table of settings names. */
/* SPDX-License-Identifier: MIT */
#include "core/config/config_priv.h"

#include <assert.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "core/broker/agent_keys.h"
#include "core/broker/secrets.h"
#include "core/net/host.h"

static const char hex[] = "0123456789abcdef";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* As iscntrl() in the locale C: in others, bytes of UTF-8 can be control characters. */
static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Returns whether len bytes can name a variable; npm's have more characters than a shell's. */
static bool is_variable(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (is_control(s[i]) || s[i] == ' ' || s[i] == '=')
			return false;
	return len > 0;
}

static int check_name(const char *value, struct err *err)
{
	if (is_variable(value, strlen(value)))
		return 0;
	return err_say(err, -EINVAL, "say a name alone: sandbox.set-env takes NAME=VALUE");
}

static int check_set(const char *value, struct err *err)
{
	size_t len = strcspn(value, "=");

	if (value[len] && is_variable(value, len))
		return 0;
	return err_say(err, -EINVAL, "say NAME=VALUE");
}

/* "~/.cargo", "~/.cache/ XDG_CACHE_HOME=$CORDON_CACHE/xdg", "~/.store +STORE=$CORDON_CACHE/s" */
static int check_tool_home(const char *value, struct err *err)
{
	size_t len = strcspn(value, " \t");
	const char *set = value + len + strspn(value + len, " \t");
	const char *name = set + (*set == '+');
	bool below = str_starts(value, "~/") ? len > 2 : *value == '/' && len > 1;

	if (!below)
		return err_say(err, -EINVAL,
			       "say a directory below ~/ or / first, as in ~/.cargo "
			       "CARGO_HOME=$CORDON_CACHE/cargo");
	if (*set && check_set(name, NULL) < 0)
		return err_say(err, -EINVAL,
			       "behind the directory say NAME=VALUE, as in ~/.cargo "
			       "CARGO_HOME=$CORDON_CACHE/cargo");
	return 0;
}

/* "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME/opencode" */
static int check_settings_variable(const char *value, struct err *err)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t len = strspn(value, letters);
	const char *below = value[len] == '/' ? value + len + 1 : NULL;

	if (!len || len > 64 || (value[len] && !below))
		return err_say(err, -EINVAL, "say NAME or NAME/BELOW, NAME in capitals");
	if (below && (!*below || strchr(below, '/') || str_eq(below, ".") || str_eq(below, "..")))
		return err_say(err, -EINVAL, "BELOW must be the name of one directory");
	return 0;
}

/* "claude", "claude 0123456789abcdef"; blanks can be in the profile's name. */
static int check_own_settings(const char *value, struct err *err)
{
	const char *blank = strrchr(value, ' '), *id = blank ? blank + 1 : "";

	if (*value == ' ' || strchr(value, '/'))
		return err_say(err, -EINVAL, "say the name of a profile first, as in claude");
	if (strlen(id) > 32 || strspn(id, hex) != strlen(id))
		return err_say(err, -EINVAL,
			       "the name of the copy has at most 32 of the characters %s", hex);
	return 0;
}

/* "Claude <noreply@example.org>": a line of git's trailers. */
static int check_person(const char *value, struct err *err)
{
	const char *open = strchr(value, '<'), *close = open ? strchr(open, '>') : NULL;
	bool good = close && !close[1] && close > open + 1 && open > value + 1 &&
		    is_blank(open[-1]) && !is_blank(*value) && !strchr(open + 1, '<');

	for (const char *p = value; *p && good; p++)
		good = !is_control(*p) && !(p > open && *p == ' ');
	return good ? 0 : err_say(err, -EINVAL, "say NAME <ADDRESS>");
}

/* "node_modules", "web/ *.cache" without the blank */
static int check_ignored(const char *value, struct err *err)
{
	if (*value == '/' || *value == '~')
		return err_say(err, -EINVAL,
			       "say a name, or a path that begins in the working folder");
	return 0;
}

static int check_bytes(const char *value, struct err *err)
{
	const char *blank = strchr(value, ' '), *why = "say HOST SIZE, as in api.example.com 50m";
	AUTO_FREE char *host = blank ? xstrndup(value, (size_t)(blank - value)) : NULL;
	struct net_pattern pattern;
	int64_t most;

	if (host && config_parse_int(blank + strspn(blank, " "), &most) &&
	    net_pattern_parse(&pattern, host, &why))
		return 0;
	return err_say(err, -EINVAL, "%s", why);
}

static int check_loopback(const char *value, struct err *err)
{
	struct net_addr addr;

	if (net_addr_parse(&addr, value, strlen(value)) && net_addr_class(&addr) == NET_LOOPBACK)
		return 0;
	return err_say(err, -EINVAL, "say an address of the loopback device, like 127.0.0.2");
}

static int check_regex(const char *value, struct err *err)
{
	regex_t re;
	char why[128];
	int e = regcomp(&re, value, REG_EXTENDED | REG_NEWLINE | REG_NOSUB);

	if (e) {
		regerror(e, &re, why, sizeof(why));
		return err_say(err, -EINVAL, "not a regular expression: %s", why);
	}
	regfree(&re);
	return 0;
}

static int check_agent_key(const char *value, struct err *err)
{
	const char *const line[] = {value, NULL};
	struct agent_keys *keys = NULL;
	int r = agent_keys_parse(&keys, line, err);

	agent_keys_free(keys);
	return r;
}

static int check_secret(const char *value, struct err *err)
{
	const char *const line[] = {value, NULL};
	struct secrets *secrets = NULL;
	int r = secrets_parse(&secrets, line, err);

	secrets_free(secrets);
	return r;
}

static const struct form {
	const char *words;
	int (*check)(const char *value, struct err *err); /* err: why, without the value */
} forms[] = {
	{"NAME", check_name},
	{"NAME=VALUE", check_set},
	{"DIRECTORY [NAME=VALUE]", check_tool_home},
	{"NAME[/BELOW]", check_settings_variable},
	{"PROFILE [NAME]", check_own_settings},
	{"NAME <ADDRESS>", check_person},
	{"NAME, HOST, HEADER, COMMAND", check_secret},
	{"HOST SIZE", check_bytes},
	{"KEY HOST...", check_agent_key},
	{"ADDRESS", check_loopback},
	{"REGEX", check_regex},
	{"PATTERN", check_ignored},
};

/* "1..65535"; "0|1m..": 0, or from 1m up */
static int check_range(const char *range, const char *value, struct err *err)
{
	const bool zero = str_starts(range, "0|");
	const char *from = range + (zero ? 2 : 0), *dots = strstr(from, ".."), *to = dots + 2;
	AUTO_FREE char *low = xstrndup(from, (size_t)(dots - from));
	int64_t least = 0, most = INT64_MAX, number;
	bool good = config_parse_int(low, &least) && (!*to || config_parse_int(to, &most));

	assert(good);
	good = config_parse_int(value, &number) && number >= least && number <= most;
	if (good || (zero && number == 0))
		return 0;
	return err_say(err, -EINVAL, "say %sa number from %s %s%s", zero ? "0, or " : "", low,
		       *to ? "to " : "up", to);
}

/* "claude cordon", or "cordon" alone: config_value_form() knows the last word. */
static int check_in_front(const char *value, const char *dir, struct err *err)
{
	AUTO_FREE char *profile = xstrndup(value, strcspn(value, " "));

	return strchr(value, ' ') ? profile_check(profile, dir, err) : 0;
}

int config_check_form(const struct config_key *key, const char *value, const char *dir,
		      struct err *err)
{
	if (key->words && key->type == CONFIG_INT)
		return check_range(key->words, value, err);
	if (!key->words || key->type == CONFIG_ENUM)
		return 0;
	if (strchr(key->words, '|'))
		return check_in_front(value, dir, err);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (str_eq(forms[i].words, key->words))
			return forms[i].check(value, err);
	assert(!"a form of the table of settings that forms.c lacks");
	return -EINVAL;
}
