/* policy - decides about reading, writing, running and hiding by built-in lists, rules, answers. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/learn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/listing.h"
#include "core/base/path.h"
#include "core/config/config.h"

#define POLICY_MAX_ANSWERS 10000

/* ---- life ------------------------------------------------------------------------------------ */

/* Adds rules for paths of the command line. */
static void grant_named(struct policy *p, const char *const *list, unsigned kinds,
			const char *option, const char *tail)
{
	const struct rule_frame frame = {.level = LEVEL_OPTION, .file = option};

	for (; list && *list; list++) {
		const struct rule rule = {
			.of = &frame, .verdict = RULE_ALLOW, .kinds = kinds, .pattern = *list};

		rules_place_path(p->rules, rules_add(p->rules, &rule), *list, tail);
	}
}

void policy_first_error(void *data, const char *file, int line, const char *words)
{
	struct err *err = data;

	if (err->code)
		return;
	if (line)
		err_say(err, -EINVAL, "%s:%d: %s", file, line, words);
	else
		err_say(err, -EINVAL, "%s: %s", file, words);
}

static int load_rules(struct policy *p, const struct policy_spec *spec, struct err *err)
{
	const unsigned reads = 1u << RULE_READ | 1u << RULE_EXEC;
	const struct rules_scope scope = {
		.home = p->home, .folders = spec->folders, .at_home = p->at_home};
	struct err first = {0};

	for (size_t i = 0; spec->folders && spec->folders[i]; i++)
		places_add(&p->folders, path_clean(spec->folders[i]));
	for (size_t i = 0; spec->read_only && spec->read_only[i]; i++)
		places_add(&p->shown, path_clean(spec->read_only[i]));
	for (size_t i = 0; spec->overlays && spec->overlays[i]; i++)
		places_add(&p->shown, path_clean(spec->overlays[i]));
	grant_named(p, spec->folders, reads, "working folder", "/**");
	grant_named(p, spec->read_only, reads, "--ro", "/**");
	grant_named(p, spec->overlays, reads, "--overlay", "/**");
	grant_named(p, spec->sockets, 1u << RULE_UNIX, "--allow-unix", "");
	flows_named(p, spec);
	if (!spec->config ||
	    rules_load(p->rules, p->untrusted, spec->config, &scope, policy_first_error, &first))
		return 0;
	return err_say(err, -EINVAL, "%s", first.text);
}

int policy_new(struct policy **ret, const struct policy_spec *spec, struct err *err)
{
	struct policy *p;
	int r;

	if (!spec->home || *spec->home != '/')
		return err_say(err, -EINVAL, "HOME is not an absolute path: set it");
	p = xcalloc(1, sizeof(*p));
	p->home = path_clean(spec->home);
	p->scratch = p->hides = (struct buf)BUF_INIT;
	p->rest = (struct buf)BUF_INIT;
	p->rules = rules_new();
	p->untrusted = rules_new();
	p->dynamic = spec->dynamic;
	p->at_home = listing_new(p->home);
	hidden_collect(p, spec);
	r = load_rules(p, spec, err);
	if (r < 0) {
		policy_free(p);
		return r;
	}
	if (p->dynamic) {
		gated_trees_find(&p->gated, spec, p->home);
		usual_trees_find(&p->usual, spec, p->home, p->at_home);
	}
	grant_collect(p);
	closed_collect(p);
	worktrees_collect(p, spec);
	listening_collect(p);
	listing_free(take_ptr(&p->at_home));
	*ret = p;
	return 0;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_hidden; i++)
		free(p->hidden[i]);
	free(p->hidden);
	for (size_t i = 0; i < p->n_guarded; i++)
		free(p->guarded[i].path);
	free(p->guarded);
	free(p->given);
	rules_free(p->rules);
	rules_free(p->untrusted);
	policy_forget_old(p);
	places_done(&p->folders);
	places_done(&p->gated);
	places_done(&p->closed);
	places_done(&p->written);
	places_done(&p->usual);
	places_done(&p->granted);
	places_done(&p->sockets);
	places_done(&p->git_dirs);
	places_done(&p->own);
	places_done(&p->repositories);
	learn_done(p);
	places_done(&p->secrets);
	places_done(&p->shown);
	free(p->closed_whole);
	free(p->unseen);
	remotes_free(p->remotes);
	buf_done(&p->scratch);
	buf_done(&p->hides);
	buf_done(&p->rest);
	listing_free(p->at_home);
	free(p->home);
	free(p);
}

