/* seatbelt_fixture - a policy and its profile, which are asked the same questions. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "tests/seatbelt/eval.h"
#include "backends/macos/profile/profile.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"

#define HOME   "/home/u"
#define FOLDER "/home/u/p"

struct pair {
	struct config *config;
	struct policy *policy;
	struct profile profile;
	struct eval *eval;
	char words[1024]; /* the rules, for messages */
};

/* The operations that a question about a name consists of. */
struct act_ops {
	const char *operation, *vnode;
};

static inline void pair_done(struct pair *x)
{
	eval_free(x->eval);
	profile_done(&x->profile);
	policy_free(x->policy);
	config_free(x->config);
	*x = (struct pair){0};
}

/* rules: key, value, key, value, NULL. spec: all but the policy; NULL: as usual. */
static inline void pair_new(struct pair *x, const char *const *rules, bool dynamic,
			    const struct profile_spec *given)
{
	static const char *const folders[] = {FOLDER, NULL};
	struct policy_spec about = {.home = HOME, .folders = folders, .dynamic = dynamic};
	struct profile_spec spec = {.home = HOME, .folders = folders};
	struct err err = {0};

	*x = (struct pair){.profile = {.sbpl = SBPL_INIT}};
	x->config = config_of_rules();
	for (const char *const *r = rules; r && *r; r++)
		snprintf(x->words + strlen(x->words), sizeof(x->words) - strlen(x->words), "%s%s",
			 *r, (r - rules) % 2 ? "\n" : " ");
	for (int i = 1; rules && rules[0]; rules += 2, i++)
		config_add_rule(x->config, &(struct config_rule){.name = "r",
								 .key = rules[0],
								 .value = rules[1],
								 .file = "x",
								 .line = i,
								 .level = CONFIG_USER});
	about.config = x->config;
	if (given) {
		spec = *given;
		about.folders = given->folders;
	}
	if (given)
		about.home = given->home;
	if (policy_new(&x->policy, &about, &err) < 0)
		fail_msg("%s", err.text);
	spec.policy = x->policy;
	spec.dynamic = dynamic;
	if (profile_build(&x->profile, &spec, &err) < 0)
		fail_msg("%s", err.text);
	if (eval_new(&x->eval, x->profile.sbpl.text.data, x->profile.sbpl.text.len,
		     (const char *const *)x->profile.sbpl.params, &err) < 0)
		fail_msg("%s\n%s", err.text, x->profile.sbpl.text.data);
}

static inline bool pair_allows(struct pair *x, const char *operation, const char *path,
			       const char *vnode)
{
	const struct eval_query q = {.operation = operation, .path = path, .vnode = vnode};

	return eval_allows(x->eval, &q);
}

/* Returns the number of operations that Seatbelt checks for it; all must be allowed. */
static inline size_t ops_of(enum policy_act act, struct act_ops ret[3])
{
	static const struct act_ops write[] = {{"file-write-create", "REGULAR-FILE"},
					       {"file-write-data", "REGULAR-FILE"}};
	static const struct act_ops dir[] = {{"file-write-create", "DIRECTORY"}};
	static const struct act_ops to[] = {{"file-write-create", "REGULAR-FILE"}};
	static const struct act_ops symlink[] = {{"file-write-create", "SYMLINK"}};
	static const struct act_ops away[] = {{"file-write-unlink", "REGULAR-FILE"}};
	static const struct act_ops link[] = {{"file-link", "REGULAR-FILE"}};
	static const struct act_ops meta[] = {{"file-write-mode", "REGULAR-FILE"},
					      {"file-write-times", "REGULAR-FILE"},
					      {"file-write-xattr", "REGULAR-FILE"}};
#define OPS(list) (memcpy(ret, list, sizeof(list)), ARRAY_LEN(list))
	switch (act) {
	case POLICY_WRITE:
		return OPS(write);
	case POLICY_MKDIR:
	case POLICY_DIR_TO:
		return OPS(dir);
	case POLICY_REMOVE:
	case POLICY_RENAME_FROM:
		return OPS(away);
	case POLICY_RENAME_TO:
		return OPS(to);
	case POLICY_LINK_FROM:
		return OPS(link);
	case POLICY_META:
		return OPS(meta);
	case POLICY_SYMLINK:
		return OPS(symlink);
	}
	return 0;
#undef OPS
}

static inline bool pair_acts(struct pair *x, enum policy_act act, const char *path)
{
	struct act_ops ops[3];
	size_t n = ops_of(act, ops);
	bool all = true;

	for (size_t i = 0; i < n; i++)
		all = all && pair_allows(x, ops[i].operation, path, ops[i].vnode);
	return all;
}
