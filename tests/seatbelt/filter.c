/* filter - checks that the filters of rules are known, and matches them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "tests/seatbelt/eval_priv.h"
#include "core/base/buf.h"
#include "core/base/path.h"

/* The operand after the filter's name. */
enum operand {
	OPERAND_STRINGS,
	OPERAND_REGEX,
	OPERAND_WORDS,
	OPERAND_FILTERS,
	OPERAND_END, /* (remote tcp "*:80"), (remote unix-socket FILTER) */
};

static const struct known {
	const char *name;
	enum operand operand;
} known[] = {
	{"literal", OPERAND_STRINGS},
	{"path-literal", OPERAND_STRINGS},
	{"path", OPERAND_STRINGS},
	{"subpath", OPERAND_STRINGS},
	{"prefix", OPERAND_STRINGS},
	{"regex", OPERAND_REGEX},
	{"path-regex", OPERAND_REGEX},
	{"vnode-type", OPERAND_WORDS},
	{"global-name", OPERAND_STRINGS},
	{"global-name-prefix", OPERAND_STRINGS},
	{"global-name-regex", OPERAND_REGEX},
	{"local-name", OPERAND_STRINGS},
	{"ipc-posix-name", OPERAND_STRINGS},
	{"ipc-posix-name-regex", OPERAND_REGEX},
	{"extension", OPERAND_STRINGS},
	{"target", OPERAND_WORDS},
	{"require-all", OPERAND_FILTERS},
	{"require-any", OPERAND_FILTERS},
	{"require-not", OPERAND_FILTERS},
	{"remote", OPERAND_END},
	{"local", OPERAND_END},
};

static const struct known *look_up(const struct expr *f)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (expr_is_list(f, known[i].name))
			return &known[i];
	return NULL;
}

static int bad(const struct expr *e, struct err *err, const char *what)
{
	return err_say(err, -EINVAL, "%d: %s", e->line, what);
}

/* ---- strings --------------------------------------------------------------------------------- */

static const char *param_of(const char *const *params, const char *name)
{
	for (; params && params[0]; params += 2)
		if (str_eq(params[0], name))
			return params[1];
	return NULL;
}

static int append(struct buf *out, const struct expr *e, const char *const *params, struct err *err)
{
	const char *value;

	if (e->kind == EXPR_STRING) {
		buf_str(out, e->text);
		return 0;
	}
	if (!expr_is_list(e, "param") || !e->first->next || e->first->next->kind != EXPR_STRING)
		return bad(e, err, "not a string, nor a parameter");
	value = param_of(params, e->first->next->text);
	if (!value)
		return bad(e, err, "a parameter that was not given");
	buf_str(out, value);
	return 0;
}

/* Turns (param "X") and (string-append ...) into strings. */
static int resolve(struct expr *e, const char *const *params, struct err *err)
{
	AUTO_BUF struct buf text = BUF_INIT;
	int r = 0;

	if (e->kind == EXPR_STRING)
		return 0;
	if (expr_is_list(e, "string-append"))
		for (const struct expr *part = e->first->next; r == 0 && part; part = part->next)
			r = append(&text, part, params, err);
	else
		r = append(&text, e, params, err);
	if (r < 0)
		return r;
	expr_free(e->first);
	e->first = NULL;
	free(e->text);
	e->kind = EXPR_STRING;
	e->text = buf_take(&text);
	return 0;
}