/* ---- answers --------------------------------------------------------------------------------- */

int64_t policy_now(void)
{
	return clock_expiry_s();
}

bool policy_extent_offered(const struct policy *p, const char *path, enum answer_extent extent)
{
	AUTO_FREE char *dir = path_dir(path);

	if (extent == EXTENT_EXACT)
		return true;
	if (extent == EXTENT_BUNDLE)
		return policy_bundle(p, path) != NULL;
	if (path_is_beneath(p->home, dir) || path_depth(dir) < 2)
		return false;
	for (size_t i = 0; extent == EXTENT_TREE && i < p->n_hidden; i++)
		if (path_is_beneath(p->hidden[i], dir))
			return false;
	return true;
}

static void forget_at(struct policy *p, size_t i)
{
	rules_remove(p->rules, p->given[i].rule);
	p->given[i] = p->given[--p->n_given];
}

/* Removes an older answer about the same object. */
static void forget_same(struct policy *p, const struct rule *rule)
{
	for (size_t i = 0; i < p->n_given; i++) {
		const struct rule *old = rules_at(p->rules, p->given[i].rule);

		if (old->kinds == rule->kinds && str_eq(old->pattern, rule->pattern)) {
			forget_at(p, i);
			return;
		}
	}
}

bool policy_answer_offered(const struct policy *p, enum rule_kind kind, const char *path,
			   enum answer_extent extent)
{
	/* An answer about keys is about one host at a time. */
	if (kind >= RULE_KEYS)
		return extent == EXTENT_EXACT;
	return kind >= RULE_PLACES ? flows_offered(path, extent)
				   : policy_extent_offered(p, path, extent);
}

/* Adds a pattern to the answer that is being added. */
static bool place_given(struct policy *p, enum rule_kind kind, const char *pattern)
{
	uint32_t rule = p->given[p->n_given].rule;
	const char *why;

	return kind >= RULE_PLACES ? rules_place_host(p->rules, rule, pattern, &why)
				   : rules_place(p->rules, rule, pattern, &why);
}

uint64_t policy_answer(struct policy *p, enum rule_kind kind, const char *path,
		       const struct answer *a)
{
	bool offered = policy_answer_offered(p, kind, path, a->extent);
	const enum answer_extent extent = offered ? a->extent : EXTENT_EXACT;
	struct rule_frame frame = {.level = LEVEL_SESSION, .until = a->until};
	struct rule rule = {
		.of = &frame, .verdict = a->allow ? RULE_ALLOW : RULE_DENY, .kinds = 1u << kind};
	const char *bundle = a->extent == EXTENT_BUNDLE ? policy_bundle(p, path) : NULL;
	char *patterns[2] = {NULL, NULL};

	/* A user gives few answers, so a flood of them is not kept: then the user is asked
	 * again. */
	if (a->scope == SCOPE_ONCE || p->n_given >= POLICY_MAX_ANSWERS)
		return 0;
	/* A program that may be run may be read: interpreters read scripts. */
	if (kind == RULE_EXEC && a->allow)
		rule.kinds |= 1u << RULE_READ;
	frame.id = ++p->last_id;
	if (kind >= RULE_PLACES)
		answer_host_patterns(path, extent, patterns);
	else if (!bundle)
		answer_patterns(path, extent, patterns);
	rule.pattern = bundle ? bundle : patterns[0];
	forget_same(p, &rule);
	p->given = xrealloc(p->given, (p->n_given + 1) * sizeof(*p->given));
	p->given[p->n_given] = (struct given){frame.id, rules_add(p->rules, &rule)};
	if (bundle && !bundle_place(p, p->given[p->n_given].rule, bundle))
		frame.id = 0;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		AUTO_FREE char *pattern = patterns[i];

		/* If the pattern is too deep, the answer grants nothing, and the user is asked
		 * again. */
		if (pattern && !place_given(p, kind, pattern))
			frame.id = 0;
	}
	p->n_given++;
	return frame.id;
}

bool policy_revoke(struct policy *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_given; i++) {
		if (p->given[i].id != id)
			continue;
		forget_at(p, i);
		return true;
	}
	return false;
}
