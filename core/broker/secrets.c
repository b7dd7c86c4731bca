/* secrets - network.secret: keys that the agent uses through a placeholder and never sees. */
/* SPDX-License-Identifier: MIT */
#include "core/broker/secrets.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "core/net/host.h"
#include "core/os/process.h"

/* Returns the text up to the next comma, without blanks around; heap. NULL: there is none. */
static char *next_word(const char **at, bool last)
{
	const char *from = *at + strspn(*at, " \t");
	size_t len = last ? strlen(from) : strcspn(from, ",");

	*at = from + len + (from[len] == ',');
	while (len && (from[len - 1] == ' ' || from[len - 1] == '\t'))
		len--;
	return len ? xstrndup(from, len) : NULL;
}

/* Returns whether the name is valid and tells no program what to load or run or where to look. */
static bool is_good_name(const char *name)
{
	static const char *const taken[] = {"PATH", "HOME", "SHELL",   "USER",
					    "IFS",  "ENV",  "BASH_ENV"};

	if (!isalpha((unsigned char)name[0]) || strncmp(name, "LD_", 3) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (str_eq(name, taken[i]))
			return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static bool is_good_header(const char *header)
{
	static const char *const framing[] = {"host",	 "content-length", "transfer-encoding",
					      "upgrade", "connection",	   "te"};

	for (size_t i = 0; i < ARRAY_LEN(framing); i++)
		if (strcasecmp(header, framing[i]) == 0)
			return false;
	for (; *header; header++)
		if (!isalnum((unsigned char)*header) && *header != '-' && *header != '_')
			return false;
	return true;
}

static int check(struct secret *s, struct err *err)
{
	struct net_host host;
	const char *why = "an address";

	if (!s->name || !s->host || !s->header || !s->command)
		return err_say(err, -EINVAL,
			       "say NAME, HOST, HEADER, COMMAND: "
			       "'API_KEY, api.example.com, x-api-key, pass show api'");
	if (!is_good_name(s->name))
		return err_say(err, -EINVAL, "'%s' cannot be a variable for it", s->name);
	if (!net_host_parse(&host, s->host, strlen(s->host), &why) || host.is_addr)
		return err_say(err, -EINVAL, "'%s': %s: name one host", s->host, why);
	free(s->host);
	s->host = xstrdup(host.name);
	if (!is_good_header(s->header))
		return err_say(err, -EINVAL, "'%s' is no header that may hold it", s->header);
	return 0;
}

static int make_placeholder(struct secret *s, struct err *err)
{
	unsigned char noise[20];
	size_t n = (size_t)snprintf(s->placeholder, sizeof(s->placeholder), "cordon-");

	if (getrandom(noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return err_set(err, -EIO, "make a placeholder for %s", s->name);
	for (size_t i = 0; i < sizeof(noise); i++)
		n += (size_t)snprintf(s->placeholder + n, sizeof(s->placeholder) - n, "%02x",
				      noise[i]);
	return 0;
}

static int add(struct secrets *all, const char *line, struct err *err)
{
	struct secret *s = &all->list[all->n];
	const char *at = line;
	int r;

	if (all->n == SECRETS_MAX)
		return err_say(err, -E2BIG, "network.secret: more than %d", SECRETS_MAX);
	all->n++;
	s->name = next_word(&at, false);
	s->host = next_word(&at, false);
	s->header = next_word(&at, false);
	s->command = next_word(&at, true);
	r = check(s, err);
	for (size_t i = 0; r == 0 && i + 1 < all->n; i++)
		if (str_eq(all->list[i].name, s->name))
			r = err_say(err, -EINVAL, "network.secret '%s': %s is there twice", line,
				    s->name);
	return r == 0 ? make_placeholder(s, err) : r;
}

int secrets_parse(struct secrets **ret, const char *const *lines, struct err *err)
{
	struct secrets *all = NULL;
	int r = 0;

	*ret = NULL;
	if (lines && *lines)
		all = xcalloc(1, sizeof(*all));
	for (; r == 0 && lines && *lines; lines++)
		r = add(all, *lines, err);
	if (r < 0)
		secrets_free(all);
	else
		*ret = all;
	return r;
}

void secrets_free(struct secrets *all)
{
	for (size_t i = 0; all && i < all->n; i++) {
		free(all->list[i].name);
		free(all->list[i].host);
		free(all->list[i].header);
		free(all->list[i].command);
	}
	free(all);
}