static int check_strings(struct expr *f, const char *const *params, bool regex, struct err *err)
{
	if (!f->first->next)
		return bad(f, err, "a filter with nothing in it");
	for (struct expr *e = f->first->next; e; e = e->next) {
		int r = resolve(e, params, err);

		if (r == 0 && regex)
			r = match_new(&e->match, e->text, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_words(const struct expr *f, struct err *err)
{
	for (const struct expr *e = f->first->next; e; e = e->next)
		if (e->kind != EXPR_WORD)
			return bad(e, err, "a word is needed here");
	return f->first->next ? 0 : bad(f, err, "a filter with nothing in it");
}

/* Returns whether the text is an address: "*:*", "localhost:80". */
static bool is_address(const char *text)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (!(n == 1 && *text == '*') && !(n == 9 && strncmp(text, "localhost", 9) == 0))
		return false;
	return str_eq(colon, ":*") || (colon[1] && strlen(colon) <= 6 &&
				       strspn(colon + 1, "0123456789") == strlen(colon) - 1);
}

static int check_end(struct expr *f, const char *const *params, struct err *err)
{
	static const char *const protocols[] = {"ip",	"ip4", "ip6",  "tcp",  "tcp4",
						"tcp6", "udp", "udp4", "udp6", NULL};
	struct expr *protocol = f->first->next;

	if (!protocol || protocol->kind != EXPR_WORD)
		return bad(f, err, "a protocol is needed here");
	if (str_eq(protocol->text, "unix-socket")) {
		int r = 0;

		for (struct expr *e = protocol->next; r == 0 && e; e = e->next)
			r = filter_check(e, params, err);
		return r;
	}
	if (!str_one_of(protocol->text, protocols))
		return bad(f, err, "a protocol that is not known");
	if (!protocol->next || protocol->next->kind != EXPR_STRING || protocol->next->next ||
	    !is_address(protocol->next->text))
		return bad(f, err, "an address is '*' or 'localhost', a colon, and '*' or a port");
	return 0;
}

int filter_check(struct expr *f, const char *const *params, struct err *err)
{
	const struct known *k = look_up(f);
	int r = 0;

	if (!k)
		return bad(f, err, "a filter that is not known");
	switch (k->operand) {
	case OPERAND_STRINGS:
		return check_strings(f, params, false, err);
	case OPERAND_REGEX:
		return check_strings(f, params, true, err);
	case OPERAND_WORDS:
		return check_words(f, err);
	case OPERAND_END:
		return check_end(f, params, err);
	case OPERAND_FILTERS:
		break;
	}
	if (!f->first->next)
		return bad(f, err, "a filter with nothing in it");
	for (struct expr *e = f->first->next; r == 0 && e; e = e->next)
		r = filter_check(e, params, err);
	return r;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* Matches one operand of a filter about text. */
static bool fits(const char *name, const struct expr *e, const char *text)
{
	if (!text)
		return false;
	if (e->match)
		return match_finds(e->match, text);
	if (str_eq(name, "subpath"))
		return str_eq(e->text, "/") ? *text == '/' : path_is_beneath(text, e->text);
	if (str_eq(name, "prefix") || str_eq(name, "global-name-prefix"))
		return str_starts(text, e->text);
	return str_eq(text, e->text);
}

/* Returns the part of the query that a filter is about. */
static const char *subject(const char *name, const struct eval_query *q)
{
	if (str_starts(name, "global-name"))
		return q->local_service ? NULL : q->service;
	if (str_eq(name, "local-name"))
		return q->local_service ? q->service : NULL;
	if (str_eq(name, "vnode-type"))
		return q->vnode;
	if (str_eq(name, "extension"))
		return q->extension;
	if (str_starts(name, "ipc-posix-name"))
		return q->ipc_name;
	return q->path;
}

static bool any_of(const struct expr *first, const struct eval_query *q)
{
	for (; first; first = first->next)
		if (filter_matches(first, q))
			return true;
	return false;
}

static bool all_of(const struct expr *first, const struct eval_query *q)
{
	for (; first; first = first->next)
		if (!filter_matches(first, q))
			return false;
	return true;
}

static bool is_protocol(const char *word, const char *asked)
{
	return strncmp(word, "ip", 2) == 0 ? !str_eq(asked, "unix-socket")
					   : strncmp(word, asked, 3) == 0;
}

static bool end_matches(const struct expr *f, const struct eval_query *q)
{
	const struct expr *protocol = f->first->next;
	const char *address;

	if (!q->end || !q->protocol || !str_eq(f->first->text, q->end))
		return false;
	if (str_eq(protocol->text, "unix-socket"))
		return str_eq(q->protocol, "unix-socket") &&
		       (!protocol->next || any_of(protocol->next, q));
	if (!is_protocol(protocol->text, q->protocol))
		return false;
	address = protocol->next->text;
	if (*address != '*' && !q->loopback)
		return false;
	address = strchr(address, ':') + 1;
	return *address == '*' || strtoul(address, NULL, 10) == q->port;
}

static bool target_matches(const struct expr *e, const struct eval_query *q)
{
	if (!q->target)
		return false;
	/* A process is in its own sandbox. */
	return str_eq(e->text, q->target) ||
	       (str_eq(e->text, "same-sandbox") && str_eq(q->target, "self"));
}

bool filter_matches(const struct expr *f, const struct eval_query *q)
{
	const char *name = f->first->text;
	const struct expr *e = f->first->next;

	if (str_eq(name, "require-all"))
		return all_of(e, q);
	if (str_eq(name, "require-any"))
		return any_of(e, q);
	if (str_eq(name, "require-not"))
		return !any_of(e, q);
	if (str_eq(name, "remote") || str_eq(name, "local"))
		return end_matches(f, q);
	for (; e; e = e->next)
		if (str_eq(name, "target") ? target_matches(e, q) : fits(name, e, subject(name, q)))
			return true;
	return false;
}
