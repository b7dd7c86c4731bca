/* fuzz_rules - patterns of any bytes against a plain matcher; project files only tighten. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/rules/pattern.h"
#include "core/policy/policy.h"
#include "core/policy/policy_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- patterns -------------------------------------------------------------------------------- */

/* Matches component by component, with a budget; beyond it nothing is compared. */
static bool naive(const struct pattern *p, size_t i, const char *path, unsigned *budget)
{
	const char *next = path + (*path == '/');
	size_t n = strcspn(next, "/");

	if (!*budget)
		return false;
	--*budget;
	if (i == p->n) {
		unsigned rest = 0;

		for (const char *c = path; *c; c++)
			rest += *c == '/' && c[1];
		return rest >= p->min && (p->max == PATTERN_ANY || rest <= p->max);
	}
	if (p->parts[i].deep)
		return naive(p, i + 1, path, budget) || (*next && naive(p, i, next + n, budget));
	return *next && glob_match(p->text.data + p->parts[i].from, p->parts[i].len, next, n) &&
	       naive(p, i + 1, next + n, budget);
}

struct hits {
	unsigned of_it, of_text;
};

static void on_hit(void *data, const struct index_hit *hit)
{
	struct hits *h = data;

	h->of_it += hit->number == 7;
	h->of_text += hit->number == 8;
}

static bool matches(const struct pattern *p, const char *path)
{
	const struct index_rule rule = {.number = 7, .names = INDEX_AS_IS, .weight = 1};
	const struct index_rule same = {.number = 8, .names = INDEX_AS_IS};
	AUTO_PATTERN struct pattern again = PATTERN_INIT;
	AUTO_BUF struct buf text = BUF_INIT;
	struct rule_index *x = index_new();
	uint32_t entry = index_add(x, p, &rule);
	struct hits hits = {0};
	const char *why;

	/* The pattern's own text must match alike. */
	index_text(x, entry, &text);
	if (!pattern_parse(&again, text.data, &why))
		abort();
	index_add(x, &again, &same);
	index_find(x, path, INDEX_AS_IS, on_hit, &hits);
	index_beneath(x, path, true);
	index_remove(x, entry, 1);
	if (hits.of_it != hits.of_text || index_beneath(x, "/", true))
		abort();
	index_free(x);
	return hits.of_it > 0;
}

/* "PATTERN\nPATH" */
static void compare(const char *text)
{
	AUTO_PATTERN struct pattern p = PATTERN_INIT;
	const char *nl = strchr(text, '\n');
	AUTO_FREE char *pattern = nl ? xstrndup(text, (size_t)(nl - text)) : NULL;
	AUTO_FREE char *path = nl && nl[1] == '/' ? path_clean(nl + 1) : NULL;
	AUTO_BUF struct buf quoted = BUF_INIT;
	unsigned budget = 100000;
	const char *why;

	if (!path)
		return;
	if (pattern_parse(&p, pattern, &why)) {
		bool want = naive(&p, 0, path, &budget);

		if (budget && matches(&p, path) != want)
			abort();
	}
	glob_quote(&quoted, path);
	if (pattern_parse(&p, quoted.data, &why) && (!p.plain || p.max || !matches(&p, path)))
		abort();
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct policy *policy_of(const char *dir)
{
	const char *const folders[] = {dir, NULL};
	const struct config_spec spec = {
		.home = "/nonexistent", .folder = dir, .org_file = "/dev/null/x"};
	struct policy_spec about = {.home = "/nonexistent", .folders = folders, .dynamic = true};
	struct config *c = NULL;
	struct policy *p = NULL;
	struct err err = {0};

	if (config_load(&c, &spec, &err) == 0) {
		about.config = c;
		(void)!policy_new(&p, &about, &err);
	}
	if (!p && (!err.code || !*err.text))
		abort();
	config_free(c);
	return p;
}

/* With any project file, nothing may be looser than without it. */
static void only_tightens(const uint8_t *data, size_t size)
{
	static const char *const paths[] = {
		"%s/a",	  "%s/.envrc", "%s/.git/hooks/x",     "%s/.env", "/nonexistent/.ssh/id",
		"/etc/x", "/home/x/y", "/nonexistent/notes/a"};
	static char dir[] = "/tmp/cordon-fuzz-XXXXXX";
	static struct policy *bare;
	static int fd = -1;
	struct policy *p;
	const char *why;

	if (fd < 0) {
		if (!mkdtemp(dir))
			abort();
		fd = open(dir, O_PATH | O_CLOEXEC);
		bare = policy_of(dir);
	}
	if (io_write_file(fd, ".cordon.conf", 0600, data, size, false) < 0)
		abort();
	p = policy_of(dir);
	for (size_t i = 0; p && i < ARRAY_LEN(paths); i++) {
		AUTO_FREE char *path =
			*paths[i] == '%' ? path_join(dir, paths[i] + 3) : xstrdup(paths[i]);

		for (int kind = 0; kind < RULE_PLACES; kind++)
			if (policy_check_read(p, (enum rule_kind)kind, path, &why) <
			    policy_check_read(bare, (enum rule_kind)kind, path, &why))
				abort();
		if (policy_check(p, POLICY_WRITE, path, &why) <
			    policy_check(bare, POLICY_WRITE, path, &why) ||
		    policy_check_outside(p, POLICY_WRITE, path, &why) <
			    policy_check_outside(bare, POLICY_WRITE, path, &why))
			abort();
	}
	policy_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);

	if (size && *data == '[')
		only_tightens(data, size);
	else
		compare(text);
	return 0;
}
