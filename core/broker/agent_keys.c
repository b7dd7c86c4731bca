/* agent_keys - selects keys of the user's ssh-agent for use inside, by host (ssh.agent). */
/* SPDX-License-Identifier: MIT */
#include "core/broker/agent_keys.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "core/base/base64.h"

#define LINES_MAX 32
#define HOSTS_MAX 32 /* hosts on a line */
#define SSH_PORT  22

struct line {
	char *pattern;
	struct net_target hosts[HOSTS_MAX];
	size_t n;
	bool unbound;
};

struct agent_keys {
	struct line lines[LINES_MAX];
	size_t n;
};

static const char blanks[] = " \t";

static int add_host(struct line *l, const char *word, struct err *err)
{
	struct net_target *t = &l->hosts[l->n];
	const char *why;

	if (str_eq(word, "unbound")) {
		l->unbound = true;
		return 0;
	}
	if (l->n == HOSTS_MAX)
		return err_say(err, -E2BIG, "more than %d hosts: write two lines", HOSTS_MAX);
	if (!net_target_parse(t, word, &why))
		return err_say(err, -EINVAL, "'%s': %s", word, why);
	if (!t->port)
		t->port = SSH_PORT;
	l->n++;
	return 0;
}

static int parse_line(struct line *l, const char *line, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(line);
	char *rest = NULL, *word = strtok_r(copy, blanks, &rest);
	int r = 0;

	l->pattern = xstrdup(word ? word : "");
	while (r == 0 && (word = strtok_r(NULL, blanks, &rest)) != NULL)
		r = add_host(l, word, err);
	if (r == 0 && !l->n && !l->unbound)
		r = err_say(err, -EINVAL,
			    "no host: name a key, then the hosts it may sign for: "
			    "'work@laptop github.com'");
	return r;
}

int agent_keys_parse(struct agent_keys **ret, const char *const *lines, struct err *err)
{
	struct agent_keys *k = xcalloc(1, sizeof(*k));
	int r = 0;

	for (; r == 0 && lines && *lines; lines++) {
		if (k->n == LINES_MAX)
			r = err_say(err, -E2BIG, "ssh.agent: more than %d lines", LINES_MAX);
		else
			r = parse_line(&k->lines[k->n++], *lines, err);
	}
	if (r < 0) {
		agent_keys_free(k);
		return r;
	}
	*ret = k;
	return 0;
}

void agent_keys_free(struct agent_keys *k)
{
	for (size_t i = 0; k && i < k->n; i++)
		free(k->lines[i].pattern);
	free(k);
}

static bool is_about(const struct line *l, const struct agent_key *key)
{
	return fnmatch(l->pattern, key->fingerprint, 0) == 0 ||
	       fnmatch(l->pattern, key->comment, 0) == 0;
}

bool agent_keys_offers(const struct agent_keys *k, const struct agent_key *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (is_about(&k->lines[i], key))
			return true;
	return false;
}

bool agent_keys_unbound(const struct agent_keys *k, const struct agent_key *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->lines[i].unbound && is_about(&k->lines[i], key))
			return true;
	return false;
}

const struct net_target *agent_keys_host(const struct agent_keys *k, const struct agent_key *key,
					 size_t at)
{
	for (size_t i = 0; i < k->n; i++) {
		if (!is_about(&k->lines[i], key))
			continue;
		if (at < k->lines[i].n)
			return &k->lines[i].hosts[at];
		at -= k->lines[i].n;
	}
	return NULL;
}

/* ---- known_hosts ----------------------------------------------------------------------------- */

void agent_keys_host_name(const struct net_target *t, char out[KNOWN_HOST_NAME])
{
	struct net_target host = {.host = t->host};
	char text[NET_TARGET_TEXT];

	net_target_format(&host, text);
	if (t->port == SSH_PORT)
		snprintf(out, KNOWN_HOST_NAME, "%s", text);
	else
		snprintf(out, KNOWN_HOST_NAME, "[%s]:%u", text, t->port);
}

/* Reads a line "[@MARKER] HOSTS TYPE KEY [COMMENT]". */
static bool line_has(char *line, struct span key, bool *revoked)
{
	char *rest = NULL, *word = strtok_r(line, blanks, &rest);
	bool marked = word && word[0] == '@';
	AUTO_FREE char *bytes = NULL;
	size_t len = 0;

	*revoked = marked && str_eq(word, "@revoked");
	if (!word || word[0] == '#')
		return false;
	for (int i = marked ? -1 : 0; word && i < 2; i++)
		word = strtok_r(NULL, blanks, &rest);
	bytes = word ? base64_decode(word, &len) : NULL;
	if (!bytes || len != key.len || memcmp(bytes, key.data, len) != 0)
		return false;
	return !marked || *revoked; /* not the key of an authority */
}

bool agent_keys_host_has(struct span said, struct span key)
{
	AUTO_FREE char *text = xstrndup(said.data, said.len);
	char *rest = NULL;
	bool found = false, revoked;

	for (char *line = strtok_r(text, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		if (!line_has(line, key, &revoked))
			continue;
		if (revoked)
			return false;
		found = true;
	}
	return found;
}
