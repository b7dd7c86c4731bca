/* eval - decides what a profile allows: the last rule that matches counts. */
/* SPDX-License-Identifier: MIT */
#include "tests/seatbelt/eval.h"

#include <errno.h>
#include <string.h>

#include "tests/seatbelt/eval_priv.h"

/* Rules as they were read: (allow OPERATION... FILTER...). */
struct eval {
	struct expr *all;
	size_t n;
};

/* Families of operations; a rule about another one is a mistake. */
static const char *const families[] = {
	"default",     "file",	  "process", "network",	   "mach",   "signal", "sysctl",
	"ipc",	       "pseudo",  "iokit",   "system",	   "job",    "user",   "device",
	"distributed", "dynamic", "generic", "appleevent", "lsopen", "nvram",
};

static bool is_operation(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i]);

		if (strncmp(word, families[i], n) == 0 &&
		    (!word[n] || word[n] == '-' || word[n] == '*'))
			return true;
	}
	return false;
}

static bool is_rule(const struct expr *e)
{
	return expr_is_list(e, "allow") || expr_is_list(e, "deny");
}

static int bad(const struct expr *e, struct err *err, const char *what)
{
	return err_say(err, -EINVAL, "%d: %s", e->line, what);
}

static int check_rule(struct expr *rule, const char *const *params, struct err *err)
{
	struct expr *e = rule->first->next;
	int r = 0;

	if (!e || e->kind != EXPR_WORD)
		return bad(rule, err, "a rule without an operation");
	for (; e && e->kind == EXPR_WORD; e = e->next)
		if (!is_operation(e->text))
			return bad(e, err, "an operation that is not known");
	for (; r == 0 && e; e = e->next)
		if (!expr_is_list(e, "with"))
			r = filter_check(e, params, err);
	return r;
}

static int check(struct eval *e, const char *const *params, struct err *err)
{
	struct expr *at = e->all->first;
	int r = 0;

	if (!expr_is_list(at, "version") || !expr_is(at->first->next, "1"))
		return err_say(err, -EINVAL, "1: a profile begins with (version 1)");
	for (at = at->next; r == 0 && at; at = at->next) {
		if (!is_rule(at))
			return bad(at, err, "neither (allow ...) nor (deny ...)");
		r = check_rule(at, params, err);
		e->n++;
	}
	return r;
}

int eval_new(struct eval **ret, const char *text, size_t len, const char *const *params,
	     struct err *err)
{
	struct eval *e = xcalloc(1, sizeof(*e));
	int r = expr_read(&e->all, text, len, err);

	if (r == 0)
		r = check(e, params, err);
	if (r < 0) {
		eval_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

void eval_free(struct eval *e)
{
	if (!e)
		return;
	expr_free(e->all);
	free(e);
}

size_t eval_rules(const struct eval *e)
{
	return e->n;
}

const char *eval_unknown_service(const struct eval *e)
{
	return service_unknown(e->all);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Returns whether the pattern covers the operation: "file-write*" covers "file-write-data". */
static bool covers(const char *pattern, const char *operation)
{
	size_t n = strlen(pattern);

	if (str_eq(pattern, "default"))
		return true;
	if (n && pattern[n - 1] == '*')
		return strncmp(pattern, operation, n - 1) == 0;
	return str_eq(pattern, operation);
}

static bool matches(const struct expr *rule, const struct eval_query *q)
{
	const struct expr *e = rule->first->next;
	bool covered = false, filtered = false;

	for (; e && e->kind == EXPR_WORD; e = e->next)
		covered = covered || covers(e->text, q->operation);
	for (; covered && e; e = e->next) {
		if (expr_is_list(e, "with"))
			continue;
		if (filter_matches(e, q))
			return true;
		filtered = true;
	}
	return covered && !filtered;
}

static bool is_default(const struct expr *rule)
{
	return expr_is(rule->first->next, "default");
}

bool eval_allows(struct eval *e, const struct eval_query *q)
{
	bool allowed = false, said = false, fallback = false;

	for (const struct expr *at = e->all->first->next; at; at = at->next) {
		if (is_default(at))
			fallback = expr_is_list(at, "allow");
		else if (matches(at, q)) {
			said = true;
			allowed = expr_is_list(at, "allow");
		}
	}
	return said ? allowed : fallback;
}
